import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  currentBytes,
  deliverShort,
  PlainBytes,
  shortenStrings,
} from "../../../../src/server/engine/plain_text.ts";

const long = "y".repeat(300_000);

function shortened(json: string): string | undefined {
  return shortenStrings(Buffer.from(json))?.text;
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
  ];
  for (const json of invalid) {
    assertThrows(() => JSON.parse(shortened(json) ?? json), SyntaxError, undefined, json.slice(0, 5));
  }
});

Deno.test("shortenStrings() counts escapes, and cuts no escape in two", () => {
  const escape = '\\u00e9\\n\\"\\\\';
  for (let shift = 0; shift < 12; shift++) {
    const json = `["${"x".repeat(shift)}${escape.repeat(30_000)}",{"a":["${escape}"]}]`;
    const short = shortenStrings(Buffer.from(json));
    assertEquals(short?.escapes, 4 * 30_001);
    const [first, second] = JSON.parse(json);
    const [cut, rest] = JSON.parse(short?.text ?? "");
    assert(first.startsWith(cut) && (short?.text.length ?? 0) < 2_200);
    assertEquals(rest, second);
  }
});

Deno.test("shortenStrings() leaves bytes to the parser that have many strings, or escapes that are none", () => {
  const escapes = ["\\x", "\\u12g4", "\\u123", "\\u 123", "\\N", "\\'"];
  for (const escape of escapes) assertEquals(shortened(`["${long}${escape}"]`), undefined, escape);
  assertEquals(shortened(`["${long}\\`), undefined);
  assertEquals(shortened(`[\\n"${long}"]`), undefined);
  assertEquals(shortened(JSON.stringify(Array(5_000).fill("x"))), undefined);
});

Deno.test("deliverShort() delivers long messages that are relayed, and keeps their bytes meanwhile", () => {
  const delivered: unknown[] = [];
  const deliver = (text: string) =>
    deliverShort(Buffer.from(text), text.length, (short) => {
      delivered.push(short.length < 5_000, currentBytes()?.toString() === text.slice(1));
    });
  assert(deliver(`42/smcp,7["client:x",{"text":"${long}"}]`));
  assert(deliver(`43/smcp,7["${long}"]`));
  for (
    const text of [
      `40/smcp,{"token":"${long}"}`,
      `42["x","${long}"]`,
      '42/smcp,["client:x",{}]',
      `451-/smcp,["${long}"]`,
    ]
  ) {
    assert(!deliver(text), text.slice(0, 10));
  }
  assertEquals(delivered, [true, true, true, true]);
  const message = Buffer.from(`43/smcp,7["${long}"]`);
  const fail = () => {
    throw new RangeError("A listener failed");
  };
  assertThrows(() => deliverShort(message, message.length, fail), RangeError);
  assertEquals(currentBytes(), undefined);
});

Deno.test("PlainBytes cannot be read after they were released", () => {
  const bytes = new PlainBytes(Buffer.from("abcdef"), { start: 1, end: 5 });
  const rest = bytes.from(2);
  assertEquals([bytes.toString(), rest.toString(), rest.length], ["bcde", "de", 2]);
  rest.release();
  rest.release();
  assertThrows(() => rest.view, TypeError);
});
