import { assert, assertEquals } from "@std/assert";
import { Deadlines } from "../../../src/server/deadlines.ts";

/** A deadline that tells when it expires. */
function deadline(): { expire(): void; readonly expired: Promise<number> } {
  const { promise, resolve } = Promise.withResolvers<number>();
  return { expire: () => resolve(performance.now()), expired: promise };
}

Deno.test("Deadlines expire in their order, none too early", async () => {
  const deadlines = new Deadlines();
  const startMs = performance.now();
  const [late, soon] = [deadline(), deadline()];
  deadlines.add(late, 120);
  deadlines.add(soon, 10);
  const [soonMs, lateMs] = await Promise.all([soon.expired, late.expired]);
  assert(soonMs - startMs >= 10);
  assert(lateMs - startMs >= 120);
  assert(soonMs < lateMs);
});

Deno.test("A deadline that is lifted does not expire, and others of its time do", async () => {
  const deadlines = new Deadlines();
  let expired = 0;
  const lifted = { expire: () => void expired++ };
  const tick = deadlines.add(lifted, 10);
  const other = deadline();
  deadlines.add(other, 10);
  deadlines.lift(lifted, tick);
  deadlines.lift(lifted, tick);
  await other.expired;
  assertEquals(expired, 0);
});

Deno.test("A deadline may be added while others expire", async () => {
  const deadlines = new Deadlines();
  const second = deadline();
  deadlines.add({ expire: () => void deadlines.add(second, 1) }, 1);
  await second.expired;
});

Deno.test("clear() leaves no timer behind", () => {
  const deadlines = new Deadlines();
  deadlines.add(deadline(), 3_600_000);
  deadlines.clear();
  deadlines.add(deadline(), 3_600_000);
  deadlines.clear();
});
