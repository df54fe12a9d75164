import { assertEquals, assertThrows } from "@std/assert";
import { chooseEngine } from "../../../../src/server/engine/choose.ts";

Deno.test("chooseEngine() takes the given engine, whatever the environment says", () => {
  assertEquals(chooseEngine("ws"), "ws");
  assertEquals(chooseEngine("builtin"), "builtin");
});

Deno.test("chooseEngine() refuses an unknown engine", () => {
  assertThrows(() => chooseEngine("native"), TypeError, "builtin or ws");
});
