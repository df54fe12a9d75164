/** The time of a tool call, and its progress, which may extend that time. */
import { Deadline } from "../../async/deadline.ts";
import type { Progress } from "../../mcp/call_options.ts";
import { ServerTimeoutError } from "../../mcp/errors.ts";
import { shorten } from "../../text.ts";

/** The most characters of a progress message. */
export const MAX_PROGRESS_MESSAGE = 1_000;

/** How a call is timed. */
export interface CallTimes {
  /** The most time that the call may take, in milliseconds. */
  readonly timeoutMs: number;
  /** How long it may make no progress, in milliseconds; as long as it likes by default. */
  readonly idleMs?: number | undefined;
}

/**
 * Ends a call after its time, or when it has made no progress for too long. Progress alone never gives a call more time
 * than its time-out.
 */
export class CallClock implements Disposable {
  readonly #total: Deadline;
  readonly #idle: Deadline | undefined;
  readonly #report: (progress: Progress) => void;
  #latest: Progress | undefined;

  /** @param report Receives the progress of the call. */
  constructor({ timeoutMs, idleMs }: CallTimes, report: (progress: Progress) => void) {
    this.#report = report;
    this.#total = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete the call: no answer in ${timeoutMs} ms`),
    });
    if (idleMs === undefined || idleMs >= timeoutMs) return;
    this.#idle = new Deadline(idleMs, {
      reason: () =>
        new ServerTimeoutError(`Cannot complete the call: no progress in ${idleMs} ms`, { idleMs }),
      signal: this.#total.signal,
    });
  }

  /** Aborted when the time is over, or by {@linkcode CallClock.abort}. */
  get signal(): AbortSignal {
    return (this.#idle ?? this.#total).signal;
  }

  /** Ends the call now. */
  abort(reason: unknown): void {
    this.#total.abort(reason);
  }

  /**
   * Takes a report of the MCP server. Only a value above all before is progress that gives time; a report that repeats
   * itself is dropped, and one that goes back keeps the highest value.
   */
  readonly onProgress = ({ progress, total, message }: Progress): void => {
    if (this.signal.aborted) return;
    const before = this.#latest;
    const isFurther = before === undefined || progress > before.progress;
    if (isFurther) this.#idle?.restart();
    const text = message === undefined ? undefined : shorten(message, MAX_PROGRESS_MESSAGE);
    if (!isFurther && text === before.message && total === before.total) return;
    this.#latest = {
      progress: isFurther ? progress : before.progress,
      ...(total === undefined ? {} : { total }),
      ...(text === undefined ? {} : { message: text }),
    };
    this.#report(this.#latest);
  };

  [Symbol.dispose](): void {
    this.#idle?.[Symbol.dispose]();
    this.#total[Symbol.dispose]();
  }
}
