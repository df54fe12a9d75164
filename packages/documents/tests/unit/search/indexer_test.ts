import { assertEquals } from "@std/assert";
import { silentLogger } from "@a2c-smcp/sdk/base";
import type { FolderFile } from "../../../src/folder/tree.ts";
import { IndexDatabase } from "../../../src/index/database.ts";
import { type ParsableFile, ParserLimitError, ParserPool } from "../../../src/parsing/pool.ts";
import type { PageText } from "../../../src/search/terms.ts";
import { TextIndexer } from "../../../src/search/indexer.ts";
import { TextIndex } from "../../../src/search/text_index.ts";

/** Gives a page at a time; `readPage` tells how it goes. */
class PagePool extends ParserPool {
  constructor(readonly readPage: (key: string, page: number) => void) {
    const size = 1024 * 1024;
    super({
      ...{ processes: 1, timeMs: 1_000, maxMemoryBytes: size, maxFileBytes: size },
      ...{ maxUnpackedBytes: size, maxPageBytes: size, maxDepth: 10 },
    });
  }

  override terms({ key }: ParsableFile, page: number): Promise<PageText[]> {
    try {
      this.readPage(key, page);
      return Promise.resolve([{ terms: ["word"] }]);
    } catch (error) {
      return Promise.reject(error);
    }
  }
}

function fileOf(docRef: string): FolderFile {
  return { docRef, kind: "text", root: "/r", path: docRef, size: 1, modifiedMs: 1, inode: 1 };
}

function indexerOf(index: TextIndex, pool: ParserPool): TextIndexer {
  return new TextIndexer({
    index,
    pool,
    logger: silentLogger,
    mustWait: () => false,
    toParse: ({ docRef }) => ({
      key: docRef,
      kind: "text",
      fileName: docRef,
      bytes: () => Promise.resolve(new Uint8Array()),
    }),
  });
}

const report = (pageCount: number) => ({ pageCount, keywords: [], losses: [] });

Deno.test("a file of slow pages lets all others be indexed first", async () => {
  using database = new IndexDatabase(undefined, silentLogger);
  const { now } = performance;
  using _clock = { [Symbol.dispose]: () => void (performance.now = now) };
  let slowMs = 0;
  performance.now = () => now.call(performance) + slowMs;
  const read: string[] = [];
  await using pool = new PagePool((key, page) => {
    read.push(`${key} ${page}`);
    if (key === "slow.pdf") slowMs += 5_000;
  });
  await using indexer = indexerOf(new TextIndex(database), pool);
  for (const [docRef, pages] of [["slow.pdf", 3], ["a.md", 2], ["b.md", 1]] as const) {
    indexer.enter(fileOf(docRef), report(pages));
  }
  await indexer.settled;
  assertEquals(read, ["slow.pdf 0", "a.md 0", "a.md 1", "b.md 0", "slow.pdf 1", "slow.pdf 2"]);
});

Deno.test("a file whose page exceeds a limit is given up in later runs, too, until it changes", async () => {
  using database = new IndexDatabase(undefined, silentLogger);
  const read: string[] = [];
  await using pool = new PagePool((_, page) => {
    read.push(`${page}`);
    if (page === 1) throw new ParserLimitError("time", { reason: "too slow" });
  });
  for (const size of [1, 1, 2]) {
    await using indexer = indexerOf(new TextIndex(database), pool);
    const file = { ...fileOf("a.pdf"), size };
    indexer.enter(file, report(3));
    await indexer.settled;
    assertEquals(indexer.isLeftOut(file), true);
  }
  assertEquals(read, ["0", "1", "0", "1"]);
});
