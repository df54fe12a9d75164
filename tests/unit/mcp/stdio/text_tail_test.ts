import { assertEquals } from "@std/assert";
import { TextTail } from "../../../../src/mcp/stdio/text_tail.ts";

Deno.test("the end of a text is remembered, however it comes", () => {
  const tail = new TextTail(4);
  for (const text of ["ab", "c", "defgh", ""]) tail.push(text);
  assertEquals(tail.text, "efgh");
});
