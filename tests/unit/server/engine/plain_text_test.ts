import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import { takeBuffer } from "../../../../src/server/engine/buffers.ts";
import {
  currentBytes,
  currentScan,
  deliverScanned,
  deliverShort,
  PlainBytes,
} from "../../../../src/server/engine/plain_text.ts";
import { TextScan } from "../../../../src/server/engine/text_scan.ts";

const long = "y".repeat(300_000);

Deno.test("deliverShort() delivers long messages that are relayed, and keeps their bytes meanwhile", () => {
  const delivered: unknown[] = [];
  const deliver = (text: string) =>
    deliverShort(Buffer.from(`${text}what an earlier message left`), { end: text.length }, (short) => {
      delivered.push(
        short.length < 5_000 && short.endsWith("]"),
        currentBytes()?.toString() === text.slice(1),
      );
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
  assertThrows(() => deliverShort(message, { end: message.length }, fail), RangeError);
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

Deno.test("PlainBytes take a head in front of them, as far as there is room", () => {
  const buffer = takeBuffer(100);
  buffer.write("42/smcp,123[4]");
  const head = Buffer.from("a head that is longer than what it replaces: ");
  const bytes = new PlainBytes(buffer, { start: 1, end: 14 }).from(10);
  assertEquals(bytes.behind(head)?.toString(), `${head}[4]`);
  assertEquals(bytes.toString(), "[4]");
  assertEquals(bytes.behind(Buffer.alloc(1_000)), undefined);
  const other = Buffer.from("xxabcdef").subarray(2);
  const foreign = new PlainBytes(other, { start: 1, end: 5 });
  assertEquals(foreign.behind(Buffer.from("12")), undefined);
  assertEquals(foreign.behind(Buffer.from("1"))?.toString(), "1bcde");
  bytes.release();
  assertThrows(() => bytes.behind(head), TypeError);
});

Deno.test("currentScan() is that of the packet that is being delivered, and of no other", () => {
  const scan = TextScan.begin();
  assert(scan !== undefined);
  const text = '2/smcp,["x"]';
  scan.read(Buffer.from(text), { target: Buffer.alloc(text.length), start: 0, mask: 0 });
  assertEquals(deliverScanned(scan, () => [currentScan(text), currentScan("another")]), [scan, undefined]);
  assertEquals(currentScan(text), undefined);
  const fail = () => {
    throw new RangeError("A listener failed");
  };
  assertThrows(() => deliverScanned(scan, fail), RangeError);
  assertEquals(currentScan(text), undefined);
});
