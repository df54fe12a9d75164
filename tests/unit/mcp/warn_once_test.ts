import { assertEquals } from "@std/assert";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { LogBook } from "../../fixtures/log_book.ts";

Deno.test("a warning is logged once, and one with other fields is another warning", () => {
  const log = new LogBook();
  const once = new WarnOnce(log);
  for (let i = 0; i < 3; i++) {
    once.warn("odd", { uri: "a" });
    once.warn("odd", { uri: "b" });
  }
  assertEquals(log.lines.map(({ fields }) => fields["uri"]), ["a", "b"]);
});

Deno.test("a bounded number of warnings is remembered: the oldest may be logged again", () => {
  const log = new LogBook();
  const once = new WarnOnce(log);
  for (let i = 0; i <= 1_000; i++) once.warn(`w${i}`);
  once.warn("w1000");
  assertEquals(log.lines.length, 1_001);
  once.warn("w0");
  assertEquals(log.lines.length, 1_002);
});
