/** The time of a tool call: progress may extend it, and it stands still while a person is asked. */
import { Countdown } from "../../async/countdown.ts";
import type { Progress } from "../../mcp/call_options.ts";
import { ServerTimeoutError } from "../../mcp/errors.ts";

export interface CallTimes {
  readonly timeoutMs: number;
  /** How long it may make no progress, in milliseconds; as long as it likes by default. */
  readonly idleMs?: number | undefined;
}

/**
 * Ends a call after its time, or when it has made no progress for too long. Progress alone never gives a call more time
 * than its time-out; the answer to a question begins a new one.
 */
export class CallClock implements Disposable {
  readonly #own = new AbortController();
  readonly #idleMs: number;
  readonly #total: Countdown;
  readonly #idle: Countdown | undefined;
  readonly #report: (progress: Progress) => void;
  #limitMs: number;
  #isPaused = false;
  #latest: Progress | undefined;

  /** @param report Receives the progress of the call. */
  constructor({ timeoutMs, idleMs = timeoutMs }: CallTimes, report: (progress: Progress) => void) {
    this.#report = report;
    this.#limitMs = timeoutMs;
    this.#idleMs = idleMs;
    this.#total = new Countdown(timeoutMs, () => {
      this.abort(new ServerTimeoutError(`Cannot complete the call: no answer in ${this.#limitMs} ms`));
    });
    if (idleMs >= timeoutMs) return;
    this.#idle = new Countdown(idleMs, () => {
      this.abort(new ServerTimeoutError(`Cannot complete the call: no progress in ${idleMs} ms`, { idleMs }));
    });
  }

  /** Aborted when the time is over, or by {@linkcode CallClock.abort}. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** The time that the call has, in milliseconds: since its begin, or since the last {@linkcode CallClock.restart}. */
  get limitMs(): number {
    return this.#limitMs;
  }

  get leftMs(): number {
    return this.#total.leftMs;
  }

  pause(): void {
    this.#isPaused = true;
    this.#total.pause();
    this.#idle?.pause();
  }

  /** Goes on with the time that is left. */
  resume(): void {
    this.#isPaused = false;
    this.#total.resume();
    this.#idle?.restart(this.#idleMs);
  }

  restart(timeoutMs: number): void {
    this.#isPaused = false;
    this.#limitMs = timeoutMs;
    this.#total.restart(timeoutMs);
    this.#idle?.restart(this.#idleMs);
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
    if (isFurther && !this.#isPaused) this.#idle?.restart(this.#idleMs);
    if (!isFurther && message === before.message && total === before.total) return;
    this.#latest = {
      progress: isFurther ? progress : before.progress,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    this.#report(this.#latest);
  };

  [Symbol.dispose](): void {
    this.#total[Symbol.dispose]();
    this.#idle?.[Symbol.dispose]();
  }
}
