import { assertEquals, assertMatch } from "@std/assert";
import {
  inWrittenOrder,
  printable,
  printableLine,
  toSafeJson,
  toSafeLine,
  toSeenJson,
  withoutSequences,
} from "../../../src/terminal/safe_text.ts";

Deno.test("printable() replaces control characters", () => {
  assertEquals(printable("a\u001b[31mb\u0007\tc\r\nd"), "a�[31mb�\tc\nd");
  assertEquals(printable("\u009b2J\u0085\u007f\rover"), "�2J���over");
});

Deno.test("printable() replaces characters that reorder text, and keeps joiners", () => {
  assertEquals(printable("safe\u202etxt.exe"), "safe�txt.exe");
  assertEquals(printable("👩‍👩‍👧 e\u0301"), "👩‍👩‍👧 e\u0301");
  assertEquals(printable("\ud800"), "\ufffd");
});

Deno.test("printableLine() replaces all line ends", () => {
  assertEquals(printableLine("Report\n    dpe://evil\u2028x"), "Report     dpe://evil x");
});

Deno.test("withoutSequences() removes whole escape sequences: colors, movements, titles, links", () => {
  assertEquals(withoutSequences("\u001b[1;31mred\u001b[0m and \u001b[2J\u001b[Hclear"), "red and clear");
  assertEquals(withoutSequences("\u001b]0;title\u0007a\u001b]8;;https://x\u001b\\b\u001b]8;;\u001b\\"), "ab");
  assertEquals(withoutSequences("\u001bPq#0\u001b\\sixel\u001b(B\u009b31mc1\u009d0;t\u009c."), "sixelc1.");
});

Deno.test("withoutSequences() replaces the control characters of broken sequences", () => {
  const hostile = [
    "\u001b[",
    "\u001b]0;no end",
    "\u001b\u001b[[31m",
    "\u001b[3\u001b[1m1m",
    "a\u0000\u0008\u000d",
  ];
  for (const text of hostile) {
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    assertMatch(withoutSequences(text), /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$/);
  }
});

Deno.test("toSafeLine() is one line with single spaces", () => {
  assertEquals(toSafeLine("  a\n\n b\u001b[31m\tc\u2029d "), "a b c d");
});

Deno.test("toSafeJson() escapes control characters and keeps the value", () => {
  const value = { a: "\u001b[31m\u009b2J\u007f\u202e", b: [1, null] };
  const json = toSafeJson(value);
  assertEquals(json, `{"a":"\\u001b[31m\\u009b2J\\u007f\\u202e","b":[1,null]}`);
  assertEquals(JSON.parse(json), value);
  assertEquals(toSafeJson({ a: 1 }, 2), `{\n  "a": 1\n}`);
});

Deno.test("withoutSequences() keeps the text of an unterminated string", () => {
  assertEquals(withoutSequences("a\u001b]0;title b"), "a�]0;title b");
  assertEquals(withoutSequences("a\u009dtitle\u009d0;b\u0007c"), "a�titlec");
  assertEquals(withoutSequences(`a\u001b]0;${"x".repeat(5_000)}\u0007b`), `a�]0;${"x".repeat(5_000)}�b`);
  assertEquals(withoutSequences("a\u001bP"), "a�P");
});

Deno.test("toSeenJson() escapes invisible characters and keeps the value", () => {
  const unseen =
    "\u{13441}\u{1d159}\u0000\u001b\u007f\u009d\u009c\u00a0\u00ad\u061c\u115f\u200b\u200e\u2028\u202e\u2066\u2800\u3164\ufeff";
  const value = { [unseen]: [unseen + "\ud800", "\u{e0041}\u{e000}", 1, null] };
  const json = toSeenJson(value);
  assertMatch(json, /^[\u0020-\u007e]+$/);
  assertEquals(JSON.parse(json), value);
  assertEquals(toSeenJson({ a: "äöü 漢字 \\u202e é" }), '{"a":"äöü 漢字 \\\\u202e é"}');
  assertEquals(toSeenJson(undefined), "null");
});

Deno.test("toSeenJson() writes different values differently", () => {
  const same = ["ls -la", "ls\u009d; evil #\u009c -la", "ls\u00a0-la", "ls\u200b -la", "ls \ud800-la"];
  assertEquals(new Set(same.map(toSeenJson)).size, same.length);
});

Deno.test("toSeenJson() escapes long gaps, and keeps short ones", () => {
  const text = `${" ".repeat(12)}x${" ".repeat(40)}Run it?`;
  const json = toSeenJson(text);
  assertEquals(json, `"${" ".repeat(12)}x${"\\u0020".repeat(40)}Run it?"`);
  assertEquals(JSON.parse(json), text);
});

Deno.test("inWrittenOrder() isolates right-to-left words", () => {
  assertEquals(
    inWrittenOrder('{"to":"\u05d0\u05d1 100 \u0645","n":5}'),
    '{"to":"\u200e\u05d0\u05d1\u200e 100 \u200e\u0645\u200e","n":5}',
  );
  assertEquals(inWrittenOrder('{"a":"äöü 漢字"}'), '{"a":"äöü 漢字"}');
});
