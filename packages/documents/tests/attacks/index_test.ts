/** Attacker: another process that has the cache folder, or whoever may write into it. */
import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path";
import { type FolderDocuments, openFolderDocuments } from "../../mod.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { TestFolder } from "../integration/_folder_documents.ts";

const { signal } = new AbortController();
const isWindows = Deno.build.os === "windows";

function open(folder: TestFolder, cache: TestFolder): Promise<FolderDocuments> {
  return openFolderDocuments({ folders: [folder.path], cacheFolder: cache.path, parsers: 1 });
}

/** How many pages have a word, when all documents are searched. */
async function countOf(documents: FolderDocuments, word: string): Promise<number> {
  const search = () => documents.search(word, { signal });
  return (await eventually(search, ({ notIndexed }) => notIndexed === 0, "all to be indexed")).total;
}

Deno.test("servers that share a cache folder neither see nor remove what the others have found", async () => {
  await using cache = await TestFolder.make();
  await using nuts = await TestFolder.make({ "a.md": "# A\n\nwalnuts", "b.md": "# B\n\nwalnuts" });
  await using fruits = await TestFolder.make({ "a.md": "# A\n\ncherries" });
  await using first = await open(nuts, cache);
  assertEquals(await countOf(first, "walnuts"), 2);
  await using second = await open(fruits, cache);
  assertEquals(await countOf(second, "walnuts"), 0);
  assertEquals(await countOf(second, "cherries"), 1);
  assertEquals(await countOf(first, "walnuts"), 2);
  assertEquals(await countOf(first, "cherries"), 0);
});

Deno.test({
  name: "a link in place of the index leads to no other file",
  ignore: isWindows,
  fn: async () => {
    await using outside = await TestFolder.make({ "empty": "", "text": "Mine" });
    await using folder = await TestFolder.make({ "a.md": "# A\n\nwalnuts" });
    for (const name of ["empty", "text"]) {
      await using cache = await TestFolder.make();
      const target = join(outside.path, name);
      const before = await Deno.stat(target);
      await Deno.symlink(target, join(cache.path, "documents.sqlite"));
      {
        await using documents = await open(folder, cache);
        assertEquals(await countOf(documents, "walnuts"), 1);
      }
      const { size, mode } = await Deno.stat(target);
      assertEquals({ size, mode }, { size: before.size, mode: before.mode });
      assert((await Deno.lstat(join(cache.path, "documents.sqlite"))).isFile);
    }
  },
});

Deno.test("a folder in place of the index, and a file in place of its folder, cost nothing but the cache", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A\n\nwalnuts" });
  await using cache = await TestFolder.make({ "documents.sqlite/a": "x", "file": "x" });
  for (const cacheFolder of [cache.path, join(cache.path, "file")]) {
    await using documents = await openFolderDocuments({ folders: [folder.path], cacheFolder, parsers: 1 });
    assertEquals(await countOf(documents, "walnuts"), 1);
  }
});
