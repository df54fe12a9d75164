/** Log lines at a bounded rate: peers decide how often they are refused. */
import type { LogFields, Logger } from "../log.ts";
import {
  LOG_WINDOW_MS,
  MAX_LOG_LINES_PER_CONNECTION,
  MAX_LOG_LINES_PER_SERVER,
  MAX_REFUSAL_LINES,
  REFUSAL_LOG_WINDOW_MS,
} from "./limits.ts";

/** Allows a number of lines in each window of time; a window begins with its first line. */
export class LineBudget {
  readonly #lines: number;
  readonly #windowMs: number;
  #windowEndMs = 0;
  #left = 0;

  constructor(lines: number, windowMs: number) {
    this.#lines = lines;
    this.#windowMs = windowMs;
  }

  /** Takes one line; `false` when there is none left in this window. */
  take(): boolean {
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + this.#windowMs;
      this.#left = this.#lines;
    }
    return this.#left-- > 0;
  }
}

/** What a {@linkcode BoundedLog} is about, and its bounds. */
export interface BoundedLogOptions {
  /** Each of them must have a line left. */
  readonly budgets: readonly LineBudget[];
  /** Such as "refused connections". */
  readonly about: string;
  /** The fields of the last line. */
  readonly fields?: LogFields;
}

/** A log with a bounded rate. Lines over the limit are counted, and the next line has their number. */
export class BoundedLog {
  readonly #logger: Logger;
  readonly #options: BoundedLogOptions;
  #leftOut = 0;

  constructor(logger: Logger, options: BoundedLogOptions) {
    this.#logger = logger;
    this.#options = options;
  }

  write(level: "info" | "warn" | "error", message: string, fields: LogFields): void {
    if (!this.#options.budgets.every((budget) => budget.take())) return void this.#leftOut++;
    this.#logger[level](message, this.#leftOut === 0 ? fields : { ...fields, lines_left_out: this.#leftOut });
    this.#leftOut = 0;
  }

  /** Logs how many lines were left out since the last one. */
  close(): void {
    if (this.#leftOut === 0) return;
    const { about, fields } = this.#options;
    this.#logger.warn(`left out log lines of ${about}`, { ...fields, lines_left_out: this.#leftOut });
    this.#leftOut = 0;
  }
}

/** The log of refused connections of a Server. */
export function createRefusalLog(logger: Logger): BoundedLog {
  const budgets = [new LineBudget(MAX_REFUSAL_LINES, REFUSAL_LOG_WINDOW_MS)];
  return new BoundedLog(logger, { budgets, about: "refused connections" });
}

/** Makes the logs of a Server's connections, about their events. */
export function createEventLogs(logger: Logger): (sid: string) => BoundedLog {
  const shared = new LineBudget(MAX_LOG_LINES_PER_SERVER, LOG_WINDOW_MS);
  return (sid) => {
    const budgets = [new LineBudget(MAX_LOG_LINES_PER_CONNECTION, LOG_WINDOW_MS), shared];
    return new BoundedLog(logger, { budgets, about: "a connection", fields: { sid } });
  };
}
