import fc from "../../fixtures/fast_check.ts";
import { assert, assertEquals } from "@std/assert";
import { Timeouts } from "../../../src/async/timeouts.ts";
import { turnStartMs } from "../../../src/async/turn_clock.ts";
import { within } from "../../fixtures/within.ts";
import { ManualClock } from "./_manual_clock.ts";

/** An entry that records when it expires. */
function entry(): { expire(): void; readonly expired: Promise<number> } {
  const { promise, resolve } = Promise.withResolvers<number>();
  return {
    expire: () => resolve(performance.now()),
    get expired() {
      return within(promise, "an entry to expire");
    },
  };
}

Deno.test("an entry does not expire too early", async () => {
  const startMs = turnStartMs();
  const only = entry();
  new Timeouts().add(only, 120);
  assert(await only.expired - startMs >= 120);
});

Deno.test("entries expire in the order of their times", () => {
  const clock = new ManualClock();
  const timeouts = new Timeouts(clock);
  const expired: string[] = [];
  for (const [name, timeoutMs] of [["late", 120], ["soon", 10]] as const) {
    timeouts.add({ expire: () => void expired.push(name) }, timeoutMs);
  }
  clock.advance(200);
  assertEquals(expired, ["soon", "late"]);
});

Deno.test("a cancelled entry does not expire, and others of the same time do", async () => {
  const timeouts = new Timeouts();
  let expired = 0;
  const cancelled = { expire: () => void expired++ };
  const scheduled = timeouts.add(cancelled, 10);
  const other = entry();
  timeouts.add(other, 10);
  timeouts.cancel(scheduled);
  timeouts.cancel(scheduled);
  await other.expired;
  assertEquals(expired, 0);
});

Deno.test("an entry may be added while others expire", () => {
  const clock = new ManualClock();
  const timeouts = new Timeouts(clock);
  let isExpired = false;
  timeouts.add({ expire: () => void timeouts.add({ expire: () => void (isExpired = true) }, 1) }, 1);
  clock.advance(200);
  assert(isExpired);
});

Deno.test("clear() leaves no timer behind", () => {
  const clock = new ManualClock();
  const timeouts = new Timeouts(clock);
  for (let round = 0; round < 2; round++) {
    timeouts.add({ expire() {} }, 3_600_000);
    timeouts.clear();
    assert(!clock.isArmed);
  }
});

// A law, whatever is added, cancelled and waited for in between.
Deno.test("an entry expires within a tick of its time unless it was cancelled", () => {
  const step = fc.record({
    timeoutMs: fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.integer({ min: 0, max: 90_000_000 })),
    passMs: fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 20_000_000 })),
    isLifted: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const clock = new ManualClock();
    const timeouts = new Timeouts(clock);
    const open = new Map<number, number>();
    for (const [id, { timeoutMs, passMs, isLifted }] of steps.entries()) {
      const dueMs = clock.nowMs() + timeoutMs;
      const scheduled = timeouts.add({
        expire() {
          assert(clock.nowMs() >= dueMs && clock.nowMs() <= dueMs + 100, `${clock.nowMs()} for ${dueMs}`);
          assert(open.delete(id));
        },
      }, timeoutMs);
      if (isLifted) timeouts.cancel(scheduled);
      else open.set(id, dueMs);
      clock.moveTo(clock.nowMs() + passMs);
      for (const due of open.values()) assert(due + 100 >= clock.nowMs(), `${due} is overdue`);
    }
  }));
});

Deno.test("entries that end together share a timer, also one after the other", () => {
  const clock = new ManualClock();
  const timeouts = new Timeouts(clock);
  for (let count = 0; count < 3; count++) timeouts.add({ expire() {} }, 60_000);
  for (let count = 0; count < 3; count++) timeouts.cancel(timeouts.add({ expire() {} }, 90_000));
  assertEquals([clock.armed, clock.started], [2, 2]);
});

Deno.test("of the timers whose entries are all cancelled, only the last one runs on", () => {
  const clock = new ManualClock();
  const timeouts = new Timeouts(clock);
  for (let seconds = 1; seconds <= 5; seconds++) {
    timeouts.cancel(timeouts.add({ expire() {} }, seconds * 1_000));
    assertEquals(clock.armed, 1);
  }
  clock.advance(6_000);
  assert(!clock.isArmed);
});
