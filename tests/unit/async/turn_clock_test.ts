import { assert, assertEquals } from "@std/assert";
import { turnStartMs } from "../../../src/async/turn_clock.ts";

Deno.test("the clock stands still within a turn of the event loop, and goes on in the next", async () => {
  const beforeMs = performance.now();
  const readMs = turnStartMs();
  while (performance.now() === readMs);
  assertEquals(turnStartMs(), readMs);
  assert(readMs >= beforeMs);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert(turnStartMs() > readMs);
});
