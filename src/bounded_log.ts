/** Logs with a bounded rate, since peers decide how often they are refused. */
import { clearTimeout, setTimeout } from "node:timers";
import type { LogFields, Logger } from "./log.ts";

/** The least time before a line about those left out, in milliseconds. */
const MIN_WAIT_MS = 1;

/** Allows a number of lines per window of time; a window begins with its first line. */
export class LineBudget {
  readonly #lines: number;
  readonly #windowMs: number;
  #windowEndMs = 0;
  #left = 0;

  constructor(lines: number, windowMs: number) {
    this.#lines = lines;
    this.#windowMs = windowMs;
  }

  /** The time until a line may be taken, in milliseconds; 0 while one is left in this window. */
  get waitMs(): number {
    return this.#left > 0 ? 0 : Math.max(0, this.#windowEndMs - performance.now());
  }

  /** Takes one line; `false` when none is left in this window. */
  take(): boolean {
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + this.#windowMs;
      this.#left = this.#lines;
    }
    if (this.#left === 0) return false;
    this.#left--;
    return true;
  }
}

export interface BoundedLogOptions {
  /** A line needs a share of each budget. */
  readonly budgets: readonly LineBudget[];
  /** The subject in the line that only tells their number, such as "refused connections". */
  readonly about: string;
  readonly fields?: LogFields;
}

/**
 * A log with a bounded rate. Lines beyond the limit are counted. The next line shows their number; when none comes until a
 * line may be written again, a line of its own does.
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
    return this.#options.budgets.every((budget) => budget.take());
  }

  #takeLeftOut(): number {
    const count = this.#leftOut;
    this.#leftOut = 0;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return count;
  }

  /** The number itself takes a line of the budgets, since many connections may have left lines out. */
  #remindLater(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    const waitMs = Math.max(MIN_WAIT_MS, ...this.#options.budgets.map((budget) => budget.waitMs));
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#mayWrite()) this.#tellLeftOut();
      else this.#remindLater();
    }, waitMs);
    this.#timer.unref();
  }
}
