import fc from "fast-check";
import { assert, assertEquals } from "@std/assert";
import { TimingWheel } from "../../../src/async/timing_wheel.ts";
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

Deno.test("entries expire in the order of their times, and not too early", async () => {
  const timeouts = new TimingWheel();
  const startMs = performance.now();
  const [late, soon] = [entry(), entry()];
  timeouts.add(late, 120);
  timeouts.add(soon, 10);
  const [soonMs, lateMs] = await Promise.all([soon.expired, late.expired]);
  assert(soonMs - startMs >= 10);
  assert(lateMs - startMs >= 120);
  assert(soonMs < lateMs);
});

Deno.test("a cancelled entry does not expire, and others of the same time do", async () => {
  const timeouts = new TimingWheel();
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
  const timeouts = new TimingWheel(clock);
  let isExpired = false;
  timeouts.add({ expire: () => void timeouts.add({ expire: () => void (isExpired = true) }, 1) }, 1);
  clock.advance(200);
  assert(isExpired);
});

Deno.test("clear() leaves no timer behind", () => {
  const clock = new ManualClock();
  const timeouts = new TimingWheel(clock);
  for (let round = 0; round < 2; round++) {
    timeouts.add({ expire() {} }, 3_600_000);
    timeouts.clear();
    assert(!clock.isArmed);
  }
});

const DISTANCES_MS = [1, 110, 3_149, 3_250, 204_750, 204_900, 13_107_200, 86_405_000];

Deno.test("entries of all distances expire when they are due", () => {
  const clock = new ManualClock();
  const timeouts = new TimingWheel(clock);
  const expired: number[] = [];
  const startMs = clock.nowMs();
  for (const ms of DISTANCES_MS.toReversed()) timeouts.add({ expire: () => void expired.push(ms) }, ms);
  timeouts.cancel(timeouts.add({ expire: () => void expired.push(-1) }, 400_000));
  for (const ms of DISTANCES_MS) {
    clock.moveTo(Math.max(clock.nowMs(), startMs + ms - 1));
    assertEquals(expired.includes(ms), false, `${ms} ms is too early`);
    clock.moveTo(startMs + ms + 50);
    assert(expired.includes(ms), `${ms} ms is overdue`);
  }
  assertEquals(expired, DISTANCES_MS);
});

Deno.test("entries expire in order when the timer fires late", () => {
  const clock = new ManualClock();
  const timeouts = new TimingWheel(clock);
  const expired: number[] = [];
  for (const ms of DISTANCES_MS) timeouts.add({ expire: () => void expired.push(ms) }, ms);
  clock.moveTo(clock.nowMs() + 90_000_000, { late: true });
  assertEquals(expired, DISTANCES_MS);
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
    const timeouts = new TimingWheel(clock);
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

Deno.test("a hundred thousand far entries do not slow down near ones", () => {
  const clock = new ManualClock();
  const timeouts = new TimingWheel(clock);
  for (let i = 0; i < 100_000; i++) timeouts.add({ expire() {} }, 80_000_000 + i * 60);
  const { firings } = clock;
  let expired = 0;
  for (let i = 0; i < 1_000; i++) {
    timeouts.add({ expire: () => void expired++ }, 60);
    clock.moveTo(clock.nowMs() + 150);
  }
  assertEquals(expired, 1_000);
  assert(clock.firings - firings < 1_100, "The timer fires for what is far away");
});
