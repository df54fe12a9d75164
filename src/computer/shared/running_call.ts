/** The tool calls that run: their time, their answers, and their progress for the Agent (`docs/protocol/progress.md`). */
import { abortable } from "../../async/abortable.ts";
import { BoundedMap } from "../../async/bounded_collections.ts";
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { Throttle } from "../../async/throttle.ts";
import type { Progress } from "../../mcp/call_options.ts";
import { ServerTimeoutError } from "../../mcp/errors.ts";
import type { UpdateProgressReq } from "../../protocol/progress.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import type { CallToolResult, ToolCallReq } from "../../protocol/tools.ts";
import type { AwaitedPerson } from "./computer_events.ts";

/** The shortest time between two updates of one call, in milliseconds. */
const UPDATE_INTERVAL_MS = 500;
/** The share of one followed call in that time: a Server limits the notifications of a Computer. */
const SHARE_MS = 25;
/** The most calls that are to be followed and have not begun; the oldest is forgotten for another one. */
const MAX_EXPECTED = 512;

export interface CallTimes {
  readonly timeoutMs: number;
  /** How long it may make no progress, in milliseconds; as long as it likes by default. */
  readonly idleMs?: number | undefined;
}

/**
 * Ends a call after its time, or when it has made no progress for too long, and stands still while a person is asked.
 * Progress alone never gives a call more time than its time-out; the answer to a question begins a new one.
 */
export class CallClock implements Disposable {
  readonly #own = new AbortController();
  readonly #idleMs: number;
  readonly #report: (progress: Progress) => void;
  /** The time that the call has: since its begin, or since the last {@linkcode CallClock.restart}. */
  #limitMs: number;
  /** What was left of it when the timer was set. */
  #leftMs: number;
  #setAtMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;
  #latest: Progress | undefined;

  /** @param report Receives the progress of the call. */
  constructor({ timeoutMs, idleMs = Infinity }: CallTimes, report: (progress: Progress) => void) {
    this.#report = report;
    this.#limitMs = this.#leftMs = timeoutMs;
    this.#idleMs = idleMs;
    this.resume();
  }

  /** Aborted when the time is over, or by {@linkcode CallClock.abort}. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  get limitMs(): number {
    return this.#limitMs;
  }

  /** How long the call may go on without progress. */
  get leftMs(): number {
    return Math.max(0, Math.min(this.#idleMs, this.#leftMs) - this.#spentMs);
  }

  get #spentMs(): number {
    return this.#timer === undefined ? 0 : performance.now() - this.#setAtMs;
  }

  /** When the call times out without progress; `undefined` while its time stands still, and when it has no end. */
  get endsAt(): Date | undefined {
    const { leftMs } = this;
    return this.#timer === undefined || leftMs > MAX_TIMER_MS ? undefined : new Date(Date.now() + leftMs);
  }

  pause(): void {
    this.#leftMs = Math.max(0, this.#leftMs - this.#spentMs);
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Goes on with the time that is left; the time without progress begins anew. */
  resume(): void {
    if (this.#timer !== undefined || this.#isDisposed) return;
    this.#setAtMs = performance.now();
    const isIdle = this.#idleMs < this.#leftMs;
    const timeoutMs = isIdle ? this.#idleMs : this.#limitMs;
    const message = `Cannot complete the call: no ${isIdle ? "progress" : "answer"} in ${timeoutMs} ms`;
    const onTime = () => this.abort(new ServerTimeoutError(message, isIdle ? { idleMs: timeoutMs } : {}));
    this.#timer = setTimeout(onTime, this.leftMs);
  }

  restart(timeoutMs: number): void {
    this.pause();
    this.#limitMs = this.#leftMs = timeoutMs;
    this.resume();
  }

  abort(reason: unknown): void {
    this[Symbol.dispose]();
    this.#own.abort(reason);
  }

  /**
   * Takes a report of the MCP server. Only a value above all before is progress that gives time; a report that repeats
   * itself is dropped, and one that goes back keeps the highest value.
   */
  readonly onProgress = ({ progress, total, message }: Progress): void => {
    if (this.signal.aborted) return;
    const before = this.#latest;
    const isFurther = before === undefined || progress > before.progress;
    if (isFurther && this.#timer !== undefined) {
      this.pause();
      this.resume();
    }
    if (!isFurther && message === before.message && total === before.total) return;
    this.#latest = {
      progress: isFurther ? progress : before.progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    this.#report(this.#latest);
  };

  [Symbol.dispose](): void {
    this.pause();
    this.#isDisposed = true;
  }
}

export class ToolCallCancelled extends Error {
  override readonly name = "ToolCallCancelled";
  /** Whether it was cancelled because its Agent has gone, or did not ask for it again. */
  readonly isCallerGone: boolean;

  constructor(message: string, { isCallerGone = false }: { readonly isCallerGone?: boolean } = {}) {
    super(message);
    this.isCallerGone = isCallerGone;
  }
}

export interface RunningCallOptions {
  /** Unique among the calls of the Computer. */
  readonly id: string;
  /** Whether this Computer's own program made it. */
  readonly isLocal: boolean;
  /** Whether the Agent demands that the person at the Computer is asked. */
  readonly mustAsk: boolean;
  /** The name of the Agent that made it, as far as it is known. */
  readonly agentName?: string | undefined;
  /** How long the call may make no progress, in milliseconds. */
  readonly idleMs?: number | undefined;
  /** Receives the progress of the call. */
  readonly report: (progress: Progress) => void;
}

/**
 * A call that runs. It has one answer for each request that waits for it: a question to the Agent ends the first request,
 * the answer to the question is the next one, and the last one gets the result. Declare it with `using`: disposal stops its
 * clock and ends its questions.
 */
export class RunningCall implements Disposable {
  readonly id: string;
  readonly startedAt: Date = new Date();
  #askedAtMs = performance.now();
  #asked = Promise.withResolvers<void>();
  readonly request: ToolCallReq;
  /** Whether this Computer's own program made it. */
  readonly isLocal: boolean;
  /** Whether the Agent demands that the person at the Computer is asked. */
  readonly mustAsk: boolean;
  /** The name of the Agent that made it; `undefined` where it was not known then. */
  readonly agentName: string | undefined;
  /** The own name of the tool, and its MCP server; `undefined` until they are found. */
  place: { readonly server: string; readonly tool: string } | undefined;
  /** Its time: that of the request that waits for it. */
  readonly clock: CallClock;
  /** Whether its MCP server was asked to run the tool. */
  mayHaveRun = false;
  /** Whether the Agent follows its progress. */
  isFollowed = false;
  /** The latest progress, without known secrets. */
  progress: Progress | undefined;
  /** Limits the updates of its progress; made with the first one. */
  updates: Throttle | undefined;
  #awaited: AwaitedPerson | undefined;
  #hasAsked = false;
  readonly #end = new AbortController();
  #answer = Promise.withResolvers<CallToolResult>();
  #isSuspended = false;

  constructor(
    request: ToolCallReq,
    { id, isLocal, mustAsk, agentName, idleMs, report }: RunningCallOptions,
  ) {
    this.id = id;
    this.request = request;
    this.isLocal = isLocal;
    this.mustAsk = mustAsk;
    this.agentName = agentName;
    this.clock = new CallClock({ timeoutMs: timeoutMsOf(request), idleMs }, report);
  }

  /** When a request last asked for its answer, by `performance.now()`. */
  get askedAtMs(): number {
    return this.#askedAtMs;
  }

  /** A request asks for its answer. */
  ask(): void {
    this.#askedAtMs = performance.now();
    this.#asked.resolve();
    this.#asked = Promise.withResolvers();
  }

  /**
   * Waits until a request has asked for its answer after this time; the call then has its time anew. Rejects with the reason
   * of the call's end.
   */
  async askedAfter(timeMs: number): Promise<void> {
    this.clock.pause();
    while (this.#askedAtMs <= timeMs) await abortable(this.#asked.promise, this.clock.signal);
    this.clock.restart(this.clock.limitMs);
  }

  /** Whom it waits for; kept when it ends meanwhile. */
  get awaited(): AwaitedPerson | undefined {
    return this.#awaited;
  }

  set awaited(person: AwaitedPerson | undefined) {
    this.#hasAsked ||= person !== undefined;
    this.#awaited = person;
  }

  /** Whether its MCP server or a person was asked. */
  get hasBegun(): boolean {
    return this.mayHaveRun || this.#hasAsked;
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

  /** Starts the time again after a question: the next request waits for the call. */
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
    this.updates?.close();
    this.#end.abort();
  }
}

export type ProgressUpdate = Omit<UpdateProgressReq, "computer">;

/** The calls that run, and those that the Agent wants to follow and that have not begun. */
export class RunningCalls implements Iterable<RunningCall> {
  readonly #tell: ((update: ProgressUpdate) => void) | undefined;
  readonly #running = new Set<RunningCall>();
  #lastId = 0;
  /** The calls that have not begun, by `req_id`, and how long each may make no progress. */
  readonly #expected = new BoundedMap<string, number | undefined>(MAX_EXPECTED);

  /** @param tell Tells the office of the progress of a followed call. */
  constructor(tell: ((update: ProgressUpdate) => void) | undefined) {
    this.#tell = tell;
  }

  [Symbol.iterator](): Iterator<RunningCall> {
    return this.#running.values();
  }

  begin(request: ToolCallReq, { idleMs, ...options }: Omit<RunningCallOptions, "id">): RunningCall {
    const { req_id } = request;
    const isFollowed = !options.isLocal && this.#expected.has(req_id);
    const call = new RunningCall(request, {
      ...options,
      id: `c${++this.#lastId}`,
      idleMs: isFollowed ? this.#expected.get(req_id) : idleMs,
    });
    if (isFollowed) this.#expected.delete(req_id);
    call.isFollowed = isFollowed;
    this.#running.add(call);
    call.onEnd(() => this.#running.delete(call));
    return call;
  }

  /**
   * Follows a call that runs or is about to begin. To follow it again changes nothing.
   *
   * @param idleMs How long the call may make no progress, in milliseconds; without effect when it runs.
   * @return The latest progress of the call.
   */
  follow(reqId: string, idleMs?: number): Progress | undefined {
    const running = [...this.#running].findLast(({ isLocal, request }) =>
      !isLocal && request.req_id === reqId
    );
    if (running !== undefined) {
      running.isFollowed = true;
      return running.progress;
    }
    if (!this.#expected.has(reqId)) this.#expected.set(reqId, idleMs);
    return undefined;
  }

  /** Tells the office of the progress, if the Agent follows the call; of the words of a server, only that there are some. */
  onProgress(call: RunningCall, progress: Progress): void {
    call.progress = progress;
    if (!call.isFollowed || !this.#running.has(call)) return;
    call.updates ??= new Throttle(() => this.#update(call), () => this.#intervalMs);
    call.updates.request();
  }

  /** The Agent or this Computer has left the office: nothing is followed any more. */
  endAgent(): void {
    this.#expected.clear();
    for (const call of this.#running) {
      call.isFollowed = false;
      call.updates?.cancel();
    }
  }

  get #intervalMs(): number {
    const followed = [...this.#running].filter(({ isFollowed }) => isFollowed).length;
    return Math.max(UPDATE_INTERVAL_MS, followed * SHARE_MS);
  }

  #update({ request: { req_id }, progress: latest }: RunningCall): void {
    if (latest === undefined) return;
    const { progress, total, message } = latest;
    this.#tell?.({
      req_id,
      progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { has_message: true }),
    });
  }
}
