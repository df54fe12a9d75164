import { assertEquals } from "@std/assert";
import { delayUntilWake, onWake } from "../../../src/link/wake.ts";
import { within } from "../../fixtures/within.ts";

/** Moves the wall clock of this process, as a sleep of the machine does. */
function sleepFor(ms: number): Disposable {
  const { now } = Date;
  Date.now = () => now() + ms;
  return { [Symbol.dispose]: () => void (Date.now = now) };
}

Deno.test("onWake() calls after a sleep, and not after the disposal", async () => {
  const woken = Promise.withResolvers<void>();
  let calls = 0;
  onWake(() => calls++)[Symbol.dispose]();
  using _watch = onWake(() => woken.resolve());
  using _sleep = sleepFor(60_000);
  await within(woken.promise, "the end of the sleep");
  assertEquals(calls, 0);
});

Deno.test("delayUntilWake() ends with a sleep, and tells whether there was one", async () => {
  const { signal } = new AbortController();
  assertEquals(await delayUntilWake(1, signal), false);
  const waiting = delayUntilWake(3_600_000, signal);
  using _sleep = sleepFor(60_000);
  assertEquals(await within(waiting, "the end of the sleep"), true);
});
