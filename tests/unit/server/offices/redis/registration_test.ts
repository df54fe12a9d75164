import { assertEquals, assertNotEquals } from "@std/assert";
import { keptMsOf, Lease } from "../../../../../src/server/offices/redis/registration.ts";

/** Clocks that a test sets. */
class Clocks {
  monotonic = 0;
  wall = 1_000_000;
  monotonicMs = () => this.monotonic;
  wallMs = () => this.wall;

  pass(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
  }
}

function open() {
  const clock = new Clocks();
  return { clock, lease: new Lease({ leaseMs: 6_000, clock }) };
}

const renew = (lease: Lease) => lease.renew(() => Promise.resolve(true));

Deno.test("a lease is held for its time from the moment in which its renewal was sent", async () => {
  const { clock, lease } = open();
  assertEquals(lease.isValid(), false);
  await lease.renew(() => {
    clock.pass(2_000);
    return Promise.resolve(true);
  });
  clock.pass(3_999);
  assertEquals(lease.isValid(), true);
  clock.pass(1);
  assertEquals(lease.isValid(), false);
});

Deno.test("a lease ends while the machine is suspended, when only the wall clock goes on", async () => {
  const { clock, lease } = open();
  await renew(lease);
  clock.wall += 6_000;
  assertEquals(lease.isValid(), false);
});

Deno.test("a wall clock that is set back makes no lease longer", async () => {
  const { clock, lease } = open();
  await renew(lease);
  clock.wall -= 3_600_000;
  clock.pass(5_999);
  assertEquals(lease.isValid(), true);
  clock.pass(1);
  assertEquals(lease.isValid(), false);
});

Deno.test("Redis keeps a lease for longer than its holder uses it, and each lease has a fence of its own", () => {
  assertEquals(keptMsOf(6_000) > 6_000, true);
  assertNotEquals(open().lease.fence, open().lease.fence);
});
