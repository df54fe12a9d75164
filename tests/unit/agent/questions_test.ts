import { assertEquals } from "@std/assert";
import { WaitBudget } from "../../../src/agent/questions.ts";

const HOUR_MS = 3_600_000;

Deno.test("the waits of a call take an hour together at most, from the first one on", () => {
  let nowMs = 5_000;
  const waits = new WaitBudget(() => nowMs);
  assertEquals([waits.grant(600_000), waits.grant(1e12)], [600_000, HOUR_MS]);
  nowMs += HOUR_MS - 1_000;
  assertEquals(waits.grant(600_000), 1_000);
  nowMs += 2_000;
  assertEquals(waits.grant(600_000), 0);
});
