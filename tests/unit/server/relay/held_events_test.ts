import { assertEquals } from "@std/assert";
import { holdEvents } from "./_held_events.ts";

const small = { event: "e", args: [{}] };
const large = { event: "e", args: ["x".repeat(2_000_000)] };

Deno.test("held events are handled in the order in which they came, with what waits besides them", () => {
  const { held } = holdEvents();
  const handled: string[] = [];
  assertEquals(held.take(small, () => handled.push("a")), true);
  assertEquals(held.hold(10, () => handled.push("b")), true);
  held.after(() => handled.push("c"));
  assertEquals(held.take(small, () => handled.push("d")), true);
  assertEquals(handled, []);
  held.release();
  assertEquals(handled, ["a", "b", "c", "d"]);
});

Deno.test("held events are bounded in number", () => {
  const { held } = holdEvents();
  for (let i = 0; i < 64; i++) assertEquals(held.take(small, () => {}), true);
  assertEquals(held.take(small, () => {}), false);
});

Deno.test("held events are bounded in bytes, but a first one of any size fits", () => {
  const { held } = holdEvents();
  assertEquals(held.take(large, () => {}), true);
  assertEquals(held.take(small, () => {}), false);
});

Deno.test("held events of all connections of a principal have its share of the memory, until they are handled", () => {
  const { held, memory, owner } = holdEvents(3_000_000);
  owner.incompleteBytes = 2_000_000;
  assertEquals([held.take(large, () => {}), memory.usedBytes, owner.incompleteBytes], [false, 0, 2_000_000]);
  owner.incompleteBytes = 0;
  assertEquals(held.take(large, () => {}), true);
  assertEquals([memory.usedBytes >= 2_000_000, owner.incompleteBytes >= 2_000_000], [true, true]);
  held.release();
  assertEquals([memory.usedBytes, owner.incompleteBytes], [0, 0]);
});
