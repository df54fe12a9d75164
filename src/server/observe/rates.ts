/** How many calls, how fast, and which refusals: over the last minutes, from what a {@linkcode Meter} has counted. */
import { clearInterval, setInterval } from "node:timers";
import { CLIENT_EVENT_PREFIX } from "../../protocol/events.ts";
import { type Counts, LATENCY_BOUNDS_S, type Meter } from "./meter.ts";

const INTERVAL_MS = 10_000;
/** How many intervals are kept: 15 minutes. */
const MAX_SAMPLES = 90;
/** The shortest time that tells a rate, in milliseconds. */
const LEAST_MS = 1_000;

export type RateSample = ReturnType<typeof sampleOf>;
type Totals = ReturnType<typeof totalsOf>;

export class Rates implements Disposable {
  readonly #meter: Meter;
  readonly #timer: ReturnType<typeof setInterval>;
  #kept: readonly Totals[];

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#kept = [totalsOf(meter)];
    this.#timer = setInterval(() => {
      this.#kept = [...this.#kept, totalsOf(meter)].slice(-MAX_SAMPLES - 1);
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  /** The oldest first; the last one of the time since then. */
  get samples(): readonly RateSample[] {
    const all = [...this.#kept, totalsOf(this.#meter)];
    return all.flatMap((now, index) => {
      const before = all[index - 1];
      return before === undefined || now.atMs - before.atMs < LEAST_MS ? [] : [sampleOf(before, now)];
    });
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

/** Latencies are by the bound of their bucket, not cumulative. */
function totalsOf(meter: Meter) {
  const calls = meter.events().filter(({ event }) => event.startsWith(CLIENT_EVENT_PREFIX));
  const latencies = calls.reduce<readonly number[]>(
    (sums, each) => each.latencies.entries().map(([, count], index) => count + (sums[index] ?? 0)),
    [],
  );
  return {
    at: new Date().toISOString(),
    atMs: performance.now(),
    calls: calls.reduce((sum, { outcomes }) => sum + totalOf(outcomes), 0),
    latencies,
    refusals: meter.refusals.entries(),
  };
}

function totalOf<Name>(counts: Counts<Name>): number {
  return counts.entries().reduce((sum, [, count]) => sum + count, 0);
}

/** What happened since the sample before: requests for Computers that have ended, and refusals that occurred. */
function sampleOf(before: Totals, now: Totals) {
  const latencies = now.latencies.map((count, index) => count - (before.latencies[index] ?? 0));
  const refusals = now.refusals.map(([reason, count], index) =>
    [reason, count - (before.refusals[index]?.[1] ?? 0)] as const
  );
  return {
    at: now.at,
    callsPerS: (now.calls - before.calls) * 1_000 / (now.atMs - before.atMs),
    p50Ms: quantileMs(latencies, 0.5),
    p95Ms: quantileMs(latencies, 0.95),
    refusals: Object.fromEntries(refusals.filter(([, count]) => count > 0)),
  };
}

/** Interpolated within its bucket, as Prometheus does it; of the last bucket, which has no end, the beginning. */
export function quantileMs(counts: readonly number[], share: number): number | undefined {
  const rank = share * counts.reduce((sum, count) => sum + count, 0);
  if (rank === 0) return undefined;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    const low = LATENCY_BOUNDS_S[index - 1] ?? 0;
    const high = LATENCY_BOUNDS_S[index] ?? low;
    if (count > 0 && below + count >= rank) return (low + (high - low) * (rank - below) / count) * 1_000;
    below += count;
  }
  return undefined;
}
