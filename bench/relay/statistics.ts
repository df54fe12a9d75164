/** The numbers behind the tables: medians, percentiles, ratios, and orders that a seed repeats. Pure. */

/** The middle value; of an even count, the mean of the two in the middle. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/**
 * The median over all rounds of the ratio of two values of the same round, so that what slows one round down does not
 * count. Rounds in which either is missing are left out.
 */
export function medianRatio(
  values: readonly (number | undefined)[],
  base: readonly (number | undefined)[],
): number | undefined {
  const ratios = values.flatMap((value, round) => {
    const divisor = base[round];
    return value === undefined || divisor === undefined || divisor === 0 ? [] : [value / divisor];
  });
  return ratios.length === 0 ? undefined : median(ratios);
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** The same values in another order (Fisher–Yates). */
export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}

/** A bucket is this much wider than the one before it: what the precision of a percentile is. */
const BUCKET_GROWTH = 1.01;
/** The upper end of the first bucket, in milliseconds. */
const FIRST_BUCKET_MS = 0.001;
const LOG_GROWTH = Math.log(BUCKET_GROWTH);

/** How long calls took, in buckets that grow by 1 %. It crosses processes as JSON, and several can be added up. */
export class Histogram {
  /** Counts by number of the bucket, without holes. */
  readonly #counts: number[];

  constructor(counts: readonly number[] = []) {
    this.#counts = [...counts];
  }

  /** Adds one call that took so many milliseconds. */
  add(ms: number): void {
    const bucket = ms <= FIRST_BUCKET_MS ? 0 : Math.ceil(Math.log(ms / FIRST_BUCKET_MS) / LOG_GROWTH);
    while (this.#counts.length <= bucket) this.#counts.push(0);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** Adds all calls of another one. */
  merge(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries()) {
      while (this.#counts.length <= bucket) this.#counts.push(0);
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    }
  }

  /** The time in milliseconds that the given share of the calls did not exceed, at most 1 % too high. NaN for none. */
  percentile(share: number): number {
    const total = this.#counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return NaN;
    const rank = Math.max(1, Math.ceil(share * total));
    let seen = 0;
    const bucket = this.#counts.findIndex((count) => (seen += count) >= rank);
    return FIRST_BUCKET_MS * BUCKET_GROWTH ** bucket;
  }

  toJSON(): readonly number[] {
    return this.#counts;
  }
}
