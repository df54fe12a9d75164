/** Running tool calls: which server, may it, for how long, and what came of it. */
import { Deadline } from "../../async/deadline.ts";
import type { Logger } from "../../log.ts";
import { ServerNotRunningError, ServerTimeoutError } from "../../mcp/errors.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import { WarnOnce } from "../../mcp/warn_once.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { describeError, shorten } from "../../text.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import { absentServersHint } from "../failures.ts";
import { checkArguments } from "./arguments/check.ts";
import type { CallLimits } from "../limits.ts";
import { CallMemory } from "./memory.ts";
import { type Confirm, refuseUnlessConfirmed } from "./confirmation.ts";
import type { ToolCallHistory, ToolCallRecord } from "./history.ts";
import type { OfficeAgent } from "../office/attendance.ts";
import { listWords } from "../../spelling.ts";
import { isForbidden, otherNamesOf, type ToolDirectory, type ToolRoute } from "./directory.ts";
import {
  failureResult,
  toFailureOutcome,
  ToolCallCancelled,
  type ToolOutcome,
  toWireResult,
  withServer,
} from "./results.ts";
import type { VrlEngine } from "../vrl/engine.ts";
import { toVrlEvent, withTransformed } from "../vrl/transform.ts";

/** How much is kept of a name or id that the Agent made up. */
const MAX_NAME_LENGTH = 128;
/** How many tools are named in place of one that does not exist. */
const MAX_NAMED_TOOLS = 5;

/** What tool calls need. */
export interface ToolCallsContext {
  readonly fleet: Fleet;
  readonly directory: () => ToolDirectory;
  readonly history: ToolCallHistory;
  readonly confirm: Confirm | undefined;
  /** Who sits in the Agent's seat. */
  readonly agent: Pick<OfficeAgent, "name" | "known">;
  readonly limits: CallLimits;
  readonly vrl: VrlEngine;
  /** Masks what is known to be secret. */
  readonly redact: (text: string) => string;
  readonly log: Logger;
}

/** What a call is, beside its request. */
export interface CallOptions {
  /** Whether this Computer's own program calls, and not the Agent of its office; false by default. */
  readonly isLocal?: boolean | undefined;
  /** Nobody is asked; false by default. */
  readonly isConfirmed?: boolean | undefined;
  /** Cancels the call when it is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** A call that runs. */
interface RunningCall {
  readonly deadline: Deadline;
  readonly isLocal: boolean;
  /** Whether somebody is being asked whether it may. */
  isWaiting: boolean;
}

/** The tool calls of one Computer. */
export class ToolCalls {
  readonly #context: ToolCallsContext;
  readonly #warnOnce: WarnOnce;
  readonly #memory = new CallMemory();
  readonly #running = new Map<string, Set<RunningCall>>();
  /** The office's calls that run. */
  #officeCalls = 0;
  #confirmations = 0;

  constructor(context: ToolCallsContext) {
    this.#context = context;
    this.#warnOnce = new WarnOnce(context.log);
  }

  /**
   * Answers `client:tool_call`. Whatever goes wrong with the tool is in the result.
   *
   * @throws {SmcpError} 400 when the `req_id` was used for another call.
   * @throws The signal's reason when it is aborted already.
   */
  async call(request: ToolCallReq, options: CallOptions = {}): Promise<CallToolResult> {
    const { isLocal = false, signal } = options;
    signal?.throwIfAborted();
    const isFull = !isLocal && this.#officeCalls >= this.#context.limits.maxCalls;
    // A repeated request starts nothing, and to say that its tool was not called would be wrong.
    if (isFull && !this.#memory.has(request)) return this.#refuseBusy(request);
    const onAbort = () => this.cancel(request.req_id);
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#memory.once(request, () => this.#runCounted(request, options));
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async #runCounted(request: ToolCallReq, options: CallOptions): Promise<CallToolResult> {
    if (options.isLocal === true) return await this.#run(request, options);
    this.#officeCalls++;
    try {
      return await this.#run(request, options);
    } finally {
      this.#officeCalls--;
    }
  }

  /** Not remembered: the same request may be sent again. */
  #refuseBusy({ tool_name }: ToolCallReq): CallToolResult {
    const { maxCalls } = this.#context.limits;
    this.#warnOnce.warn("tool calls are refused: too many run at once", { most: maxCalls });
    const text =
      `Tool "${shorten(tool_name, MAX_NAME_LENGTH)}" was not called: ${maxCalls} calls run already; ` +
      "try again when some have ended";
    return failureResult(text, { error_code: ErrorCode.TOOL_EXECUTION_FAILED });
  }

  /** Cancels the calls with this request id; unknown ones are none of ours, or done. */
  cancel(reqId: string): void {
    for (const { deadline } of this.#running.get(reqId) ?? []) {
      deadline.abort(new ToolCallCancelled(`Call "${reqId}" was cancelled`));
    }
  }

  /** Cancels the office's calls, confirmations included: whoever asked has gone. */
  endOfficeCalls(): void {
    this.#end(({ isLocal }) => !isLocal);
  }

  /** Cancels the office's calls that wait for a confirmation: nobody gets their answers any more. */
  endConfirmations(): void {
    this.#end(({ isLocal, isWaiting }) => !isLocal && isWaiting);
  }

  /** Forgets remembered answers: the Computer has left the office. */
  forget(): void {
    this.#memory.clear();
  }

  /** Cancels every call, also those that wait for somebody's confirmation. Idempotent. */
  close(): void {
    this.#end(() => true);
  }

  #end(isMeant: (call: RunningCall) => boolean): void {
    for (const call of [...this.#running.values()].flatMap((calls) => [...calls])) {
      if (isMeant(call)) call.deadline.abort(new ToolCallCancelled("The call was cancelled"));
    }
  }

  async #run(request: ToolCallReq, options: CallOptions): Promise<CallToolResult> {
    const startedAt = new Date();
    const startMs = performance.now();
    const { routes, forbidden } = this.#context.directory();
    const route = routes.get(request.tool_name);
    const ended = route === undefined
      ? this.#refuseUnrouted(request.tool_name, forbidden)
      : await this.#execute(request, route, options);
    const agent = options.isLocal === true
      ? undefined
      : this.#context.agent.name ?? shorten(request.agent ?? "", MAX_NAME_LENGTH);
    this.#record(request, route, { ...ended, agent, startedAt, durationMs: performance.now() - startMs });
    if (route === undefined || ended.isOwnResult !== true) return ended.result;
    return withServer(ended.result, route.server);
  }

  #refuseUnrouted(tool: string, forbidden: ReadonlySet<string>): ToolOutcome {
    if (forbidden.has(tool)) return refuseDisabled(tool);
    const result = failureResult(this.#notFoundText(tool), { error_code: ErrorCode.TOOL_NOT_FOUND });
    return { result, outcome: "error" };
  }

  #notFoundText(tool: string): string {
    const others = otherNamesOf(tool, this.#context.directory()).slice(0, MAX_NAMED_TOOLS);
    const hint = others.length === 0
      ? absentServersHint(this.#context.fleet)
      : `; it is listed as ${listWords(others.map((name) => shorten(name, MAX_NAME_LENGTH)))}`;
    return `Tool "${tool}" does not exist on this Computer${hint}`;
  }

  /** Into the history and the log: names and numbers, never arguments or results. */
  #record(
    request: ToolCallReq,
    route: ToolRoute | undefined,
    ended: ToolOutcome & Pick<ToolCallRecord, "agent" | "startedAt" | "durationMs">,
  ): void {
    const { agent, outcome, startedAt, durationMs, result } = ended;
    const reqId = shorten(request.req_id, MAX_NAME_LENGTH);
    const server = route?.server;
    const tool = route?.tool ?? shorten(request.tool_name, MAX_NAME_LENGTH);
    // Only where the call failed before or beside its MCP server: what that says under the key is its own.
    const errorCode = ended.isOwnResult === true ? undefined : result.meta?.error_code;
    this.#context.history.push({ reqId, agent, server, tool, startedAt, durationMs, outcome, errorCode });
    this.#context.log.info("tool call", {
      req_id: reqId,
      agent,
      server,
      tool,
      outcome,
      error_code: errorCode,
      duration_ms: Math.round(durationMs),
    });
  }

  /** Time, cancel, arguments and confirmation around the call itself. */
  async #execute(
    request: ToolCallReq,
    route: ToolRoute,
    { isLocal = false, isConfirmed = false }: CallOptions,
  ): Promise<ToolOutcome> {
    const timeoutMs = timeoutMsOf(request);
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete the call: no answer in ${timeoutMs} ms`),
    });
    const call: RunningCall = { deadline, isLocal, isWaiting: false };
    this.#track(request.req_id, call);
    const { signal } = deadline;
    try {
      // Whatever becomes of the configuration while somebody is asked, the call goes to this very server or to none.
      const server = this.#serverOf(route);
      const refusal = this.#refuseWrongArguments(request, route) ??
        (isConfirmed ? undefined : await this.#askFirst(request, route, call));
      if (refusal !== undefined) return { result: refusal, outcome: "error" };
      if (isForbidden(server.config, route.tool)) return refuseDisabled(request.tool_name);
      const toolCall = { name: route.tool, arguments: request.params };
      const raw = await server.use((connection) => connection.callTool(toolCall, { timeoutMs, signal }));
      const result = await this.#transform(toWireResult(raw, route.meta), { request, route, signal });
      return { result, outcome: result.isError === true ? "error" : "ok", isOwnResult: true };
    } catch (error) {
      return toFailureOutcome(error, { name: request.tool_name, timeoutMs, redact: this.#context.redact });
    } finally {
      this.#untrack(request.req_id, call);
    }
  }

  async #askFirst(
    request: ToolCallReq,
    route: ToolRoute,
    call: RunningCall,
  ): Promise<CallToolResult | undefined> {
    const { confirm, agent, log } = this.#context;
    const { isLocal, deadline: { signal } } = call;
    const caller = { isLocal, agent: async () => isLocal ? undefined : await agent.known() };
    call.isWaiting = true;
    try {
      const takePlace = () => this.#takePlace();
      return await refuseUnlessConfirmed(request, route, { confirm, caller, takePlace, signal, log });
    } finally {
      call.isWaiting = false;
    }
  }

  /** A place among the confirmations that wait at once. */
  #takePlace(): Disposable | undefined {
    if (this.#confirmations >= this.#context.limits.maxConfirmations) return undefined;
    this.#confirmations++;
    return { [Symbol.dispose]: () => void this.#confirmations-- };
  }

  #refuseWrongArguments(request: ToolCallReq, route: ToolRoute): CallToolResult | undefined {
    const { server, tool, definition } = route;
    const { problems, uncheckedBecause } = checkArguments(definition.inputSchema, request.params);
    if (uncheckedBecause !== undefined) {
      this.#warnOnce.warn("arguments are not checked against the tool's input schema", {
        server,
        tool,
        reason: uncheckedBecause,
      });
    }
    if (problems.length === 0) return undefined;
    const text = `Tool "${request.tool_name}" was not called: ${problems.join("; ")}`;
    return failureResult(text, { error_code: ErrorCode.TOOL_EXECUTION_FAILED });
  }

  #serverOf(route: ToolRoute): SupervisedServer {
    const server = this.#context.fleet.get(route.server);
    if (server === undefined) throw new ServerNotRunningError({ reason: "removed", server: route.server });
    return server;
  }

  /** The tool has done its work: a script that fails, or has no time left, costs only what it would have added. */
  async #transform(
    result: CallToolResult,
    call: { readonly request: ToolCallReq; readonly route: ToolRoute; readonly signal: AbortSignal },
  ): Promise<CallToolResult> {
    const { request: { params, req_id }, route: { vrl: script, tool, server }, signal } = call;
    if (script === undefined) return result;
    try {
      const event = toVrlEvent(result, { tool, params });
      return withTransformed(result, await this.#context.vrl.run(script, event, { signal }));
    } catch (error) {
      const why = describeError(error);
      this.#context.log.warn("a result was not transformed", {
        req_id: shorten(req_id, MAX_NAME_LENGTH),
        server,
        tool,
        error: why,
      });
      return result;
    }
  }

  #track(reqId: string, call: RunningCall): void {
    const calls = this.#running.get(reqId);
    if (calls === undefined) this.#running.set(reqId, new Set([call]));
    else calls.add(call);
  }

  #untrack(reqId: string, call: RunningCall): void {
    const calls = this.#running.get(reqId);
    calls?.delete(call);
    if (calls?.size === 0) this.#running.delete(reqId);
  }
}

function refuseDisabled(tool: string): ToolOutcome {
  const text = `Tool "${tool}" is disabled on this Computer`;
  return { result: failureResult(text, { error_code: ErrorCode.TOOL_DISABLED }), outcome: "error" };
}
