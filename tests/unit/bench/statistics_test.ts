import { assertAlmostEquals, assertEquals } from "@std/assert";
import { Histogram, median, medianRatio, seededRandom, shuffled } from "../../../bench/relay/statistics.ts";

Deno.test("median() gives the value in the middle, and the mean of the two there", () => {
  assertEquals(median([9, 1, 5]), 5);
  assertEquals(median([4, 1, 3, 2]), 2.5);
  assertEquals(median([]), NaN);
});

Deno.test("medianRatio() compares values of the same round and leaves failed rounds out", () => {
  assertEquals(medianRatio([2, 30, 4], [1, 10, 1]), 3);
  assertEquals(medianRatio([2, undefined, 8], [1, 1, undefined]), 2);
  assertEquals(medianRatio([], []), undefined);
});

Deno.test("shuffled() gives the same order for the same seed, and another one for another seed", () => {
  const values = Array.from({ length: 20 }, (_, index) => index);
  const order = (seed: number) => shuffled(values, seededRandom(seed));
  assertEquals(order(7), order(7));
  assertEquals(order(7).join() === order(8).join(), false);
  assertEquals(order(7).toSorted((a, b) => a - b), values);
});

Deno.test("Histogram gives percentiles within 1 %, also after it crossed a process and was merged", () => {
  const [low, high] = [new Histogram(), new Histogram()];
  for (let ms = 1; ms <= 500; ms++) low.add(ms);
  for (let ms = 501; ms <= 1_000; ms++) high.add(ms);
  const all = new Histogram(JSON.parse(JSON.stringify(low)));
  all.merge(high);
  for (const share of [0.5, 0.95, 0.99]) {
    const ratio = all.percentile(share) / (share * 1_000);
    assertAlmostEquals(ratio, 1.005, 0.006);
  }
  assertEquals(new Histogram().percentile(0.5), NaN);
});
