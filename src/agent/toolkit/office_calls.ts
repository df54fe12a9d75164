/** Calls of the tools of an office, with a result whatever happens. */
import { abortable } from "../../async/abortable.ts";
import type { ToolContext } from "./local_tool.ts";
import { errorResult, type McpToolResult } from "./mcp.ts";
import type { OfficeView } from "./office_view.ts";
import type { ToClientUri } from "./tool_definition.ts";
import { ComputerLeftError, failureResult, toMcpResult } from "./tool_result.ts";
import type { OfficeTool } from "./toolset.ts";

/** How long a call without progress may take by default, in milliseconds: five minutes. */
export const DEFAULT_CALL_TIMEOUT_MS = 300_000;
/** How long a call waits for a lost connection, in milliseconds. */
const CONNECTION_PATIENCE_MS = 5_000;

/** How calls are made. */
export interface OfficeCallOptions {
  readonly toClientUri: ToClientUri;
  /** How long a call may take without progress, in milliseconds; 300,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** Calls tools of Computers. A failure is a result that tells a model what to do. */
export class OfficeCalls {
  readonly #view: OfficeView;
  readonly #toClientUri: ToClientUri;
  readonly #timeoutMs: number;

  constructor(
    view: OfficeView,
    { toClientUri, timeoutMs = DEFAULT_CALL_TIMEOUT_MS }: OfficeCallOptions,
  ) {
    this.#view = view;
    this.#toClientUri = toClientUri;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls a tool. Rejects only with the reason of `context.signal`. */
  async call(
    { computer, tool, definition: { name } }: OfficeTool,
    args: Readonly<Record<string, unknown>>,
    { signal, onProgress, onQuestion }: ToolContext,
  ): Promise<McpToolResult> {
    const { office } = this.#view;
    if (office === undefined || !await this.#untilConnected(signal)) {
      return errorResult(
        `Cannot call "${name}" on Computer "${computer}": ${this.#view.problem}. The tool did not run. Try again in a ` +
          "few seconds",
      );
    }
    using presence = new Presence(this.#view, computer);
    const ending = AbortSignal.any([signal, presence.gone]);
    try {
      const result = await office.computer(computer).callTool(tool, args, {
        signal: ending,
        timeoutMs: this.#timeoutMs,
        resetTimeoutOnProgress: true,
        onProgress,
        onQuestion,
      });
      return toMcpResult(result, { computer, toClientUri: this.#toClientUri });
    } catch (error) {
      signal.throwIfAborted();
      return failureResult(error, { name, computer });
    }
  }

  /** Whether there is a connection, or one comes soon. */
  async #untilConnected(signal: AbortSignal): Promise<boolean> {
    if (this.#view.isConnected) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    const unsubscribe = this.#view.onChange(() => this.#view.isConnected ? resolve() : undefined);
    const timer = setTimeout(resolve, CONNECTION_PATIENCE_MS);
    try {
      await abortable(promise, signal);
      return this.#view.isConnected;
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}

/** Notices that a Computer leaves the office. Dispose of it when the call has ended. */
class Presence implements Disposable {
  readonly #gone = new AbortController();
  readonly #unsubscribe: () => void;

  constructor(view: OfficeView, computer: string) {
    this.#unsubscribe = view.onChange(({ kind }) => {
      if (kind === "members" && !view.has(computer)) this.#gone.abort(new ComputerLeftError(computer));
    });
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  [Symbol.dispose](): void {
    this.#unsubscribe();
  }
}
