/** Log lines about refused connections, at a bounded rate: anyone can cause refusals. */
import type { LogFields, Logger } from "../log.ts";
import { MAX_REFUSAL_LINES, REFUSAL_LOG_WINDOW_MS } from "./limits.ts";

/** Writes the first refusals of each window as they are, and then how many more there were. */
export class RefusalLog {
  readonly #logger: Logger;
  readonly #maxLines: number;
  readonly #windowMs: number;
  #lines = 0;
  #suppressed = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(logger: Logger, bounds: { readonly maxLines?: number; readonly windowMs?: number } = {}) {
    this.#logger = logger;
    this.#maxLines = bounds.maxLines ?? MAX_REFUSAL_LINES;
    this.#windowMs = bounds.windowMs ?? REFUSAL_LOG_WINDOW_MS;
  }

  /** Logs one refusal as a warning, or counts it. */
  warn(message: string, fields: LogFields): void {
    if (this.#takesLine()) this.#logger.warn(message, fields);
  }

  /** Logs a failure that led to a refusal, or counts it. */
  error(message: string, fields: LogFields): void {
    if (this.#takesLine()) this.#logger.error(message, fields);
  }

  /** Logs how many lines were left out, and starts no further window. */
  close(): void {
    clearTimeout(this.#timer);
    this.#endWindow();
  }

  #takesLine(): boolean {
    this.#timer ??= setTimeout(() => this.#endWindow(), this.#windowMs);
    const hasRoom = this.#lines < this.#maxLines;
    if (hasRoom) this.#lines++;
    else this.#suppressed++;
    return hasRoom;
  }

  #endWindow(): void {
    const count = this.#suppressed;
    this.#lines = 0;
    this.#suppressed = 0;
    this.#timer = undefined;
    if (count > 0) this.#logger.warn("left out log lines of refused connections", { lines_left_out: count });
  }
}
