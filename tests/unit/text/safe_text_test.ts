import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import {
  escapeUnreadable,
  inWrittenOrder,
  printable,
  printableLine,
  toFence,
  toSafeJson,
  toSafeLine,
  toSeenJson,
  toSeenLine,
  toSeenName,
  toSeenParts,
  toSeenPath,
  withoutSequences,
} from "../../../src/text/safe_text.ts";

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

/** Each of them hides, reorders, ends a line or controls a terminal. */
const HOSTILE = [
  ..."\u0000\u0007\u001b\u007f\u0085\u009b\u00ad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f",
  ..."\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2062\u2064\u2066\u2067\u2068\u2069\u206a",
  ..."\u2800\u3164\ufe00\ufe0e\ufe0f\ufeff\uffa0\ufff9\u{e0001}\u{e0041}\u{e007f}\u{e0100}\u{e01ef}\u{1d173}\ud800",
];
/** Emoji, and words of scripts whose joiners and marks are part of how they look. */
const READABLE = [
  ...["👩‍👩‍👧", "❤️", "1️⃣", "🏳️‍🌈", "👋🏽", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "🇩🇪"],
  ...[
    "می‌خواهم",
    "क्‍ष",
    "ශ්‍රී",
    "ന്‍റെ",
    "שָׁלוֹם",
    "مَرْحَبًا",
    "สวัสดี",
    "Việt Nam",
    "e\u0301",
    "漢字　かな",
    "Prix\u00a0: 5\u202f€",
  ],
];

Deno.test("every way to a screen shows characters that hide, reorder or end a line", () => {
  const ways = [
    printable,
    escapeUnreadable,
    printableLine,
    withoutSequences,
    toSafeLine,
    toSafeJson,
    toSeenJson,
  ];
  for (const way of [...ways, toSeenLine, toSeenName, toFence]) {
    for (const bad of HOSTILE) {
      const shown = way(`a${bad}b`);
      assertNotMatch(
        shown,
        /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--\n]/v,
        way.name,
      );
    }
  }
});

Deno.test("emoji and the words of all scripts stay as they are where they are read", () => {
  for (const text of READABLE) {
    for (const way of [printable, escapeUnreadable]) assertEquals(way(text), text);
    assertEquals(JSON.parse(toSafeJson([text])), [text]);
    assertEquals(toSeenLine(text), `"${text.replaceAll(/[\u00a0\u202f\u3000]/g, " ")}"`);
  }
});

Deno.test("joiners and selectors stay only where they change what is seen", () => {
  for (
    const text of [
      "a\u200db",
      "ab\ufe0f",
      "1\ufe0f2",
      "م\u200c ",
      "漢\u{e0100}",
      "🏴\u{e0041}\u{e007f}",
      "❤\ufe0f\ufe0f",
    ]
  ) {
    assertMatch(escapeUnreadable(text), /\\u/, JSON.stringify(text));
  }
  assertMatch(escapeUnreadable(`a${"\u0338".repeat(9)}`), /^a\u0338{4}(?:\\u0338){5}$/);
});

Deno.test("toSeenLine() is one bounded line in quotes, which the text cannot end", () => {
  assertEquals(toSeenLine('a"\r\n\r\n# Rules\t\\'), '"a\\" # Rules \\\\"');
  assertEquals(toSeenLine("x".repeat(10), 4), '"xxxx…" (6 more characters)');
  assertEquals(toSeenLine("👩👩", 3), '"👩\\ud83d…" (1 more character)');
});

Deno.test("toSeenName() keeps names apart that a line would join, and their order", () => {
  assertEquals(toSeenName("build\u00a0server"), '"build\\u00a0server"');
  assertEquals(toSeenName("a  b\n"), '"a  b\\n"');
  assertEquals(printable(inWrittenOrder(inWrittenOrder(toSeenName("\u05d0")))), '"\u200e\u05d0\u200e"');
});

Deno.test("toFence() keeps lines, and is longer than any fence within the text", () => {
  assertEquals(toFence("a\r\n```\nb\u2028````c"), "`````\na\n```\nb\\u2028````c\n`````");
  assertEquals(toFence(""), "");
});

Deno.test("toSeenParts() tells escapes from text that only looks like one, and keeps lines and tabs", () => {
  assertEquals(toSeenParts("a\n\tb\\u202e\u202e\u200bc"), [
    { text: "a\n\tb\\u202e", isEscape: false },
    { text: "\\u202e\\u200b", isEscape: true },
    { text: "c", isEscape: false },
  ]);
});

Deno.test("toSeenPath() keeps spaces, in quotes that the path cannot end, and escapes what is no sign", () => {
  assertEquals(
    ["a/b.txt", "Contract Miller.docx", 'a" b\n.txt', "50%20.txt"].map(toSeenPath),
    ["a/b.txt", '"Contract Miller.docx"', '"a%22 b%0A.txt"', "50%20.txt"],
  );
});
