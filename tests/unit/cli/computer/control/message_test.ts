import { assertEquals, assertRejects } from "@std/assert";
import { readLines, toLine } from "../../../../../src/cli/computer/control/message.ts";

function read(chunks: readonly (string | Uint8Array)[], maxBytes = 100): Promise<string[]> {
  const bytes = chunks.map((chunk) => typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  return Array.fromAsync(readLines(ReadableStream.from(bytes), maxBytes));
}

Deno.test("readLines() joins what came in pieces, in the middle of a character, too", async () => {
  assertEquals(await read(["a", "b\nc", "\n\nd\n"]), ["ab", "c", "", "d"]);
  const line = toLine({ text: "数据" });
  assertEquals(await read([...line].map((byte) => Uint8Array.of(byte))), ['{"text":"数据"}']);
});

Deno.test("readLines() leaves out a line that never ended", async () => {
  assertEquals(await read(["a\nhal"]), ["a"]);
});

Deno.test("readLines() reads no line that is too long, but any number of lines", async () => {
  assertEquals((await read(Array.from({ length: 100 }, () => "0123456789\n"))).length, 100);
  await assertRejects(() => read(Array.from({ length: 11 }, () => "0123456789")), RangeError, "100 bytes");
});

Deno.test("readLines() takes a long line in time", async () => {
  const piece = "x".repeat(64 * 1024);
  const [line] = await read([...Array.from({ length: 800 }, () => piece), "\n"], Infinity);
  assertEquals(line?.length, 800 * piece.length);
});
