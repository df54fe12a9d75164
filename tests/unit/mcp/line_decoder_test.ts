import { assertEquals, assertThrows } from "@std/assert";
import { LineDecoder } from "../../../src/mcp/line_decoder.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const strict = { encoding: "utf-8", encoding_error_handler: "strict" } as const;

Deno.test("lines are put together whatever the chunks, and an unfinished one waits", () => {
  const text = "one\ntwo 😀\n\nthree";
  for (let size = 1; size < 8; size++) {
    const decoder = new LineDecoder(strict, 1_000);
    const lines: string[] = [];
    const all = bytes(text);
    for (let start = 0; start < all.length; start += size) {
      lines.push(...decoder.push(all.slice(start, start + size)).lines);
    }
    assertEquals(lines, ["one", "two 😀", ""], `chunks of ${size}`);
    assertEquals(decoder.push(bytes("!\n")).lines, ["three!"]);
  }
});

Deno.test("a chunk whose memory is used again does not change what was read from it", () => {
  const decoder = new LineDecoder(strict, 1_000);
  const chunk = bytes("half");
  decoder.push(chunk);
  chunk.fill(0);
  assertEquals(decoder.push(bytes(" done\n")).lines, ["half done"]);
});

Deno.test("a line that cannot be decoded costs no other line", () => {
  const decoder = new LineDecoder(strict, 1_000);
  const { lines, undecodable } = decoder.push(new Uint8Array([0xff, 0x0a, 0x61, 0x0a]));
  assertEquals([lines, undecodable], [["a"], ["\ufffd"]]);
});

Deno.test("a line over the limit is refused before it is whole", () => {
  const decoder = new LineDecoder(strict, 4);
  assertEquals(decoder.push(bytes("1234\n")).lines, ["1234"]);
  decoder.push(bytes("123"));
  assertThrows(() => decoder.push(bytes("45")), RangeError, "Cannot read a line of more than 4 bytes");
});
