/** Selects the best few of many values without sorting all of them. */

/**
 * Counts values and keeps those of the highest rank, up to a capacity. Of values of equal rank, the one added first is
 * the better.
 */
export class BestFirst<T> {
  readonly #capacity: number;
  readonly #rankOf: (value: T) => number;
  readonly #kept: T[] = [];
  /** Later values of this rank or a lower one are not kept. */
  #lowest = NaN;
  #size = 0;

  /** @param rankOf must not return `NaN`; infinite ranks are allowed */
  constructor(capacity: number, rankOf: (value: T) => number) {
    this.#capacity = capacity;
    this.#rankOf = rankOf;
  }

  /** How many values were added, kept or not. */
  get size(): number {
    return this.#size;
  }

  /** Adds a value. Sorts once for as many values as are kept. */
  add(value: T): void {
    this.#size++;
    if (this.#rankOf(value) <= this.#lowest) return;
    this.#kept.push(value);
    if (this.#kept.length >= 2 * this.#capacity) this.#cut();
  }

  /** The values that were kept, from `start` to before `end`, the best first. */
  slice(start?: number, end?: number): T[] {
    this.#cut();
    return this.#kept.slice(start, end);
  }

  #cut(): void {
    this.#kept.sort((a, b) => compareRanks(this.#rankOf(a), this.#rankOf(b)));
    if (this.#kept.length < this.#capacity) return;
    this.#kept.length = this.#capacity;
    const last = this.#kept.at(-1);
    this.#lowest = last === undefined ? Infinity : this.#rankOf(last);
  }
}

/** Orders ranks, the highest first. The difference of two infinite ranks would be `NaN`. */
export function compareRanks(a: number, b: number): number {
  return a === b ? 0 : b > a ? 1 : -1;
}
