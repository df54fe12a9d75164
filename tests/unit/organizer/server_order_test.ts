import { assertEquals } from "@std/assert";
import { orderServers } from "../../../src/organizer/finder.ts";

// proves: desktop-server-recent, finder-server-recent
Deno.test("orderServers() puts the server used last first, each once, and only those asked for", () => {
  assertEquals(orderServers(["a", "b", "c"], ["c", "a", "x", "c", "b", "b"]), ["b", "c", "a"]);
});

// proves: desktop-server-rest, finder-server-rest
Deno.test("orderServers() orders the rest by code point", () => {
  assertEquals(orderServers(["\u{1F600}", "\uFF21", "b", "B", "10", "9"], []), [
    "10",
    "9",
    "B",
    "b",
    "\uFF21",
    "\u{1F600}",
  ]);
});
