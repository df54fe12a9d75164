/** Limits how often a function is called. */

/**
 * Calls `action` at most once per interval: at once for the first request, and again at the end of the interval if there
 * were more requests.
 */
export class Throttle {
  readonly #action: () => void;
  readonly #intervalMs: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;
  #isClosed = false;

  /** @param intervalMs The interval, or a function that returns it when an interval begins. */
  constructor(action: () => void, intervalMs: number | (() => number)) {
    this.#action = action;
    this.#intervalMs = typeof intervalMs === "number" ? () => intervalMs : intervalMs;
  }

  request(): void {
    if (this.#isClosed) return;
    if (this.#timer !== undefined) {
      this.#isDue = true;
      return;
    }
    this.#isDue = false;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#isDue) this.request();
    }, this.#intervalMs());
    this.#action();
  }

  /** Cancels a pending call. The next request calls at once. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
  }

  close(): void {
    this.#isClosed = true;
    this.cancel();
  }
}
