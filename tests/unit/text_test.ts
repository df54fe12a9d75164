import { assertEquals } from "@std/assert";
import { shorten } from "../../src/text.ts";

Deno.test("shorten() leaves a text that fits as it is, and marks one that does not", () => {
  assertEquals([shorten("four", 4), shorten("fives", 4)], ["four", "five…"]);
});

Deno.test("shorten() leaves no half of an emoji behind", () => {
  assertEquals(shorten("abc😀", 4), "abc\ufffd…");
});
