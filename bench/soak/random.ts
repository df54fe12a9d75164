/** Chance that can be repeated: the same seed draws the same numbers. */

/** A stream of numbers (mulberry32: small, and even enough for a load). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 up to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from `first` to `last`, both included. */
  integer(first: number, last: number): number {
    return first + Math.floor(this.next() * (last - first + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** @throws {RangeError} when there is nothing to pick from. */
  pick<T>(list: readonly T[]): T {
    const picked = list[Math.floor(this.next() * list.length)];
    if (picked === undefined) throw new RangeError("Cannot pick from a list: empty");
    return picked;
  }

  /** Picks by weight. */
  pickWeighted<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0);
    const chosen = choices.find(([weight]) => (left -= weight) < 0) ?? choices.at(-1);
    if (chosen === undefined) throw new RangeError("Cannot pick from a list: empty");
    return chosen[1];
  }

  /** A stream of its own, so that what one part draws changes nothing for another. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
