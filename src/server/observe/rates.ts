/** How many calls, how fast, and which errors and refusals: over the last minutes, from what a {@linkcode Meter} has counted. */
import { clearInterval, setInterval } from "node:timers";
import { CLIENT_EVENT_PREFIX } from "../../protocol/events.ts";
import type { Counts, Meter } from "./meter.ts";

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
  #kept: readonly RateSample[] = [];
  #before: Totals;

  constructor(meter: Meter) {
    this.#meter = meter;
    this.#before = totalsOf(meter);
    this.#timer = setInterval(() => {
      this.#kept = [...this.#kept, sampleOf(meter, this.#before)].slice(-MAX_SAMPLES);
      this.#before = totalsOf(meter);
      meter.answerTimes.clear();
    }, INTERVAL_MS);
    this.#timer.unref();
  }

  /** The oldest first; the last one of the time since then. */
  get samples(): readonly RateSample[] {
    const isShort = performance.now() - this.#before.atMs < LEAST_MS;
    return isShort ? this.#kept : [...this.#kept, sampleOf(this.#meter, this.#before)];
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function totalsOf(meter: Meter) {
  const calls = meter.events().filter(({ event }) => event.startsWith(CLIENT_EVENT_PREFIX));
  return {
    atMs: performance.now(),
    calls: calls.reduce((sum, { outcomes }) => sum + totalOf(outcomes), 0),
    errors: calls.flatMap(({ codes }) => codes.entries()),
    refusals: meter.refusals.entries(),
  };
}

function totalOf<Name>(counts: Counts<Name>): number {
  return counts.entries().reduce((sum, [, count]) => sum + count, 0);
}

/** The counts above 0 since the ones before, of the same names in the same order. */
function risesOf(
  now: readonly (readonly [string | number, number])[],
  before: typeof now,
): Readonly<Record<string, number>> {
  const rises: Record<string, number> = {};
  for (const [index, [name, count]] of now.entries()) {
    const rise = count - (before[index]?.[1] ?? 0);
    if (rise > 0) rises[name] = (rises[name] ?? 0) + rise;
  }
  return rises;
}

/** What happened since the totals before: requests for Computers that have ended, their errors by code, and refusals. */
function sampleOf(meter: Meter, before: Totals) {
  const now = totalsOf(meter);
  return {
    at: new Date().toISOString(),
    callsPerS: (now.calls - before.calls) * 1_000 / (now.atMs - before.atMs),
    p50Ms: meter.answerTimes.quantileMs(0.5),
    p95Ms: meter.answerTimes.quantileMs(0.95),
    errors: risesOf(now.errors, before.errors),
    refusals: risesOf(now.refusals, before.refusals),
  };
}
