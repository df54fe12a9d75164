import { assertEquals } from "@std/assert";
import { Pace } from "../../../src/server/pace.ts";

Deno.test("Pace lets a burst pass, and then so much in each second", () => {
  let nowMs = 0;
  const pace = new Pace({ burst: 10, perSecond: 2 }, () => nowMs);
  assertEquals([pace.take(6), pace.take(4), pace.take(1)], [true, true, false]);
  nowMs = 500;
  assertEquals([pace.take(1), pace.take(1)], [true, false]);
  nowMs = 3_600_000;
  assertEquals([pace.take(11), pace.take(10), pace.take(1)], [false, true, false]);
});
