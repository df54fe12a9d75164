import { assertEquals } from "@std/assert";
import { shorten } from "../../../src/text/text.ts";

Deno.test("shorten() returns a short text unchanged, and marks a cut one", () => {
  assertEquals([shorten("four", 4), shorten("fives", 4)], ["four", "five…"]);
});

Deno.test("shorten() replaces half of an emoji", () => {
  assertEquals(shorten("abc😀", 4), "abc\ufffd…");
});
