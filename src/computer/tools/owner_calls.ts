/** The calls that run, as the owner of the Computer sees and stops them. */
import type { Followers } from "../../async/followers.ts";
import type { Logger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { clientNamedIn } from "../../protocol/call.ts";
import type { ToolCallReq } from "../../protocol/tools.ts";
import { shorten } from "../../text/text.ts";
import type { OfficeAgent } from "../office/office_agent.ts";
import type { ComputerEvent, RunningToolCall, ToolCaller } from "../shared/computer_events.ts";
import type { RunningCall, RunningCalls } from "../shared/running_call.ts";
import type { EndedCall, ToolCallHistory } from "./history.ts";
import { MAX_KEPT_NAME_LENGTH, pausedError } from "./refusals.ts";

/** The tool calls of a Computer that run. */
export interface ComputerCalls {
  /** Those that run now, oldest first; also those that wait for a person. */
  readonly running: readonly RunningToolCall[];
  /** Cancels a call; `false` when none with this id runs. */
  cancel(id: string): boolean;
  /**
   * Refuses new calls and every read of Agents until {@linkcode ComputerCalls.resume}: tools stay listed, and nothing else
   * is given. Calls that run go on.
   */
  pause(): void;
  /** Takes calls and reads of Agents again. */
  resume(): void;
  /** Whether new calls and reads are refused. */
  readonly isPaused: boolean;
}

export interface OwnerCallsContext {
  /** The name of the Computer. */
  readonly name: string;
  readonly running: RunningCalls;
  readonly cancel: (call: RunningCall) => void;
  readonly agent: Pick<OfficeAgent, "name">;
  readonly events: Followers<ComputerEvent>;
  readonly history: ToolCallHistory;
  /** Agents that keep what they were given have to ask again, and learn whether they may still have it. */
  readonly onPaused: () => void;
  readonly log: Logger;
}

/** Who says to have made a request. */
interface CallerClaims extends Pick<RunningCall, "isLocal">, Partial<Pick<RunningCall, "agentName">> {
  readonly request: Pick<RunningCall["request"], "req_id" | "agent">;
}

export class OwnerCalls implements ComputerCalls {
  readonly #context: OwnerCallsContext;
  isPaused = false;

  constructor(context: OwnerCallsContext) {
    this.#context = context;
  }

  get running(): readonly RunningToolCall[] {
    return [...this.#context.running].flatMap((call) => this.#shown(call) ?? []);
  }

  cancel(id: string): boolean {
    const call = [...this.#context.running].find((each) => each.id === id);
    if (call !== undefined) this.#context.cancel(call);
    return call !== undefined;
  }

  pause(): void {
    this.#setPaused(true);
  }

  resume(): void {
    this.#setPaused(false);
  }

  /** @throws {SmcpError} 403 while the Computer is paused. */
  assertNotPaused(): void {
    if (this.isPaused) throw pausedError(this.#context.name);
  }

  /** The Agent as the Server states it, and its client as the request does. */
  callerOf({ isLocal, agentName, request: { req_id, agent: claimed = "" } }: CallerClaims): ToolCaller {
    const reqId = shorten(req_id, MAX_KEPT_NAME_LENGTH);
    if (isLocal) return { reqId, agent: undefined, client: undefined };
    const name = agentName ?? this.#context.agent.name;
    const client = clientNamedIn(claimed, name);
    return {
      reqId,
      agent: name ?? shorten(claimed, MAX_KEPT_NAME_LENGTH),
      client: client === undefined ? undefined : shorten(client, MAX_KEPT_NAME_LENGTH),
    };
  }

  /** Tells of a call that has begun, waits for somebody else, or has made progress. */
  tell(call: RunningCall): void {
    const { events } = this.#context;
    const shown = events.isEmpty ? undefined : this.#shown(call);
    if (shown !== undefined) events.tell({ type: "running", call: shown });
  }

  /** Keeps a call that has ended in the history, and tells of it. */
  keep(call: EndedCall, { params }: Pick<ToolCallReq, "params">): void {
    const { history, events } = this.#context;
    history.push(call, params);
    const record = events.isEmpty ? undefined : history.last;
    if (record !== undefined) events.tell({ type: "ended", record });
  }

  /** Keeps a call that was refused because the Computer is paused; no MCP server has seen it. */
  keepRefused(request: ToolCallReq): void {
    const tool = shorten(request.tool_name, MAX_KEPT_NAME_LENGTH);
    const caller = this.callerOf({ request, isLocal: false });
    const none = { server: undefined, errorCode: ErrorCode.TOOL_EXECUTION_FAILED, durationMs: 0 };
    this.keep({ ...caller, ...none, tool, startedAt: new Date(), outcome: "refused" }, request);
  }

  #setPaused(isPaused: boolean): void {
    if (this.isPaused === isPaused) return;
    this.isPaused = isPaused;
    const { log, events, onPaused } = this.#context;
    log.info(
      isPaused
        ? "new calls and reads are refused: the owner has paused this Computer"
        : "calls and reads are taken again",
    );
    events.tell({ type: "paused", isPaused });
    onPaused();
  }

  /** `undefined` for a call without a tool. */
  #shown(call: RunningCall): RunningToolCall | undefined {
    const { id, request, isLocal, startedAt, place, clock, progress, awaited: awaits } = call;
    return place && {
      id,
      ...this.callerOf(call),
      ...place,
      name: request.tool_name,
      isLocal,
      startedAt,
      timesOutAt: clock.endsAt,
      progress,
      awaits,
      isEnding: clock.signal.aborted,
    };
  }
}
