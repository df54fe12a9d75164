import { assert, assertEquals, assertThrows } from "@std/assert";
import { LineDecoder } from "../../../../src/mcp/stdio/transport.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const strict = { encoding: "utf-8", encoding_error_handler: "strict" } as const;
const limits = { maxMessageBytes: 1_000, maxMessageValues: 1_000 };

Deno.test("lines are joined across chunks, and an incomplete one waits", () => {
  const text = "one\ntwo 😀\n\nthree";
  for (let size = 1; size < 8; size++) {
    const decoder = new LineDecoder(strict, limits);
    const lines: unknown[] = [];
    const all = bytes(text);
    for (let start = 0; start < all.length; start += size) {
      lines.push(...decoder.push(all.slice(start, start + size)).lines);
    }
    assertEquals(lines, ["one", "two 😀", ""], `chunks of ${size}`);
    assertEquals(decoder.push(bytes("!\n")).lines, ["three!"]);
  }
});

Deno.test("reusing the memory of a chunk does not change the lines that were read from it", () => {
  const decoder = new LineDecoder(strict, limits);
  const chunk = bytes("half");
  decoder.push(chunk);
  chunk.fill(0);
  assertEquals(decoder.push(bytes(" done\n")).lines, ["half done"]);
});

Deno.test("a line that cannot be decoded does not affect other lines", () => {
  const decoder = new LineDecoder(strict, limits);
  const { lines, undecodable } = decoder.push(new Uint8Array([0xff, 0x0a, 0x61, 0x0a]));
  assertEquals([lines, undecodable], [["a"], ["\ufffd"]]);
});

Deno.test("a replacement character that the server wrote itself is valid text", () => {
  const decoder = new LineDecoder(strict, limits);
  const invalid = new Uint8Array([...bytes("\ufffd"), 0xff, 0x0a]);
  assertEquals(decoder.push(bytes("a \ufffd b\n")), { lines: ["a \ufffd b"], undecodable: [] });
  assertEquals(decoder.push(invalid), { lines: [], undecodable: ["\ufffd\ufffd"] });
  const replacing = new LineDecoder({ ...strict, encoding_error_handler: "replace" }, limits);
  assertEquals(replacing.push(invalid).lines, ["\ufffd\ufffd"]);
});

Deno.test("a line over the limit is rejected before its end", () => {
  const decoder = new LineDecoder(strict, { ...limits, maxMessageBytes: 4 });
  assertEquals(decoder.push(bytes("1234\n")).lines, ["1234"]);
  decoder.push(bytes("123"));
  assertThrows(() => decoder.push(bytes("45")), RangeError, "more than 4 bytes");
});

Deno.test("a line with more values than the limit is rejected, whatever its texts contain", () => {
  const decoder = new LineDecoder(strict, { maxMessageBytes: 1_000, maxMessageValues: 7 });
  const text = '{"a":"[[[,,,,\\",,,,"}';
  assertEquals(decoder.push(bytes(`${text}\n[1,2,3,4]\n`)).lines, [text, "[1,2,3,4]"]);
  decoder.push(bytes("[1,2,3,"));
  assertThrows(() => decoder.push(bytes("4,5,6]")), RangeError, "more than 7 values");
});

Deno.test("a line in many pieces takes no more memory than its bytes", () => {
  const maxMessageBytes = 4 * 1024 * 1024;
  const decoder = new LineDecoder(strict, { maxMessageBytes, maxMessageValues: 1_000_000 });
  // Of this isolate, since other tests run in the same process.
  const usedBytes = () => Deno.memoryUsage().heapUsed + Deno.memoryUsage().external;
  const before = usedBytes();
  const piece = bytes("x");
  for (let count = 0; count < maxMessageBytes; count++) decoder.push(piece);
  assert(usedBytes() - before < 64 * 1024 * 1024);
  assertThrows(() => decoder.push(piece), RangeError);
});
