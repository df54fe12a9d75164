import { assert, assertEquals } from "@std/assert";
import { turnStartMs } from "../../../src/async/turn_clock.ts";

Deno.test("the clock stands still within a turn of the event loop, and goes on in the next", async () => {
  const readMs = turnStartMs();
  while (performance.now() === readMs);
  assertEquals(turnStartMs(), readMs);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert(turnStartMs() > readMs);
});
