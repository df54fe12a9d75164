import { assertEquals, assertRejects } from "@std/assert";
import { readLines } from "../../../src/async/lines.ts";

function read(chunks: readonly (string | Uint8Array)[], maxBytes = 100): Promise<string[]> {
  const bytes = chunks.map((chunk) => typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return Array.fromAsync(readLines(ReadableStream.from(bytes), maxBytes));
}

Deno.test("readLines() joins lines across chunks, also in the middle of a character", async () => {
  assertEquals(await read(["a", "b\nc", "\n\nd\n"]), ["ab", "c", "", "d"]);
  const bytes = new TextEncoder().encode("数据\n");
  assertEquals(await read([...bytes].map((byte) => Uint8Array.of(byte))), ["数据"]);
});

Deno.test("readLines() drops carriage returns at line ends, and takes a last line without a line feed", async () => {
  assertEquals(await read(["one\r", "\ntw", "o\n\nthree"]), ["one", "two", "", "three"]);
  assertEquals(await read(["one\n"]), ["one"]);
  assertEquals(await read([]), []);
});

Deno.test("readLines() refuses a line that is too long, and takes any number of lines", async () => {
  assertEquals((await read(Array.from({ length: 100 }, () => "0123456789\n"))).length, 100);
  await assertRejects(() => read(Array.from({ length: 11 }, () => "0123456789")), RangeError, "100 bytes");
});

Deno.test("readLines() takes a time that grows with the size of a line alone", async () => {
  const piece = "x".repeat(64 * 1024);
  const [line] = await read([...Array.from({ length: 800 }, () => piece), "\n"], Infinity);
  assertEquals(line?.length, 800 * piece.length);
});
