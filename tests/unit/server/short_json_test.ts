import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { shortenStrings } from "../../../src/server/short_json.ts";

const long = "y".repeat(300_000);

function shortened(json: string): string | undefined {
  return shortenStrings(json)?.text;
}

Deno.test("shortenStrings() keeps the structure and the short strings of a text", () => {
  const json = JSON.stringify(["client:x", { computer: "c", text: long, [long]: [1, long, { a: "b" }] }]);
  const short = shortened(json) ?? "";
  assert(short.length < 7_000);
  const [event, { computer, ...others }] = JSON.parse(short);
  assertEquals([event, computer], ["client:x", "c"]);
  const cut = long.slice(0, 2_047);
  assertEquals(others, { text: cut, [cut]: [1, cut, { a: "b" }] });
});

Deno.test("shortenStrings() makes no invalid JSON valid", () => {
  const invalid = [
    `["${long}]`,
    `["${long}" "${long}"]`,
    `["${long}",]`,
    `{"${long}"}`,
    `["${long}"]]`,
    `[${long}]`,
    `[\\n"${long}"]`,
    `["${long}"\\n]`,
  ];
  for (const json of invalid) {
    assertThrows(() => JSON.parse(shortened(json) ?? json), SyntaxError, undefined, json.slice(0, 5));
  }
});

Deno.test("shortenStrings() cuts no escape in two", () => {
  const escape = '\\u00e9\\n\\"\\\\';
  for (let shift = 0; shift < 12; shift++) {
    const json = `["${"x".repeat(shift)}${escape.repeat(30_000)}",{"a":["${escape}"]}]`;
    const short = shortenStrings(json);
    assertEquals(short?.hasEscapes, true);
    const [first, second] = JSON.parse(json);
    const [cut, rest] = JSON.parse(short?.text ?? "");
    assert(first.startsWith(cut) && (short?.text.length ?? 0) < 2_200);
    assertEquals(rest, second);
  }
});

Deno.test("shortenStrings() gives up for many strings, and for invalid characters and escapes", () => {
  const escapes = ["\\x", "\\u12g4", "\\u123", "\\u 123", "\\N", "\\'"];
  for (const escape of escapes) assertEquals(shortened(`["${long}${escape}"]`), undefined, escape);
  assertEquals(shortened(`["${long}\\`), undefined);
  assertEquals(shortened(`["${long}\n"]`), undefined);
  assertEquals(shortened(JSON.stringify(Array(5_000).fill("x"))), undefined);
});

Deno.test("shortenStrings() keeps all but the ends of long strings, in any language and across pieces", () => {
  const part = fc.tuple(
    fc.constantFrom("x", "中", "é", '"', "\\", "\n", "\u0001", "😀", "\ud800"),
    fc.nat({ max: 40_000 }),
  );
  const text = fc.array(part, { maxLength: 4 }).map((parts) =>
    parts.map(([sign, count]) => sign.repeat(count)).join("")
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), (texts) => {
      const short = shortenStrings(JSON.stringify(texts));
      const cut: unknown = JSON.parse(short?.text ?? "null");
      assert(Array.isArray(cut) && cut.length === texts.length);
      for (const [index, whole] of texts.entries()) {
        assert(whole.startsWith(cut[index]) || isHalfOf(cut[index], whole));
        assert(cut[index].length === whole.length || cut[index].length >= 340);
      }
    }),
    { numRuns: 30 },
  );
});

/** A surrogate pair that is written as two escapes may be cut in two. */
function isHalfOf(cut: string, whole: string): boolean {
  return whole.slice(0, cut.length) === cut;
}
