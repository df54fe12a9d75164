import { assertEquals } from "@std/assert";
import { type ParsableFile, ParserPool } from "../../../src/documents/parsing/pool.ts";

const MEBIBYTE = 1024 * 1024;

function textFile(key: string, pages: number): ParsableFile {
  const text = Array.from({ length: pages }, (_, page) => `page ${page}`).join("\f");
  return { key, kind: "text", fileName: `${key}.txt`, bytes: () => Promise.resolve(encode(text)) };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

Deno.test("files take turns, so that one of many pages does not hold up the others", async () => {
  await using pool = new ParserPool({
    maxMemoryBytes: 512 * MEBIBYTE,
    maxFileBytes: MEBIBYTE,
    maxUnpackedBytes: MEBIBYTE,
    maxPageBytes: MEBIBYTE,
    maxDepth: 100,
    timeMs: 60_000,
    processes: 1,
  });
  const order: string[] = [];
  const [long, short] = [textFile("long", 20), textFile("short", 1)];
  const read = async (file: ParsableFile, index: number) => {
    await pool.page(file, index);
    order.push(file.key);
  };
  await Promise.all([...Array.from({ length: 20 }, (_, index) => read(long, index)), read(short, 0)]);
  assertEquals(order.indexOf("short"), 1);
});
