import { assertEquals } from "@std/assert";
import { TextTail } from "../../../src/mcp/text_tail.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { LogBook } from "../../fixtures/log_book.ts";

Deno.test("the end of a text is remembered, however it comes", () => {
  const tail = new TextTail(4);
  for (const text of ["ab", "c", "defgh", ""]) tail.push(text);
  assertEquals(tail.text, "efgh");
});

Deno.test("a warning is said once, and one with other fields is another", () => {
  const log = new LogBook();
  const once = new WarnOnce(log);
  for (let i = 0; i < 3; i++) {
    once.warn("odd", { uri: "a" });
    once.warn("odd", { uri: "b" });
  }
  assertEquals(log.lines.map(({ fields }) => fields["uri"]), ["a", "b"]);
});

Deno.test("only so many warnings are remembered: the oldest may be said again", () => {
  const log = new LogBook();
  const once = new WarnOnce(log);
  for (let i = 0; i <= 1_000; i++) once.warn(`w${i}`);
  once.warn("w1000");
  assertEquals(log.lines.length, 1_001);
  once.warn("w0");
  assertEquals(log.lines.length, 1_002);
});
