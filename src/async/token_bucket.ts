/** The rate of anything: how much may come at once, and how much in time. */

export interface Rate {
  /** The most tokens that are kept, which may be taken at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** Returns the rate of `count` at once, and as many again in each window of time. */
export function rateOf(count: number, windowMs: number): Rate {
  return { burst: count, perSecond: count * 1_000 / windowMs };
}

const monotonicNow = () => performance.now();

export class TokenBucket {
  readonly rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #sinceMs: number;

  constructor(rate: Rate, now: () => number = monotonicNow) {
    this.rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#sinceMs = now();
  }

  /** Takes tokens if so many are left; `false` if not. */
  take(cost = 1): boolean {
    this.#refill();
    if (cost > this.#tokens) return false;
    this.#tokens -= cost;
    return true;
  }

  /** Takes tokens that may still be to come, for what has happened already. */
  charge(cost = 1): void {
    this.#refill();
    this.#tokens -= cost;
  }

  /** After how many milliseconds `cost` tokens will be left, if none are taken before; rounded up. */
  waitMs(cost = 1): number {
    this.#refill();
    return Math.ceil(Math.max(0, cost - this.#tokens) / this.rate.perSecond * 1_000);
  }

  #refill(): void {
    const { burst, perSecond } = this.rate;
    const nowMs = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#sinceMs) / 1_000 * perSecond);
    this.#sinceMs = nowMs;
  }
}
