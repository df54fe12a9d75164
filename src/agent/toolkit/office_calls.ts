/** Calls of the tools of an office, with a result whatever happens. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { toSeenName } from "../../text/safe_text.ts";
import { errorResult, type McpToolResult } from "../../local_tools/mcp.ts";
import type { ToolContext } from "./tool_context.ts";
import type { OfficeView } from "./office_view.ts";
import { mcpServerOf, type ToClientUri } from "./tool_definition.ts";
import { failureResult, toMcpResult, withAdvice } from "./tool_result.ts";
import type { OfficeTool } from "./toolset.ts";

/** How long a call without progress may take by default, in milliseconds: five minutes. */
export const DEFAULT_CALL_TIMEOUT_MS = 300_000;
/** How long a call waits for a lost connection, and for a Computer that was lost with it, in milliseconds. */
const RETURN_PATIENCE_MS = 5_000;

/** What Servers answer when a Computer leaves during a call. */
function leftDuring(computer: string): SmcpError {
  const details = { computer_name: computer, may_have_run: true };
  return new SmcpError(ErrorCode.NOT_FOUND, "The Computer left the office during the call", { details });
}

/** Calls tools of Computers. A failure is a result that tells a model what to do. */
export class OfficeCalls {
  readonly #view: OfficeView;
  readonly #toClientUri: ToClientUri;
  readonly #timeoutMs: number;

  constructor(
    view: OfficeView,
    { toClientUri, timeoutMs = DEFAULT_CALL_TIMEOUT_MS }: {
      readonly toClientUri: ToClientUri;
      readonly timeoutMs?: number | undefined;
    },
  ) {
    this.#view = view;
    this.#toClientUri = toClientUri;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls a tool. Rejects only with the reason of `context.signal`. */
  async call(
    { computer, machine, tool, definition: { name, _meta } }: OfficeTool,
    args: Readonly<Record<string, unknown>>,
    { signal, clientName: client, ask, onProgress, onQuestion }: ToolContext,
  ): Promise<McpToolResult> {
    const { office } = this.#view;
    const problem = await this.#problemSoon(computer, signal);
    if (office === undefined || problem !== undefined) {
      const why = withAdvice(String(problem), ". The tool did not run");
      const what = `Cannot call "${name}" on Computer ${toSeenName(computer)}`;
      return errorResult(`${what}: ${why}`, { error_code: ErrorCode.UNAVAILABLE, may_have_run: false });
    }
    const reason = () => leftDuring(computer);
    using gone = new Deadline(Infinity, { reason, signal });
    // A Server tells a call to a Computer that has left before that it did not run, and some say nothing when one leaves later.
    const isThere = this.#view.isThere(computer);
    using _watch = {
      [Symbol.dispose]: this.#view.onChange(({ kind }) => {
        if (isThere && kind === "members" && !this.#view.has(computer)) gone.abort(reason());
      }),
    };
    try {
      const result = await office.computer(computer, { client, machine }).callTool(tool, args, {
        ask,
        signal: gone.signal,
        timeoutMs: this.#timeoutMs,
        resetTimeoutOnProgress: true,
        onProgress,
        onQuestion,
      });
      const from = { computer, mcpServer: mcpServerOf(_meta), toClientUri: this.#toClientUri };
      return toMcpResult(result, from);
    } catch (error) {
      signal.throwIfAborted();
      return failureResult(error, { name, computer });
    }
  }

  /** Why the Computer cannot be called, also after a short wait; `undefined` as soon as it can. */
  async #problemSoon(computer: string, signal: AbortSignal): Promise<string | undefined> {
    const problem = () => this.#view.problemOf(computer);
    if (problem() === undefined) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = this.#view.onChange(() => problem() === undefined ? resolve() : undefined);
    const timer = setTimeout(resolve, RETURN_PATIENCE_MS);
    try {
      await abortable(promise, signal);
      return problem();
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}
