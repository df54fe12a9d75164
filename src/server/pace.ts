/** How much a connection may do at once, and how much more as time passes: a token bucket. */

/** The bounds of a {@linkcode Pace}. */
export interface PaceLimit {
  /** How much may be done at once. */
  readonly burst: number;
  /** How much more in each second. */
  readonly perSecond: number;
}

/** What one connection does of something. */
export class Pace {
  readonly #limit: PaceLimit;
  readonly #now: () => number;
  #left: number;
  #sinceMs: number;

  /** `now`: the time in milliseconds; `performance.now` by default. */
  constructor(limit: PaceLimit, now: () => number = () => performance.now()) {
    this.#limit = limit;
    this.#now = now;
    this.#left = limit.burst;
    this.#sinceMs = now();
  }

  /** Takes so much, if so much is left; whether it did. */
  take(cost: number): boolean {
    const { burst, perSecond } = this.#limit;
    const nowMs = this.#now();
    this.#left = Math.min(burst, this.#left + (nowMs - this.#sinceMs) / 1_000 * perSecond);
    this.#sinceMs = nowMs;
    if (cost > this.#left) return false;
    this.#left -= cost;
    return true;
  }
}
