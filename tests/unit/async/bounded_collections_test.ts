import { assertEquals } from "@std/assert";
import { BoundedMap, BoundedSet } from "../../../src/async/bounded_collections.ts";

Deno.test("a full BoundedMap drops the key that was set longest ago", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("c", 3);
  assertEquals([...map], [["b", 2], ["c", 3]]);
});

Deno.test("a key that is set anew is the newest of a BoundedMap and drops no other", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2).set("a", 3);
  assertEquals([...map], [["b", 2], ["a", 3]]);
  assertEquals([...map.set("c", 4).keys()], ["a", "c"]);
});

Deno.test("a full BoundedSet drops the value that was added longest ago", () => {
  assertEquals([...new BoundedSet<string>(2).add("a").add("b").add("c")], ["b", "c"]);
});

Deno.test("a value that is added anew is the newest of a BoundedSet and drops no other", () => {
  const set = new BoundedSet<string>(2).add("a").add("b").add("a");
  assertEquals([...set], ["b", "a"]);
  assertEquals([...set.add("c")], ["a", "c"]);
});
