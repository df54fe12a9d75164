import { assertEquals } from "@std/assert";
import { progressText } from "../../../../src/cli/answers/contents.ts";

Deno.test("progressText() is a percentage where the total is known", () => {
  assertEquals(progressText({ progress: 3, total: 10, message: "Compiling" }), "30 % (3 of 10)  Compiling");
  assertEquals(progressText({ progress: 42.345, total: 100 }), "42 %");
  assertEquals(progressText({ progress: 12, total: 10 }), "100 % (12 of 10)");
  assertEquals(progressText({ progress: -1, total: 3 }), "0 % (-1 of 3)");
  assertEquals(progressText({ progress: 1 / 3, message: "" }), "0.33");
});
