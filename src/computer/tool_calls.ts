/** Running tool calls: which server, may it, for how long, and what came of it. */
import { abortable } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import type { Logger } from "../log.ts";
import { ServerTimeoutError } from "../mcp/errors.ts";
import type { Fleet } from "../mcp/fleet.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { describeError } from "../protocol/errors.ts";
import { timeoutMsOf } from "../protocol/timeouts.ts";
import type { CallToolResult, ToolCallReq } from "../protocol/tools.ts";
import { absentServersHint } from "./absent_servers.ts";
import { CallMemory } from "./call_memory.ts";
import type { ToolCallHistory } from "./history.ts";
import type { ToolDirectory, ToolRoute } from "./tool_directory.ts";
import {
  failureResult,
  toFailureOutcome,
  ToolCallCancelled,
  type ToolOutcome,
  toWireResult,
} from "./tool_results.ts";

/** A tool call that waits for its confirmation. */
export interface ConfirmRequest {
  /** Who calls, as it calls itself. */
  readonly agent: string;
  /** The id of the request. */
  readonly reqId: string;
  /** The MCP server of the tool. */
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  /** The arguments. */
  readonly params: Readonly<Record<string, unknown>>;
  /** Aborted when the call is cancelled or out of time. */
  readonly signal: AbortSignal;
}

/** Decides on a tool call that is not applied automatically. */
export type Confirm = (request: ConfirmRequest) => boolean | Promise<boolean>;

/** What tool calls need. */
export interface ToolCallsContext {
  readonly fleet: Fleet;
  readonly directory: () => ToolDirectory;
  readonly history: ToolCallHistory;
  readonly confirm: Confirm | undefined;
  readonly log: Logger;
}

/** The tool calls of one Computer. */
export class ToolCalls {
  readonly #context: ToolCallsContext;
  readonly #memory = new CallMemory();
  readonly #running = new Map<string, Set<Deadline>>();

  constructor(context: ToolCallsContext) {
    this.#context = context;
  }

  /**
   * Answers `client:tool_call`. Whatever goes wrong with the tool is in the result.
   *
   * @throws {SmcpError} 400 when the `req_id` was used for another call.
   */
  call(request: ToolCallReq): Promise<CallToolResult> {
    return this.#memory.once(request, () => this.#run(request));
  }

  /** Cancels the calls with this request id; unknown ones are none of ours, or done. */
  cancel(reqId: string): void {
    for (const call of this.#running.get(reqId) ?? []) {
      call.abort(new ToolCallCancelled(`Call "${reqId}" was cancelled`));
    }
  }

  /** Forgets remembered answers: the Computer has left the office. */
  forget(): void {
    this.#memory.clear();
  }

  async #run(request: ToolCallReq): Promise<CallToolResult> {
    const { tool_name, req_id } = request;
    const { routes, forbidden } = this.#context.directory();
    const route = routes.get(tool_name);
    if (route !== undefined) return await this.#runRouted(request, route);
    this.#context.log.warn("tool call refused", {
      req_id,
      tool: tool_name,
      forbidden: forbidden.has(tool_name),
    });
    if (forbidden.has(tool_name)) {
      return failureResult(`Tool "${tool_name}" is disabled on this Computer`, {
        error_code: ErrorCode.TOOL_DISABLED,
      });
    }
    const hint = absentServersHint(this.#context.fleet);
    return failureResult(`Tool "${tool_name}" does not exist on this Computer${hint}`, {
      error_code: ErrorCode.TOOL_NOT_FOUND,
    });
  }

  async #runRouted(request: ToolCallReq, route: ToolRoute): Promise<CallToolResult> {
    const startedAt = new Date();
    const startMs = performance.now();
    const { result, outcome } = await this.#execute(request, route);
    const durationMs = performance.now() - startMs;
    const { server, tool } = route;
    this.#context.history.push({ reqId: request.req_id, server, tool, startedAt, durationMs, outcome });
    const fields = { req_id: request.req_id, server, tool, outcome, duration_ms: Math.round(durationMs) };
    if (outcome === "ok") this.#context.log.debug("tool call", fields);
    else this.#context.log.warn("tool call", fields);
    return result;
  }

  /** Time, cancel and confirmation around the call itself. */
  async #execute(request: ToolCallReq, route: ToolRoute): Promise<ToolOutcome> {
    const timeoutMs = timeoutMsOf(request);
    using call = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete the call: no answer in ${timeoutMs} ms`),
    });
    this.#track(request.req_id, call);
    try {
      const refusal = await this.#refusal(request, route, call.signal);
      if (refusal !== undefined) return { result: refusal, outcome: "error" };
      const raw = await this.#callServer(request, route, { timeoutMs, signal: call.signal });
      const result = toWireResult(raw, route.meta);
      return { result, outcome: result.isError === true ? "error" : "ok" };
    } catch (error) {
      return toFailureOutcome(error, { name: request.tool_name, timeoutMs });
    } finally {
      this.#untrack(request.req_id, call);
    }
  }

  async #callServer(
    request: ToolCallReq,
    route: ToolRoute,
    limits: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<Record<string, unknown>> {
    const server = this.#context.fleet.get(route.server);
    if (server === undefined) throw new TypeError(`Cannot call MCP server "${route.server}": removed`);
    return await server.use((connection) =>
      connection.callTool({ name: route.tool, arguments: request.params }, limits)
    );
  }

  /** The answer to a call that may not run; `undefined` when it may. */
  async #refusal(
    request: ToolCallReq,
    route: ToolRoute,
    signal: AbortSignal,
  ): Promise<CallToolResult | undefined> {
    if (route.meta?.auto_apply === true) return undefined;
    const { confirm, log } = this.#context;
    const { agent, req_id: reqId, params, tool_name } = request;
    const { server, tool } = route;
    const refuse = (why: string) =>
      failureResult(`Tool "${tool_name}" needs a confirmation: ${why}`, {
        error_code: ErrorCode.TOOL_REQUIRES_CONFIRMATION,
      });
    if (confirm === undefined) {
      return refuse(
        `this Computer has nobody to ask; to allow it, set "auto_apply": true for "${tool}" in "tool_meta", or in ` +
          `"default_tool_meta" of server "${server}"`,
      );
    }
    try {
      const decision = Promise.resolve(confirm({ agent, reqId, server, tool, params, signal }));
      return await abortable(decision, signal) === true ? undefined : refuse("it was declined");
    } catch (error) {
      signal.throwIfAborted();
      log.error("the confirm callback failed", { req_id: reqId, error: describeError(error) });
      return refuse("asking for it failed");
    }
  }

  #track(reqId: string, call: Deadline): void {
    const calls = this.#running.get(reqId);
    if (calls === undefined) this.#running.set(reqId, new Set([call]));
    else calls.add(call);
  }

  #untrack(reqId: string, call: Deadline): void {
    const calls = this.#running.get(reqId);
    calls?.delete(call);
    if (calls?.size === 0) this.#running.delete(reqId);
  }
}
