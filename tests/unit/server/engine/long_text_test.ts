import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "../../../fixtures/fast_check.ts";
import { payloadOf } from "../../../../src/server/engine/frame_writer.ts";
import { cutPacket } from "./_long_text.ts";

const long = "y".repeat(300_000);
/** The type of the Engine.IO packet, and what stands before the JSON. */
const HEAD = "42/smcp,";

function shortened(json: string): string | undefined {
  return cutPacket(HEAD + json)?.short.slice(HEAD.length - 1);
}

Deno.test("a RelayedText has all bytes of a message that is relayed, and its text with the long strings cut", () => {
  for (const packet of [`42/smcp,7["client:x",{"text":"${long}"}]`, `43/smcp,7["${long}"]`]) {
    const text = cutPacket(packet);
    assertEquals([text?.toString(), text?.byteLength], [packet.slice(1), packet.length - 1]);
    assert((text?.short.length ?? Infinity) < 6_300);
  }
  for (const packet of [`40/smcp,{"token":"${long}"}`, `42["x","${long}"]`, `451-/smcp,["${long}"]`]) {
    assertEquals(cutPacket(packet), undefined, packet.slice(0, 10));
  }
});

Deno.test("a RelayedText becomes the frame of another packet, whose head may be longer", () => {
  for (
    const [head, length] of [["3/smcp,1", 100], ["2/smcp,", 20_000], [
      "3/smcp,123456789012345",
      70_000,
    ]] as const
  ) {
    const json = `["${"é".repeat(length)}"]`;
    const text = cutPacket(`42/smcp,12${json}`)?.dropFront(9);
    assertEquals([text?.toString(), text?.byteLength], [json, Buffer.byteLength(json)]);
    const frame = text?.toFrame(head) ?? [];
    assertEquals(Buffer.from(payloadOf(frame)).toString(), `4${head}${json}`);
    assertEquals(frame[0]?.[0], 0x81);
  }
});

Deno.test("a cut text keeps the structure and the short strings", () => {
  const json = JSON.stringify(["client:x", { computer: "c", text: long, [long]: [1, long, { a: "b" }] }]);
  const [event, { computer, ...others }] = JSON.parse(shortened(json) ?? "");
  assertEquals([event, computer], ["client:x", "c"]);
  const cut = long.slice(0, 6_143);
  assertEquals(others, { text: cut, [cut]: [1, cut, { a: "b" }] });
});

Deno.test("no invalid JSON becomes valid", () => {
  const invalid = [
    `["${long}]`,
    `["${long}" "${long}"]`,
    `["${long}",]`,
    `{"${long}"}`,
    `["${long}"]]`,
    `[${long}]`,
    `[\\n"${long}"]`,
    `["${long}"\\n]`,
    `["${long}\\`,
  ];
  for (const json of invalid) {
    assertThrows(() => JSON.parse(shortened(json) ?? json), SyntaxError, undefined, json.slice(0, 5));
  }
});

Deno.test("no escape is cut in two", () => {
  const escape = '\\u00e9\\n\\"\\\\';
  for (let shift = 0; shift < 12; shift++) {
    const json = `["${"x".repeat(shift)}${escape.repeat(30_000)}",{"a":["${escape}"]}]`;
    const [first, second] = JSON.parse(json);
    const [kept, rest] = JSON.parse(shortened(json) ?? "");
    assert(first.startsWith(kept) && kept.length > 300);
    assertEquals(rest, second);
  }
});

Deno.test("a text with many strings, or with invalid characters or escapes, is not cut", () => {
  for (const escape of ["\\x", "\\u12g4", "\\u123", "\\u 123", "\\N", "\\'", "\n"]) {
    assertEquals(shortened(`["${long}${escape}"]`), undefined, escape);
  }
  assertEquals(shortened(JSON.stringify(Array(5_000).fill("x"))), undefined);
});

Deno.test("a cut text keeps all but the ends of long strings, in any language", () => {
  const part = fc.tuple(
    fc.constantFrom("x", "中", "é", '"', "\\", "\n", "\u0001", "😀", "\ud800"),
    fc.nat({ max: 40_000 }),
  );
  const text = fc.array(part, { maxLength: 4 }).map((parts) =>
    parts.map(([sign, count]) => sign.repeat(count)).join("")
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 4 }), (texts) => {
      const kept: unknown = JSON.parse(shortened(JSON.stringify(texts)) ?? "null");
      assert(Array.isArray(kept) && kept.length === texts.length);
      for (const [index, whole] of texts.entries()) {
        // A surrogate pair that is written as two escapes may be cut in two.
        assertEquals(whole.slice(0, kept[index].length), kept[index]);
        assert(kept[index].length === whole.length || kept[index].length >= 340);
      }
    }),
    { numRuns: 30 },
  );
});

Deno.test("the longest request id is kept whole, as characters or as escapes", () => {
  for (const sign of ["a", "中", "\\u4e2d"]) {
    const json = `["client:x",{"req_id":"${sign.repeat(1_024)}","text":"${long}"}]`;
    assertEquals(JSON.parse(shortened(json) ?? "")[1].req_id, JSON.parse(json)[1].req_id);
  }
});
