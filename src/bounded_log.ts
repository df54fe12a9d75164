/** Logs with a bounded rate, since peers decide how often they are refused. */
import { clearTimeout, setTimeout } from "node:timers";
import type { TokenBucket } from "./async/token_bucket.ts";
import type { LogFields, Logger } from "./log.ts";

export interface BoundedLogOptions {
  /** A line takes a token of each. */
  readonly buckets: readonly TokenBucket[];
  /** The subject in the line that only tells their number, such as "refused connections". */
  readonly about: string;
  readonly fields?: LogFields;
}

/**
 * A log with a bounded rate. Lines beyond the limit are counted. The next line shows their number; when none comes until the
 * buckets are full again, a line of its own does.
 */
export class BoundedLog {
  readonly #logger: Logger;
  readonly #options: BoundedLogOptions;
  #leftOut = 0;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(logger: Logger, options: BoundedLogOptions) {
    this.#logger = logger;
    this.#options = options;
  }

  write(level: "debug" | "info" | "warn" | "error", message: string, fields: LogFields): void {
    if (!this.#mayWrite()) {
      this.#leftOut++;
      this.#remindLater();
      return;
    }
    const lines_left_out = this.#takeLeftOut();
    this.#logger[level](message, lines_left_out === 0 ? fields : { ...fields, lines_left_out });
  }

  /** Logs the number of lines that were left out since the last line. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#tellLeftOut();
  }

  #tellLeftOut(): void {
    if (this.#leftOut === 0) return;
    const { about, fields } = this.#options;
    const lines_left_out = this.#takeLeftOut();
    this.#logger.warn(`left out log lines of ${about}`, { ...fields, lines_left_out });
  }

  #mayWrite(): boolean {
    return this.#options.buckets.every((bucket) => bucket.take());
  }

  #takeLeftOut(): number {
    const count = this.#leftOut;
    this.#leftOut = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return count;
  }

  /** The line about their number takes tokens as well, since many connections may have left lines out. */
  #remindLater(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    // Until the next token, the logs of thousands of connections would wake up again and again for the same one.
    const waitMs = Math.max(...this.#options.buckets.map((bucket) => bucket.waitMs(bucket.rate.burst)));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#mayWrite()) this.#tellLeftOut();
      else this.#remindLater();
    }, waitMs);
    this.#timer.unref();
  }
}
