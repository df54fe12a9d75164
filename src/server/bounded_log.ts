/** Logs with a bounded rate, since peers decide how often they are refused. */
import type { LogFields, Logger } from "../log.ts";
import {
  LOG_WINDOW_MS,
  MAX_LOG_LINES_PER_CONNECTION,
  MAX_LOG_LINES_PER_SERVER,
  MAX_REFUSAL_LINES,
  REFUSAL_LOG_WINDOW_MS,
} from "./limits.ts";

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

  /** Takes one line; `false` when none is left in this window. */
  take(): boolean {
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + this.#windowMs;
      this.#left = this.#lines;
    }
    return this.#left-- > 0;
  }
}

/** The bounds of a {@linkcode BoundedLog}, and its last line. */
export interface BoundedLogOptions {
  /** A line needs a share of each budget. */
  readonly budgets: readonly LineBudget[];
  /** The subject in the last line, such as "refused connections". */
  readonly about: string;
  /** The fields of the last line. */
  readonly fields?: LogFields;
}

/** A log with a bounded rate. Lines beyond the limit are counted, and the next line shows their number. */
export class BoundedLog {
  readonly #logger: Logger;
  readonly #options: BoundedLogOptions;
  #leftOut = 0;

  constructor(logger: Logger, options: BoundedLogOptions) {
    this.#logger = logger;
    this.#options = options;
  }

  write(level: "debug" | "info" | "warn" | "error", message: string, fields: LogFields): void {
    if (!this.#options.budgets.every((budget) => budget.take())) return void this.#leftOut++;
    this.#logger[level](message, this.#leftOut === 0 ? fields : { ...fields, lines_left_out: this.#leftOut });
    this.#leftOut = 0;
  }

  /** Logs the number of lines that were left out since the last line. */
  close(): void {
    if (this.#leftOut === 0) return;
    const { about, fields } = this.#options;
    this.#logger.warn(`left out log lines of ${about}`, { ...fields, lines_left_out: this.#leftOut });
    this.#leftOut = 0;
  }
}

/** Creates the log of refused connections. */
export function createRefusalLog(logger: Logger): BoundedLog {
  const budgets = [new LineBudget(MAX_REFUSAL_LINES, REFUSAL_LOG_WINDOW_MS)];
  return new BoundedLog(logger, { budgets, about: "refused connections" });
}

/** Creates the logs of connections about their events, which share one budget. */
export function createEventLogs(logger: Logger): (sid: string) => BoundedLog {
  const shared = new LineBudget(MAX_LOG_LINES_PER_SERVER, LOG_WINDOW_MS);
  return (sid) => {
    const budgets = [new LineBudget(MAX_LOG_LINES_PER_CONNECTION, LOG_WINDOW_MS), shared];
    return new BoundedLog(logger, { budgets, about: "a connection", fields: { sid } });
  };
}
