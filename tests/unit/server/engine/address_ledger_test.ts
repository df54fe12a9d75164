import { assertEquals } from "@std/assert";
import { AddressLedger } from "../../../../src/server/engine/address_ledger.ts";

function open(bounds: { readonly max: number; readonly maxPerAddress: number }) {
  const evicted: string[] = [];
  const clock = { nowMs: 0 };
  const ledger = new AddressLedger<string>({
    ...bounds,
    replaceableAfterMs: 1_000,
    evict: (entry) => evicted.push(entry),
    now: () => clock.nowMs,
  });
  return { ledger, evicted, clock };
}

Deno.test("add() keeps the bound of each address and the bound in all", () => {
  const { ledger } = open({ max: 3, maxPerAddress: 2 });
  assertEquals(["a", "b", "c"].map((entry) => ledger.add(entry, "10.0.0.1")), [true, true, false]);
  assertEquals(["d", "e"].map((entry) => ledger.add(entry, "10.0.0.2")), [true, false]);
  ledger.delete("a");
  assertEquals([ledger.add("f", "10.0.0.1"), ledger.hasPlace("10.0.0.3")], [true, false]);
});

Deno.test("add() takes the place of the oldest entry once that is old enough, of the same address first", () => {
  const { ledger, evicted, clock } = open({ max: 3, maxPerAddress: 2 });
  ledger.add("old", "10.0.0.2");
  ledger.add("a", "10.0.0.1");
  ledger.add("b", "10.0.0.1");
  clock.nowMs = 1_000;
  assertEquals(ledger.add("c", "10.0.0.1"), true);
  assertEquals(ledger.add("d", "10.0.0.3"), true);
  assertEquals(evicted, ["a", "old"]);
});

Deno.test("renew() makes an entry the newest", () => {
  const { ledger, evicted, clock } = open({ max: 2, maxPerAddress: 2 });
  ledger.add("a", "10.0.0.1");
  ledger.add("b", "10.0.0.1");
  clock.nowMs = 500;
  ledger.renew("a");
  clock.nowMs = 1_200;
  assertEquals([ledger.add("c", "10.0.0.1"), ledger.add("d", "10.0.0.1")], [true, false]);
  assertEquals(evicted, ["b"]);
});
