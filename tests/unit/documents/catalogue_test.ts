/** Proves that the catalogue reads each version of a file. */
import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { DocumentCatalogue } from "../../../src/documents/catalogue.ts";
import { FileFilter } from "../../../src/documents/folder/rules.ts";
import { FileTree } from "../../../src/documents/folder/tree.ts";
import type { DocumentFacts } from "../../../src/documents/formats/format.ts";
import { type ParsableFile, ParserPool } from "../../../src/documents/parsing/pool.ts";
import { silentLogger } from "../../../src/log.ts";
import { eventually } from "../../fixtures/within.ts";

/** Answers when the test says so. */
class HeldPool extends ParserPool {
  readonly asked: { readonly key: string; readonly answer: (facts: DocumentFacts) => void }[] = [];

  constructor() {
    const bytes = 1024 * 1024;
    super({
      processes: 1,
      timeMs: 1_000,
      maxMemoryBytes: bytes,
      maxFileBytes: bytes,
      maxUnpackedBytes: bytes,
      maxPageBytes: bytes,
      maxDepth: 10,
    });
  }

  override facts({ key }: ParsableFile): Promise<DocumentFacts> {
    const { promise, resolve } = Promise.withResolvers<DocumentFacts>();
    this.asked.push({ key, answer: resolve });
    return promise;
  }
}

function titled(title: string): DocumentFacts {
  return { title, pageCount: 1, headings: [], opening: "", losses: [] };
}

Deno.test("a file that changes while it is read is read again", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await using pool = new HeldPool();
  const tree = new FileTree([root], { filter: new FileFilter(), maxFiles: 10, logger: silentLogger });
  await using catalogue = new DocumentCatalogue({
    host: "local.documents",
    tree,
    pool,
    store: undefined,
    logger: silentLogger,
    maxFileBytes: 1024,
    concurrency: 1,
  });
  try {
    await Deno.writeTextFile(join(root, "a.md"), "# One");
    await catalogue.apply(await tree.refresh());
    await Deno.writeTextFile(join(root, "a.md"), "# Another");
    await catalogue.apply(await tree.refresh());
    pool.asked[0]?.answer(titled("One"));
    await eventually(() => pool.asked.length, (count) => count === 2, "the second version to be read");
    pool.asked[1]?.answer(titled("Another"));
    await eventually(() => catalogue.list()[0]?.title, (title) => title === "Another", "the new title");
    assertEquals(catalogue.progress, { files: 1, unread: 0 });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
