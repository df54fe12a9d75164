import { assertEquals } from "@std/assert";
import { Throttle } from "../../../src/async/throttle.ts";
import { within } from "../../fixtures/within.ts";

Deno.test("a throttle acts at once on the first request", () => {
  let count = 0;
  const throttle = new Throttle(() => void count++, 60_000);
  throttle.request();
  assertEquals(count, 1);
  throttle.close();
});

Deno.test("a throttle acts once more at the interval's end for all that was requested meanwhile", async () => {
  let count = 0;
  const second = Promise.withResolvers<void>();
  const throttle = new Throttle(() => {
    if (++count === 2) second.resolve();
  }, 10);
  for (let i = 0; i < 100; i++) throttle.request();
  assertEquals(count, 1);
  await within(second.promise, "the second run");
  assertEquals(count, 2);
  throttle.close();
});

Deno.test("a throttle that is closed drops what is due, ignores what is requested, and leaves no timer", () => {
  let count = 0;
  const throttle = new Throttle(() => void count++, 60_000);
  throttle.request();
  throttle.request();
  throttle.close();
  throttle.request();
  assertEquals(count, 1);
});

Deno.test("a throttle that is cancelled drops what is due and acts at once on the next request", () => {
  let count = 0;
  const throttle = new Throttle(() => void count++, 60_000);
  throttle.request();
  throttle.request();
  throttle.cancel();
  assertEquals(count, 1);
  throttle.request();
  assertEquals(count, 2);
  throttle.close();
});
