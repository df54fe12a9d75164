import { assertEquals } from "@std/assert";
import { LATENCY_BOUNDS_S } from "../../../../src/server/observe/meter.ts";
import { quantileMs } from "../../../../src/server/observe/rates.ts";

/** Counts with these numbers at these bounds, in milliseconds; `Infinity` for the last bucket. */
function countsAt(counts: Readonly<Record<number, number>>): number[] {
  return [...LATENCY_BOUNDS_S, Infinity].map((bound) => counts[bound * 1_000] ?? 0);
}

Deno.test("quantileMs() interpolates within the bucket that has the quantile", () => {
  assertEquals(quantileMs(countsAt({ 10: 4 }), 0.5), 7.5);
  assertEquals(quantileMs(countsAt({ 10: 2, 100: 2 }), 0.5), 10);
  assertEquals(quantileMs(countsAt({ 1: 1 }), 1), 1);
});

Deno.test("quantileMs() tells of the last bucket, which has no end, its beginning", () => {
  assertEquals(quantileMs(countsAt({ Infinity: 3 }), 0.5), 300_000);
});

Deno.test("quantileMs() tells nothing without answers", () => {
  assertEquals(quantileMs(countsAt({}), 0.95), undefined);
});
