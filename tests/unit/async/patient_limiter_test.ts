import { assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { PatientLimiter } from "../../../src/async/limiter.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

Deno.test("a patient limiter gives the turn of what is late to the next, and waits for both", async () => {
  using timers = new FakeTimers();
  const limiter = new PatientLimiter(1, 2_000);
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<number>());
  const started: number[] = [];
  const done = gates.map(({ promise }, index) => limiter.run(() => (started.push(index), promise)));
  await setImmediate();
  assertEquals(started, [0]);
  timers.advance(2_000);
  await setImmediate();
  assertEquals(started, [0, 1]);
  gates[1]?.resolve(1);
  await setImmediate();
  assertEquals(started, [0, 1, 2]);
  gates[0]?.resolve(0);
  gates[2]?.resolve(2);
  assertEquals(await Promise.all(done), [0, 1, 2]);
  assertEquals(timers.waiting, 0);
});

Deno.test("a patient limiter settles as the work does", async () => {
  const limiter = new PatientLimiter(1, 2_000);
  await assertRejects(() => limiter.run(() => Promise.reject(new TypeError("own"))), TypeError, "own");
});
