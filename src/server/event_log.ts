/** Log lines about refused events, at a bounded rate: a peer decides how often it is refused. */
import type { LogFields, Logger } from "../log.ts";
import { MAX_LOG_LINES_PER_CONNECTION, MAX_LOG_LINES_PER_SERVER } from "./limits.ts";

/** The length of a window, in milliseconds. */
const WINDOW_MS = 10_000;

/** Allows a number of lines in each window of time. */
class LineBudget {
  readonly #lines: number;
  #windowEndMs = 0;
  #left = 0;

  constructor(lines: number) {
    this.#lines = lines;
  }

  take(): boolean {
    const nowMs = performance.now();
    if (nowMs >= this.#windowEndMs) {
      this.#windowEndMs = nowMs + WINDOW_MS;
      this.#left = this.#lines;
    }
    return this.#left-- > 0;
  }
}

/** The log of refused events of all connections. */
export class EventLog {
  readonly #logger: Logger;
  readonly #budget = new LineBudget(MAX_LOG_LINES_PER_SERVER);

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** The log of one connection. */
  ofConnection(sid: string): ConnectionLog {
    return new ConnectionLog(sid, { logger: this.#logger, shared: this.#budget });
  }
}

/** The log of refused events of one connection. Lines over the limit are counted, and the next line has their number. */
export class ConnectionLog {
  readonly #sid: string;
  readonly #logger: Logger;
  readonly #shared: LineBudget;
  readonly #own = new LineBudget(MAX_LOG_LINES_PER_CONNECTION);
  #leftOut = 0;

  constructor(sid: string, context: { readonly logger: Logger; readonly shared: LineBudget }) {
    this.#sid = sid;
    this.#logger = context.logger;
    this.#shared = context.shared;
  }

  write(level: "info" | "warn" | "error", message: string, fields: LogFields): void {
    if (!this.#own.take() || !this.#shared.take()) return void this.#leftOut++;
    this.#logger[level](message, this.#leftOut === 0 ? fields : { ...fields, lines_left_out: this.#leftOut });
    this.#leftOut = 0;
  }

  /** Logs how many lines were left out since the last one. */
  close(): void {
    if (this.#leftOut === 0) return;
    this.#logger.warn("left out log lines of a connection", {
      sid: this.#sid,
      lines_left_out: this.#leftOut,
    });
    this.#leftOut = 0;
  }
}
