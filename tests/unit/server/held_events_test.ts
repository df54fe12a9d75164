import { assertEquals } from "@std/assert";
import { HeldEvents } from "../../../src/server/held_events.ts";

Deno.test("held events come out in the order in which they came in", () => {
  const held = new HeldEvents();
  for (const event of ["a", "b", "c"]) assertEquals(held.take({ event, args: [{}] }), true);
  assertEquals([...held].map(({ event }) => event), ["a", "b", "c"]);
});

Deno.test("held events are bounded in number", () => {
  const held = new HeldEvents();
  for (let i = 0; i < 64; i++) assertEquals(held.take({ event: "e", args: [{}] }), true);
  assertEquals(held.take({ event: "e", args: [{}] }), false);
});

Deno.test("held events are bounded in bytes, but a first one of any size fits", () => {
  const held = new HeldEvents();
  assertEquals(held.take({ event: "e", args: ["x".repeat(2_000_000)] }), true);
  assertEquals(held.take({ event: "e", args: [{}] }), false);
});
