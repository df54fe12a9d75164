import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { BestFirst } from "../../../src/organizer/best_first.ts";

const ranks = fc.array(fc.oneof(fc.nat(5), fc.double({ noNaN: true }), fc.constant(-Infinity)));

// proves: guide-order-ties, desktop-priority-order, finder-modified-order
Deno.test("BestFirst keeps what a stable sort would put first", () => {
  fc.assert(fc.property(ranks, fc.oneof(fc.nat(12), fc.constant(Infinity)), (ranks, capacity) => {
    const best = new BestFirst<number>(capacity, (order) => ranks[order] ?? 0);
    for (const order of ranks.keys()) best.add(order);
    const sorted = ranks.map((rank, order) => ({ rank, order }))
      .sort((a, b) => a.rank === b.rank ? 0 : b.rank > a.rank ? 1 : -1)
      .map(({ order }) => order);
    assertEquals(best.slice(), sorted.slice(0, capacity));
    assertEquals(best.size, ranks.length);
  }));
});
