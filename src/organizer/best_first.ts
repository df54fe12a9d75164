/** The best few of many, without sorting the many. */

interface Entry<T> {
  readonly value: T;
  readonly rank: number;
  /** When it was offered: ties keep this order. */
  readonly order: number;
}

/**
 * Keeps the values of the highest rank, up to a capacity; of equal ranks the one offered first is the better.
 *
 * The entries are a plain list until it is full, and from then on a heap with the worst entry on top, which each
 * further value must beat: n values cost O(n log capacity) at worst, and one comparison each as a rule.
 */
export class BestFirst<T> {
  readonly #capacity: number;
  readonly #entries: Entry<T>[] = [];
  #worstRank = Infinity;
  #offered = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many values were offered, kept or not. */
  get offered(): number {
    return this.#offered;
  }

  /** Offers a value. `rank` may be infinite, but not `NaN`. */
  offer(value: T, rank: number): void {
    const order = this.#offered++;
    const entries = this.#entries;
    if (entries.length < this.#capacity) {
      entries.push({ value, rank, order });
      if (entries.length === this.#capacity) this.#heapify();
    } else if (rank > this.#worstRank) {
      entries[0] = { value, rank, order };
      this.#sink(0);
      this.#readWorst();
    }
  }

  /** What was kept, the best first. */
  list(): T[] {
    return this.#entries.toSorted(compareEntries).map((entry) => entry.value);
  }

  #heapify(): void {
    for (let parent = (this.#capacity >> 1) - 1; parent >= 0; parent--) this.#sink(parent);
    this.#readWorst();
  }

  #readWorst(): void {
    this.#worstRank = this.#entries[0]?.rank ?? Infinity;
  }

  /** Moves the entry at `from` down to where no worse entry is below it. */
  #sink(from: number): void {
    const entries = this.#entries;
    const sinking = entries[from];
    if (sinking === undefined) return;
    let hole = from;
    for (;;) {
      const child = this.#worseChild(hole);
      const below = entries[child];
      if (below === undefined || compareEntries(below, sinking) < 0) break;
      entries[hole] = below;
      hole = child;
    }
    entries[hole] = sinking;
  }

  #worseChild(parent: number): number {
    const left = 2 * parent + 1;
    const leftEntry = this.#entries[left];
    const rightEntry = this.#entries[left + 1];
    if (leftEntry === undefined || rightEntry === undefined) return left;
    return compareEntries(leftEntry, rightEntry) < 0 ? left + 1 : left;
  }
}

function compareEntries(a: Entry<unknown>, b: Entry<unknown>): number {
  return a.rank === b.rank ? a.order - b.order : b.rank - a.rank;
}
