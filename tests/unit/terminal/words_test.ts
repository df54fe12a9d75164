import { assertEquals, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { quoteWord, readLineSoFar, splitWords } from "../../../src/terminal/words.ts";

Deno.test("splitWords() splits at any amount of white space", () => {
  assertEquals(splitWords("  server \t start files "), ["server", "start", "files"]);
  assertEquals(splitWords(""), []);
});

Deno.test("splitWords() keeps all characters between single quotes, such as JSON", () => {
  assertEquals(splitWords(String.raw`call echo '{"message":"a \"b\" c"}'`), [
    "call",
    "echo",
    String.raw`{"message":"a \"b\" c"}`,
  ]);
});

Deno.test("splitWords() reads escapes within double quotes, and quotes within words", () => {
  assertEquals(splitWords(String.raw`"a \"b\" \\ \n" x'y z'"w"`), [String.raw`a "b" \ \n`, "xy zw"]);
  assertEquals(splitWords(`'' ""`), ["", ""]);
});

Deno.test("splitWords() keeps a backslash before a plain character, as in C:\\dir", () => {
  assertEquals(splitWords(String.raw`C:\dir\file my\ server \'x \\ y\ `.trimEnd()), [
    String.raw`C:\dir\file`,
    "my server",
    "'x",
    "\\",
    "y\\",
  ]);
});

Deno.test("splitWords() names the unclosed quote", () => {
  assertThrows(() => splitWords("call echo '{}"), SyntaxError, "the quote ' is not closed");
  assertThrows(() => splitWords(`say "it's`), SyntaxError, `the quote " is not closed`);
});

Deno.test("readLineSoFar() returns the last word, unquoted and as written", () => {
  assertEquals(readLineSoFar("server st"), { words: ["server"], word: "st", written: "st", quote: "" });
  assertEquals(readLineSoFar("server "), { words: ["server"], word: "", written: "", quote: "" });
  assertEquals(readLineSoFar(`start "my se`), {
    words: ["start"],
    word: "my se",
    written: `"my se`,
    quote: '"',
  });
  assertEquals(readLineSoFar(`start 'my`), { words: ["start"], word: "my", written: "'my", quote: "'" });
  assertEquals(readLineSoFar("my\\ s"), { words: [], word: "my s", written: "my\\ s", quote: "" });
  assertEquals(readLineSoFar(`x"y z`), { words: [], word: "xy z", written: `x"y z`, quote: "" });
  assertEquals(readLineSoFar(`"done"`), { words: [], word: "done", written: `"done"`, quote: "" });
});

Deno.test("splitWords() reads back the words of quoteWord(), in any quotes", () => {
  const quotes = fc.constantFrom<"" | "'" | '"'>("", "'", '"');
  const word = fc.string({ unit: fc.constantFrom("a", " ", "\t", "'", '"', "\\", "é", "{", "$") });
  fc.assert(fc.property(fc.array(fc.tuple(word, quotes)), (pairs) => {
    const line = pairs.map(([word, quote]) => quoteWord(word, quote)).join(" ");
    assertEquals(splitWords(line), pairs.map(([word]) => word));
  }));
});
