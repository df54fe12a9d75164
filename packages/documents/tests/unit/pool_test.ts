import { assertEquals, assertRejects } from "@std/assert";
import { type ParsableFile, ParserLimitError, ParserPool } from "../../src/parsing/pool.ts";

const MEBIBYTE = 1024 * 1024;

function textFile(key: string, pages: number): ParsableFile {
  const text = Array.from({ length: pages }, (_, page) => `page ${page}`).join("\f");
  return { key, kind: "text", fileName: `${key}.txt`, bytes: () => Promise.resolve(encode(text)) };
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function openPool(timeMs = 60_000): ParserPool {
  return new ParserPool({
    maxMemoryBytes: 512 * MEBIBYTE,
    maxFileBytes: MEBIBYTE,
    maxUnpackedBytes: MEBIBYTE,
    maxPageBytes: MEBIBYTE,
    maxDepth: 100,
    timeMs,
    processes: 1,
  });
}

Deno.test("files take turns, so that one of many pages does not hold up the others", async () => {
  await using pool = openPool();
  const order: string[] = [];
  const [long, short] = [textFile("long", 20), textFile("short", 1)];
  const read = async (file: ParsableFile, index: number) => {
    await pool.page(file, index);
    order.push(file.key);
  };
  await Promise.all([...Array.from({ length: 20 }, (_, index) => read(long, index)), read(short, 0)]);
  assertEquals(order.indexOf("short"), 1);
});

Deno.test("a disk that does not answer holds a process up for the time of a file alone", async () => {
  await using pool = openPool(4_000);
  const hung: ParsableFile = { ...textFile("hung", 1), bytes: () => new Promise(() => {}) };
  const refused = assertRejects(() => pool.facts(hung), ParserLimitError, "takes longer than 4 s");
  const { pageCount } = await pool.facts(textFile("other", 2));
  await refused;
  assertEquals(pageCount, 2);
});

Deno.test("a file whose parser was not made for hostile files shares its process with no other", async () => {
  await using pool = openPool();
  const bytes = await Deno.readFile(new URL("../fixtures/files/agreement.doc", import.meta.url));
  const opened: string[] = [];
  const counted = (file: ParsableFile): ParsableFile => ({
    ...file,
    bytes: () => {
      opened.push(file.key);
      return file.bytes();
    },
  });
  const word = (key: string) =>
    counted({ key, kind: "oldWord", fileName: "a.doc", bytes: () => Promise.resolve(bytes.slice()) });
  const [text, one, two] = [counted(textFile("text", 1)), word("one"), word("two")];
  // A process keeps what it has opened, so that a file that is opened again had lost its process.
  for (const file of [text, text, one, one, two, text, one]) await pool.page(file, 0);
  assertEquals(opened, ["text", "one", "two", "text", "one"]);
});
