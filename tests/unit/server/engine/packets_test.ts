import { assert, assertEquals, assertThrows } from "@std/assert";
import { MAX_RELAYED_DEPTH } from "../../../../src/json/json.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { Account, Budget, Holding } from "../../../../src/server/engine/budget.ts";
import { createBoundedParser } from "../../../../src/server/engine/packets.ts";
import { RelayedText } from "../../../../src/server/engine/long_text.ts";
import { checkArguments, RawAnswer, RawRequest } from "../../../../src/server/engine/raw.ts";
import { cutPacket } from "./_long_text.ts";

const MIB = 1024 * 1024;
const owner = { incompleteBytes: 0 };
const memory = new Budget(4 * MIB);
const { Decoder } = createBoundedParser({
  maxPayloadBytes: MIB,
  openHolding() {
    const account = new Account(memory);
    account.assignTo(owner);
    return new Holding(account);
  },
});

/** Decodes a packet, and returns its arguments. */
function decode(text: string | RelayedText, attachment?: Uint8Array): readonly unknown[] {
  const decoder = new Decoder();
  let data: readonly unknown[] = [];
  decoder.on("decoded", ({ data: values }) => data = Array.isArray(values) ? values : []);
  decoder.add(text);
  if (data.length === 0 && attachment !== undefined) decoder.add(attachment);
  return data;
}

function decodeRequest(members: string): RawRequest {
  const [, body] = decode(`2/smcp,7["client:x",{"computer":"c",${members}}]`);
  assert(body instanceof RawRequest);
  return body;
}

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
/** The list of arguments and the body. */
const OUTER_LEVELS = 2;

for (const [what, after] of [["", ""], [" in a member that a later one of that name overrides", ',"x":1']]) {
  Deno.test(`A request may have ${MAX_RELAYED_DEPTH} levels, and not one more${what}`, () => {
    const levels = MAX_RELAYED_DEPTH - OUTER_LEVELS;
    assertEquals(decodeRequest(`"x":${deep(levels)}${after}`).isTooDeep, false);
    assertEquals(decodeRequest(`"x":${deep(levels + 1)}${after}`).isTooDeep, true);
  });
}

Deno.test("An answer that is nested too deep is not passed on, nor one that overrides such a member", () => {
  const nested = deep(MAX_RELAYED_DEPTH + 1);
  for (const answer of [nested, `{"x":${nested},"x":1}`]) {
    const [error] = decode(`3/smcp,7[${answer}]`);
    assert(error instanceof SmcpError);
    assertEquals(error.code, 413);
  }
  assert(decode(`3/smcp,7[${JSON.stringify(nested)}]`)[0] instanceof RawAnswer);
});

Deno.test("What is passed on as a value has no more levels: with attachments, an escaped name, or a long id", () => {
  const packet = (levels: number) => ({
    "an escaped name": `2/smcp,7["client\\u003ax",${deep(levels)}]`,
    "a long id": `2/smcp,${"1".repeat(16)}["client:x",${deep(levels)}]`,
    "an answer with a long id": `3/smcp,${"1".repeat(16)}[${deep(levels)}]`,
    "an attachment": `51-/smcp,7["client:x",${deep(levels)},{"_placeholder":true,"num":0}]`,
    "an answer with an attachment": `61-/smcp,7[${deep(levels)},{"_placeholder":true,"num":0}]`,
  });
  const isRefused = (text: string) => {
    const values = decode(text, new Uint8Array(1_000));
    return values.some((value) => value instanceof SmcpError && value.code === 413);
  };
  const levels = MAX_RELAYED_DEPTH - 1;
  for (const [what, text] of Object.entries(packet(levels))) assertEquals(isRefused(text), false, what);
  for (const [what, text] of Object.entries(packet(levels + 1))) assertEquals(isRefused(text), true, what);
});

Deno.test("Bytes take a level of what is passed on, since an object takes their place in the JSON", () => {
  const packet = (levels: number) => {
    const placeholder = '{"_placeholder":true,"num":0}';
    return `51-/smcp,7["client:x",${"[".repeat(levels)}${placeholder}${"]".repeat(levels)}]`;
  };
  const isRefused = (levels: number) => decode(packet(levels), new Uint8Array(8))[1] instanceof SmcpError;
  // Further levels: the list of arguments, and the object.
  assertEquals([MAX_RELAYED_DEPTH - 2, MAX_RELAYED_DEPTH - 1].map(isRefused), [false, true]);
});

Deno.test("A number beyond the range of a double becomes null, wherever it is", () => {
  const nines = "9".repeat(309);
  for (const number of ["1e999", "-1E+400", "1e0400", nines, `${"9".repeat(250)}e99`]) {
    assertEquals(decodeRequest(`"x":${number}`).json, '["client:x",{"computer":"c","x":null}]');
    assertEquals(decodeRequest(`"x":${number},"x":1`).json, '["client:x",{"computer":"c","x":1}]');
  }
});

Deno.test("The text of a request stays as it came", () => {
  const members = '"x": 1.50, "y":[1e2,1e-999,"\\"1e999"], "y":"\\u0041\\\\", "z": -9.9e+307 ';
  const text = `["client:x",{"computer":"c",${members}}]`;
  assertEquals(decodeRequest(members).json, text);
});

Deno.test("What has come of a packet with attachments counts until it is complete, or its connection has ended", () => {
  const decoder = new Decoder();
  let decoded: unknown;
  decoder.on("decoded", ({ data }) => decoded = data);
  const text = '52-/smcp,["x",{"_placeholder":true,"num":1},{"_placeholder":true,"num":0}]';
  const first = new Uint8Array(MIB / 2);
  decoder.add(text);
  decoder.add(first);
  assertEquals([memory.usedBytes, owner.incompleteBytes], Array(2).fill(text.length + first.length));
  const last = new Uint8Array(8);
  decoder.add(last);
  assertEquals([decoded, memory.usedBytes, owner.incompleteBytes], [["x", last, first], 0, 0]);
  decoder.add(text);
  decoder.add(first);
  decoder.destroy();
  assertEquals([memory.usedBytes, owner.incompleteBytes], [0, 0]);
});

Deno.test("A packet with attachments that find no room is refused, and takes none of it", () => {
  const [other, decoder] = [new Decoder(), new Decoder()];
  for (const each of [other, decoder]) {
    each.add('52-/smcp,["x",{"_placeholder":true,"num":0},{"_placeholder":true,"num":1}]');
  }
  other.add(new Uint8Array(MIB - 1_000));
  const { usedBytes } = memory;
  assertThrows(() => decoder.add(new Uint8Array(100_000)), SmcpError, "maxMessageMemoryBytes");
  assert(memory.usedBytes < usedBytes);
  assertThrows(() => other.add("2/smcp,[1]"), RangeError);
  other.destroy();
  assertEquals([memory.usedBytes, owner.incompleteBytes], [0, 0]);
});

/** A long text without the type of its Engine.IO packet. */
function longText(text: string): RelayedText {
  const long = cutPacket(`4${text}`);
  assert(long !== undefined);
  return long;
}

Deno.test("A long request or answer is passed on as its bytes, and the members for routing are read", () => {
  const args = `["client:x",{"computer":"c","text":"${"\\n中".repeat(10_000)}","agent":"a"}]`;
  const [event, body] = decode(longText(`2/smcp,7${args}`));
  assert(body instanceof RawRequest && body.content instanceof RelayedText);
  assertEquals([event, body.json, body.size], ["client:x", args, new TextEncoder().encode(args).length]);
  assertEquals(body.fields, { agent: "a", computer: "c", req_id: undefined });
  const answer = `[{"content":"${"y".repeat(20_000)}"}]`;
  const [raw] = decode(longText(`3/smcp,7${answer}`));
  assert(raw instanceof RawAnswer && raw.content instanceof RelayedText);
  assertEquals(raw.json, answer);
});

Deno.test("A long text that no peer could parse is refused, one that may cost too much is weighed whole", () => {
  const long = "y".repeat(20_000);
  assertThrows(() => decode(longText(`2/smcp,7["client:x","${long}",]`)), SyntaxError);
  assertThrows(() => decode(longText(`2/smcp,7["client:x",${"1,".repeat(40)}"${long}"]`)), RangeError);
  const { length } = decode(longText(`2/smcp,7["client:x",{"x":[${"[],".repeat(50_000)}"${long}"]}]`));
  assertEquals(length, 2);
  const [answer] = decode(longText(`3/smcp,7[{"x":1e999,"text":"${long}"}]`));
  assert(answer instanceof RawAnswer);
  assertEquals(answer.json, `[{"x":null,"text":"${long}"}]`);
  const [other] = decode(longText(`2/smcp,7["server:x","${long}"]`));
  assertEquals(other, "server:x");
});

Deno.test("a text of millions of escapes is read as any other", () => {
  const { json, isTooDeep } = checkArguments(`["client:x","${"\\n".repeat(4_000_000)}",[[1]]]`, "");
  assertEquals([json, isTooDeep], ["", false]);
});
