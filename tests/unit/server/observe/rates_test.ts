import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { AnswerTimes, Meter } from "../../../../src/server/observe/meter.ts";

Deno.test("the times to answer of a Meter are measured ones, whatever the buckets of its metrics", () => {
  const meter = new Meter();
  const answered = (seconds: number) => {
    meter.ended({ event: "client:tool_call", startedAt: meter.start() - seconds * 10_000 }, "answered");
  };
  for (let i = 0; i < 20; i++) answered(5.1);
  assertAlmostEquals(meter.answerTimes.quantileMs(0.95) ?? NaN, 5_100, 50);
  answered(70);
  assertAlmostEquals(meter.answerTimes.quantileMs(0.5) ?? NaN, 5_100, 50);
  assertAlmostEquals(meter.answerTimes.quantileMs(1) ?? NaN, 70_000, 50);
});

Deno.test("an update that nobody answers has no time to answer", () => {
  const meter = new Meter();
  meter.ended({ event: "server:join_office", startedAt: meter.start() }, "handled");
  assertEquals(meter.answerTimes.quantileMs(0.5), undefined);
});

Deno.test("AnswerTimes forgets all at a clearing", () => {
  const times = new AnswerTimes();
  times.add(9);
  times.clear();
  assertEquals(times.quantileMs(0.5), undefined);
  times.add(1);
  assertEquals([times.quantileMs(0.5), times.quantileMs(0.95)], [1_000, 1_000]);
});

Deno.test("AnswerTimes tells the quantiles of far more times than it keeps", () => {
  const times = new AnswerTimes();
  for (let i = 1; i <= 100_000; i++) times.add(i / 100_000);
  const median = times.quantileMs(0.5) ?? NaN;
  const high = times.quantileMs(0.95) ?? NaN;
  // Over ten standard deviations of a sample of this size
  assert(median > 340 && median < 660, `${median}`);
  assert(high > 880 && high < 1_000, `${high}`);
});
