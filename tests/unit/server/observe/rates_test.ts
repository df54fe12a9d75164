import { assertAlmostEquals, assertEquals } from "@std/assert";
import { AnswerTimes, Meter, ticksNow } from "../../../../src/server/observe/meter.ts";

Deno.test("the times to answer of a Meter are measured ones, whatever the buckets of its metrics", () => {
  const meter = new Meter();
  const answered = (seconds: number) => {
    meter.ended({ event: "client:tool_call", startedAt: ticksNow() - seconds * 10_000 }, "answered");
  };
  for (let i = 0; i < 20; i++) answered(5.1);
  assertAlmostEquals(meter.answerTimes.quantileMs(0.95) ?? NaN, 5_100, 50);
  answered(70);
  assertAlmostEquals(meter.answerTimes.quantileMs(0.5) ?? NaN, 5_100, 50);
  assertAlmostEquals(meter.answerTimes.quantileMs(1) ?? NaN, 70_000, 50);
});

Deno.test("an update that nobody answers has no time to answer", () => {
  const meter = new Meter();
  meter.ended({ event: "server:join_office", startedAt: ticksNow() }, "handled");
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

Deno.test("AnswerTimes tells the quantiles of the last times that it keeps", () => {
  const times = new AnswerTimes(100);
  for (let i = 1; i <= 1_000; i++) times.add(i);
  assertEquals([times.quantileMs(0.5), times.quantileMs(0.95)], [950_000, 995_000]);
});
