/** Log lines about what peers get wrong: at a bounded rate, since a peer decides how often it is refused. */
import type { LogFields, Logger } from "../log.ts";
import { MAX_LOG_LINES_PER_CONNECTION, MAX_LOG_LINES_PER_SERVER } from "./limits.ts";

/** For how long a number of lines is allowed, in milliseconds. */
const WINDOW_MS = 10_000;

/** So many lines in each window of time. */
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

/** The Server's log of what its members get wrong. */
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

/** One connection's part of it. Lines beyond the bounds are counted, and their count is told in the next line. */
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

  /** Tells what is left to tell of a connection that has gone. */
  close(): void {
    if (this.#leftOut === 0) return;
    this.#logger.warn("left out log lines of a connection", {
      sid: this.#sid,
      lines_left_out: this.#leftOut,
    });
    this.#leftOut = 0;
  }
}
