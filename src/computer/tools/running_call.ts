/**
 * A tool call that runs. It has one answer for each request that waits for it: a question to the Agent ends the first
 * request, the answer to the question is the next one, and the last one gets the result.
 */
import type { Progress } from "../../mcp/call_options.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import { CallClock } from "./call_clock.ts";

/**
 * Whom a call waits for: the person at the Computer or the user of the Agent who confirms it, or the person who answers a
 * question of its MCP server.
 */
export type AwaitedPerson = "confirmer" | "approver" | "answerer";

/** A call that runs. Declare it with `using`: disposal stops its clock and ends its questions. */
export class RunningCall implements Disposable {
  readonly request: ToolCallReq;
  /** Whether this Computer's own program made it. */
  readonly isLocal: boolean;
  /** Its time: that of the request that waits for it. */
  readonly clock: CallClock;
  /** Whom it waits for; kept when it ends meanwhile. */
  awaited: AwaitedPerson | undefined;
  readonly #end = new AbortController();
  #answer = Promise.withResolvers<CallToolResult>();
  #isSuspended = false;

  /** @param options `idleMs`: how long the call may make no progress. `report`: receives its progress. */
  constructor(
    request: ToolCallReq,
    { isLocal, idleMs, report }: {
      readonly isLocal: boolean;
      readonly idleMs?: number | undefined;
      readonly report: (progress: Progress) => void;
    },
  ) {
    this.request = request;
    this.isLocal = isLocal;
    this.clock = new CallClock({ timeoutMs: timeoutMsOf(request), idleMs }, report);
  }

  /** A new signal that is aborted when the call ends, in whatever way, or with another signal. */
  endedOr(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([this.clock.signal, this.#end.signal, signal]);
  }

  onEnd(listener: () => void): void {
    this.#end.signal.addEventListener("abort", listener, { once: true });
  }

  /** The answer to the request that waits for the call now. */
  get answer(): Promise<CallToolResult> {
    return this.#answer.promise;
  }

  /** Whether the last request was answered with a question, and no further one has come. */
  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** Answers the waiting request with a question. The time stands still until {@linkcode RunningCall.goOn}. */
  suspend(question: CallToolResult): void {
    this.clock.pause();
    this.#isSuspended = true;
    this.#answer.resolve(question);
  }

  /** Lets the next request wait for the call, whose time still stands still. */
  renew(): void {
    this.#isSuspended = false;
    this.#answer = Promise.withResolvers();
  }

  /** Goes on with this time, for the next request; for nobody, when none has come. */
  goOn(timeoutMs: number): void {
    if (this.#isSuspended) this.renew();
    this.clock.restart(timeoutMs);
  }

  finish(result: CallToolResult): void {
    this.#answer.resolve(result);
  }

  /** Rejects the waiting request, because of a defect. */
  fail(error: unknown): void {
    // Nobody may wait now, and an unhandled rejection would end the process.
    this.#answer.promise.catch(() => undefined);
    this.#answer.reject(error);
  }

  [Symbol.dispose](): void {
    this.clock[Symbol.dispose]();
    this.#end.abort();
  }
}
