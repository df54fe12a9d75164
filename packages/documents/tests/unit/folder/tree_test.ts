/** Proves how the files of folders are found again after changes. */
import { assertEquals } from "@std/assert";
import { dirname, join } from "@std/path";
import { FileFilter } from "../../../src/folder/rules.ts";
import { FileTree } from "../../../src/folder/tree.ts";
import { silentLogger } from "@a2c-smcp/sdk/base";
import { TempFolder } from "../../../../../tests/fixtures/temp_folder.ts";

/** Counts how often a file is looked at. */
class CountingFilter extends FileFilter {
  looks = 0;

  override kindOf(path: string): ReturnType<FileFilter["kindOf"]> {
    this.looks++;
    return super.kindOf(path);
  }
}

/** The tree of a folder with these files, and the paths of the files. */
async function withTree(
  names: readonly string[],
  use: (tree: FileTree, filter: CountingFilter, paths: readonly string[]) => Promise<void>,
): Promise<void> {
  using root = new TempFolder();
  const paths = names.map((name) => join(root.path, name));
  for (const path of paths) {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, "x");
  }
  const filter = new CountingFilter();
  const tree = new FileTree([root.path], { filter, maxFiles: 1_000, logger: silentLogger });
  await tree.refresh();
  await use(tree, filter, paths);
}

Deno.test("a folder is looked at once, however many of its files changed at a time", () =>
  withTree(Array.from({ length: 50 }, (_, n) => `sub/${n}.md`), async (tree, filter, paths) => {
    filter.looks = 0;
    await tree.refreshFolders(paths.flatMap((path) => [dirname(path), path]));
    assertEquals(filter.looks, 50);
  }));

Deno.test("files of folders that are new, and of folders in them, are found", () =>
  withTree(["a.md"], async (tree, _filter, [a = ""]) => {
    const folder = join(dirname(a), "new", "inner");
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(join(folder, "b.md"), "x");
    const { added } = await tree.refreshFolders([dirname(folder), folder]);
    assertEquals(added.map(({ path }) => path), ["new/inner/b.md"]);
  }));

Deno.test("what a file without a known name holds is looked at anew when it changes", () =>
  withTree(["README", "data"], async (tree, _filter, [readme = "", data = ""]) => {
    const names = () => [...tree.files.values()].map(({ path, kind }) => `${path} ${kind}`).sort();
    assertEquals(names(), ["README plain", "data plain"]);
    await Deno.writeFile(data, new Uint8Array(100));
    await Deno.writeTextFile(readme, "%PDF-1.4 x");
    assertEquals((await tree.refresh()).removed.map(({ path }) => path), ["data"]);
    assertEquals(names(), ["README pdf"]);
    await Deno.writeTextFile(data, "");
    assertEquals((await tree.refresh()).added, []);
    await Deno.writeTextFile(data, "A text");
    assertEquals((await tree.refresh()).added.map(({ path }) => path), ["data"]);
    // Many programs empty a file before they write it anew.
    await Deno.writeTextFile(readme, "");
    await tree.refresh();
    assertEquals(names(), ["README pdf", "data plain"]);
  }));
