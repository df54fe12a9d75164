import { assertEquals } from "@std/assert";
import { holdEvents } from "./_held_events.ts";

Deno.test("held events come out in the order in which they came in", () => {
  const { held } = holdEvents();
  for (const event of ["a", "b", "c"]) assertEquals(held.take({ event, args: [{}] }), true);
  assertEquals(held.takeAll().map(({ event }) => event), ["a", "b", "c"]);
});

Deno.test("held events are bounded in number", () => {
  const { held } = holdEvents();
  for (let i = 0; i < 64; i++) assertEquals(held.take({ event: "e", args: [{}] }), true);
  assertEquals(held.take({ event: "e", args: [{}] }), false);
});

Deno.test("held events are bounded in bytes, but a first one of any size fits", () => {
  const { held } = holdEvents();
  assertEquals(held.take({ event: "e", args: ["x".repeat(2_000_000)] }), true);
  assertEquals(held.take({ event: "e", args: [{}] }), false);
});

Deno.test("held events of all connections of a principal have its share of the memory, until they are taken out", () => {
  const { held, memory, owner } = holdEvents(3_000_000);
  owner.incompleteBytes = 2_000_000;
  const large = { event: "e", args: ["x".repeat(2_000_000)] };
  assertEquals([held.take(large), memory.usedBytes, owner.incompleteBytes], [false, 0, 2_000_000]);
  owner.incompleteBytes = 0;
  assertEquals(held.take(large), true);
  assertEquals([memory.usedBytes >= 2_000_000, owner.incompleteBytes >= 2_000_000], [true, true]);
  assertEquals(held.takeAll(), [large]);
  assertEquals([memory.usedBytes, owner.incompleteBytes], [0, 0]);
});
