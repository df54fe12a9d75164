/** Random that is the same in every run. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1, as `Math.random()` (mulberry32). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from 0 up to `bound`, which it never is. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** Whether something happens that does once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  /** One of several. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined && items.length === 0) throw new RangeError("Cannot pick from nothing");
    return item as T;
  }
}
