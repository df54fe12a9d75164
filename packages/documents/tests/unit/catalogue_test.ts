/** Proves that the catalogue reads each version of a file. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { DocumentCatalogue } from "../../src/catalogue.ts";
import { fileRefOf, FileTree } from "../../src/folder/tree.ts";
import { IndexDatabase } from "../../src/index/database.ts";
import { FileFilter } from "../../src/folder/rules.ts";
import type { DocumentFacts } from "../../src/formats/format.ts";
import type { PageText } from "../../src/search/terms.ts";
import { type ParsableFile, ParserLimitError, ParserPool } from "../../src/parsing/pool.ts";
import { silentLogger } from "@a2c-smcp/sdk/base";
import type { ReadRequest } from "@a2c-smcp/sdk/provider";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { TempFolder } from "../../../../tests/fixtures/temp_folder.ts";

/** Answers when the test says so. */
class HeldPool extends ParserPool {
  readonly database = new IndexDatabase(undefined, silentLogger);
  readonly asked: {
    readonly key: string;
    readonly answer: (facts: DocumentFacts) => void;
    readonly fail: (error: Error) => void;
  }[] = [];

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
    const { promise, resolve, reject } = Promise.withResolvers<DocumentFacts>();
    this.asked.push({ key, answer: resolve, fail: reject });
    return promise;
  }

  override terms(): Promise<PageText[]> {
    return Promise.resolve([{ terms: [] }]);
  }

  override async close(): Promise<void> {
    await super.close();
    this.database[Symbol.dispose]();
  }
}

function titled(title: string): DocumentFacts {
  return { title, pageCount: 1, headings: [], opening: "", losses: [] };
}

function catalogueOf(root: string, pool: HeldPool, firstReadMs?: number): DocumentCatalogue {
  return new DocumentCatalogue({
    host: "local.documents",
    tree: new FileTree([root], { filter: new FileFilter(), maxFiles: 10, logger: silentLogger }),
    pool,
    database: pool.database,
    logger: silentLogger,
    maxFileBytes: 1024,
    concurrency: 1,
    firstReadMs,
  });
}

/** A request of a client that waits until it is answered. */
const REQUEST: ReadRequest = {
  signal: new AbortController().signal,
  sessionId: undefined,
  authInfo: undefined,
};

Deno.test("a file that changes while it is read is read again", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await using catalogue = catalogueOf(root.path, pool);
  await Deno.writeTextFile(join(root.path, "a.md"), "# One");
  await catalogue.refresh();
  await Deno.writeTextFile(join(root.path, "a.md"), "# Another");
  await catalogue.refresh();
  pool.asked[0]?.answer(titled("One"));
  await eventually(() => pool.asked.length, (count) => count === 2, "the second version to be read");
  pool.asked[1]?.answer(titled("Another"));
  const titleNow = async () => (await catalogue.list(REQUEST))[0]?.title;
  await eventually(titleNow, (title) => title === "Another", "the new title");
  assertEquals(catalogue.progress, { files: 1, unread: 0 });
});

Deno.test("a file that changes again and again while it is read holds up no others", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await using catalogue = catalogueOf(root.path, pool);
  const log = join(root.path, "app.log");
  await Deno.writeTextFile(log, "1");
  await catalogue.refresh();
  await Deno.writeTextFile(log, "one and two");
  await catalogue.refresh();
  await Deno.writeTextFile(join(root.path, "b.md"), "# B");
  await catalogue.refresh();
  for (const [at, name] of ["app", "b", "c", "app"].entries()) {
    await eventually(() => pool.asked.length, (count) => count > at, "the next file to be read");
    const { key = "", answer } = pool.asked[at] ?? {};
    assert(key.startsWith(`${name}-`), key);
    if (at === 1) {
      await Deno.writeTextFile(log, "one, two and three");
      await catalogue.refresh();
      await Deno.writeTextFile(join(root.path, "c.md"), "# C");
      await catalogue.refresh();
    }
    // The text of others comes first as well.
    if (at === 3) {
      assertEquals((await catalogue.search("title", { signal: REQUEST.signal })).notIndexed, 1);
    }
    answer?.(titled("Title"));
  }
  await eventually(() => catalogue.progress.unread, (unread) => unread === 0, "all to be read");
});

Deno.test("a search in one document reads it before others, and says of it alone that it waits", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await using catalogue = catalogueOf(root.path, pool);
  for (const name of ["a.md", "b.md", "c.md"]) await Deno.writeTextFile(join(root.path, name), "# Plan");
  await catalogue.refresh();
  // The others wait until the end: nothing is answered for them.
  const reading = pool.asked[0]?.key ?? "";
  const named = ["a.md", "b.md", "c.md"].map(fileRefOf).filter((docRef) => !reading.startsWith(docRef));
  const [docRef = "", other] = named;
  const { signal } = REQUEST;
  const early = await catalogue.search("plan", { docRef: other, patienceMs: 0, signal });
  assertEquals(early.notIndexed, 1);
  assertMatch(early.notice ?? "", /^[bc]\.md is not searched yet/);
  const found = catalogue.search("title", { docRef, patienceMs: Infinity, signal });
  await eventually(() => pool.asked.length, (count) => count === 3, "the document to be asked for");
  pool.asked[2]?.answer(titled("Title"));
  const { total, notIndexed, notice } = await found;
  assertEquals([total, notIndexed, notice], [1, 0, undefined]);
  assertEquals((await catalogue.search("title", { patienceMs: 0, signal })).notIndexed, 2);
  for (const { answer } of pool.asked) answer(titled("Title"));
});

Deno.test("a request before the first search of the folders is answered after it", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await Deno.writeTextFile(join(root.path, "a.md"), "# One");
  const docRef = fileRefOf("a.md");
  await using catalogue = catalogueOf(root.path, pool);
  const listed = catalogue.list(REQUEST);
  const document = catalogue.document(docRef, REQUEST);
  const page = catalogue.page(docRef, 1, REQUEST);
  await catalogue.refresh();
  await eventually(() => pool.asked.length, (count) => count === 3, "the document to be asked for");
  for (const { answer } of pool.asked) answer(titled("One"));
  assertEquals((await listed).map(({ docRef }) => docRef), [docRef]);
  assertEquals((await document)?.title, "One");
  assertEquals(await page, undefined);
});

Deno.test("the first list waits until the files are read, for a limited time", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await Deno.writeTextFile(join(root.path, "a.md"), "# One");
  await using patient = catalogueOf(root.path, pool);
  await patient.refresh();
  const listed = patient.list(REQUEST);
  for (const { answer } of pool.asked) answer(titled("One"));
  assertEquals((await listed).map(({ title }) => title), ["One"]);
  await using held = new HeldPool();
  await using hasty = catalogueOf(root.path, held, 0);
  await hasty.refresh();
  assertEquals((await hasty.list(REQUEST)).map(({ title }) => title), ["a.md"]);
  for (const { answer } of held.asked) answer(titled("One"));
});

Deno.test("a folder without files is listed at once", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await using catalogue = catalogueOf(root.path, pool, 60_000);
  await catalogue.refresh();
  assertEquals(await catalogue.list(REQUEST), []);
});

Deno.test("a request that is cancelled does not wait for the first search of the folders", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await using catalogue = catalogueOf(root.path, pool);
  const cancelled = new DOMException("Cancelled", "AbortError");
  await assertRejects(
    () => catalogue.list({ ...REQUEST, signal: AbortSignal.abort(cancelled) }),
    DOMException,
    "Cancelled",
  );
});

Deno.test("a file that exceeded a limit is not read again at the next start, until one of its pages is", async () => {
  using root = new TempFolder();
  await using pool = new HeldPool();
  await Deno.writeTextFile(join(root.path, "a.md"), "# Bomb");
  const docRef = fileRefOf("a.md");
  const listed = async (catalogue: DocumentCatalogue) => (await catalogue.list(REQUEST))[0]?.summary;
  {
    await using catalogue = catalogueOf(root.path, pool);
    await catalogue.refresh();
    pool.asked[0]?.fail(new ParserLimitError("time", { reason: "too slow" }));
    await eventually(
      () => listed(catalogue),
      (summary) => summary === "Cannot be read: too slow",
      "its state",
    );
  }
  await using catalogue = catalogueOf(root.path, pool);
  await catalogue.refresh();
  assertEquals([await listed(catalogue), pool.asked.length], ["Cannot be read: too slow", 1]);
  const page = catalogue.page(docRef, 1, REQUEST);
  await eventually(() => pool.asked.length, (count) => count === 2, "the file to be read again");
  pool.asked[1]?.answer(titled("Bomb"));
  assertEquals([await page, await listed(catalogue)], [undefined, undefined]);
});
