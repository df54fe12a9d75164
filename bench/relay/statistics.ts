/** Medians, percentiles and ratios, and random orders that a seed reproduces. Pure. */

/** The middle value, or the mean of the two middle values. `NaN` without values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? NaN) + (sorted[Math.ceil(middle)] ?? NaN)) / 2;
}

/**
 * The median of the ratios of two values of the same round. Load that slows one round affects both values, so it hardly
 * changes their ratio. Rounds without one of the values are left out.
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

/** A generator of random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

/** The same values in a random order. */
export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ value }) => value);
}

/** The ratio of a bucket's width to that of the previous one. It sets the precision of percentiles. */
const BUCKET_GROWTH = 1.01;
/** The upper end of the first bucket, in milliseconds. */
const FIRST_BUCKET_MS = 0.001;
const LOG_GROWTH = Math.log(BUCKET_GROWTH);

/** Counts durations in buckets that grow by 1 %. Histograms can be sent as JSON and merged. */
export class Histogram {
  /** The counts by the index of the bucket. */
  readonly #counts: number[];

  constructor(counts: readonly number[] = []) {
    this.#counts = [...counts];
  }

  /** Adds one duration in milliseconds. */
  add(ms: number): void {
    const bucket = ms <= FIRST_BUCKET_MS ? 0 : Math.ceil(Math.log(ms / FIRST_BUCKET_MS) / LOG_GROWTH);
    while (this.#counts.length <= bucket) this.#counts.push(0);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
  }

  /** Adds all durations of another histogram. */
  merge(other: Histogram): void {
    for (const [bucket, count] of other.#counts.entries()) {
      while (this.#counts.length <= bucket) this.#counts.push(0);
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    }
  }

  /** The duration in milliseconds that `share` of all durations do not exceed, at most 1 % too high. `NaN` without any. */
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
