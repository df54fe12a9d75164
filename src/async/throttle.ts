/** Fewer calls for many reasons. */

/**
 * Calls `action` at most once in `intervalMs`: at once for the first request, and once more at the interval's end
 * when there were others, so that none is lost.
 */
export class Throttle {
  readonly #action: () => void;
  readonly #intervalMs: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;
  #isClosed = false;

  /** @param intervalMs How long, or what tells it each time that an interval begins. */
  constructor(action: () => void, intervalMs: number | (() => number)) {
    this.#action = action;
    this.#intervalMs = typeof intervalMs === "number" ? () => intervalMs : intervalMs;
  }

  /** Asks for a call. */
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

  /** Drops what is due; the next request is the first again. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isDue = false;
  }

  /** Drops what is due, and whatever is requested from now on. */
  close(): void {
    this.#isClosed = true;
    this.cancel();
  }
}
