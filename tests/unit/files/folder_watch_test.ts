/** Proves which folders are watched. */
import { assertEquals } from "@std/assert";
import { join } from "@std/path";
import { FolderWatch, type FolderWatchOptions } from "../../../src/files/folder_watch.ts";
import { countWatched } from "../../fixtures/watched_folders.ts";
import { isLacking } from "../../fixtures/system.ts";
import { eventually, within } from "../../fixtures/within.ts";

const isLinux = Deno.build.os === "linux";

/** A watch that keeps what it tells. */
class Watching implements AsyncDisposable {
  readonly paths = new Set<string>();
  readonly problems: string[] = [];
  readonly #begun = Promise.withResolvers<void>();
  readonly #watch: FolderWatch;
  /** How often everything was to be looked at. */
  looks = 0;

  constructor(roots: readonly string[], options: Partial<FolderWatchOptions> = {}) {
    this.#watch = new FolderWatch(roots, {
      maxFolders: 100,
      onChange: (paths) => {
        for (const path of paths ?? []) this.paths.add(path);
        if (paths === undefined) this.looks++;
        this.#begun.resolve();
      },
      onProblem: (problem) => this.problems.push(problem),
      ...options,
    });
  }

  async begin(): Promise<this> {
    await within(this.#begun.promise, "the watch to begin");
    return this;
  }

  async until(path: string): Promise<void> {
    await eventually(() => this.paths.has(path), (isTold) => isTold, `to be told of ${path}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#watch.close();
  }
}

class Folder implements AsyncDisposable {
  private constructor(readonly path: string) {}

  static async make(folders: readonly string[] = []): Promise<Folder> {
    const path = await Deno.realPath(await Deno.makeTempDir());
    for (const name of folders) await Deno.mkdir(join(path, name), { recursive: true });
    return new Folder(path);
  }

  join(...names: readonly string[]): string {
    return join(this.path, ...names);
  }

  async write(...names: readonly string[]): Promise<string> {
    await Deno.writeTextFile(this.join(...names), "x");
    return this.join(...names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

Deno.test("changes in folders and in those below them are told, in several trees at once", {
  ignore: isLacking("deepWatch"),
}, async () => {
  await using one = await Folder.make(["a/b"]);
  await using other = await Folder.make();
  await using watching = await new Watching([one.path, other.path]).begin();
  const written = [await one.write("a", "b", "deep.md"), await other.write("top.md")];
  for (const path of written) await watching.until(path);
  assertEquals(watching.problems, []);
});

Deno.test("a folder that is added is watched, and told when it is, because its files may have come before", async () => {
  await using folder = await Folder.make();
  await using watching = await new Watching([folder.path]).begin();
  await Deno.mkdir(folder.join("new", "inner"), { recursive: true });
  if (isLinux) await watching.until(folder.join("new", "inner"));
  await watching.until(await folder.write("new", "inner", "a.md"));
});

Deno.test("a folder that is removed and made again is watched again", async () => {
  await using folder = await Folder.make(["sub"]);
  await using watching = await new Watching([folder.path]).begin();
  await Deno.remove(folder.join("sub"));
  await Deno.mkdir(folder.join("sub"));
  await watching.until(folder.join("sub"));
  const path = folder.join("sub", "again.md");
  const write = async () => {
    await Deno.writeTextFile(path, "x");
    return watching.paths.has(path);
  };
  await eventually(write, (isTold) => isTold, "to be told of a file in the new folder");
});

Deno.test("a folder that takes the place of one that was moved away is watched with those in it", async () => {
  await using folder = await Folder.make(["sub/inner"]);
  await using watching = await new Watching([folder.path]).begin();
  await Deno.rename(folder.join("sub"), folder.join("old"));
  await Deno.mkdir(folder.join("sub", "inner"), { recursive: true });
  const path = folder.join("sub", "inner", "again.md");
  const write = async () => {
    await Deno.writeTextFile(path, "x");
    return watching.paths.has(path);
  };
  await eventually(write, (isTold) => isTold, "to be told of a file in the inner folder");
});

Deno.test("folders behind links, and those that are not admitted, are not watched", {
  ignore: !isLinux,
}, async () => {
  await using outside = await Folder.make(["hidden"]);
  await using folder = await Folder.make(["docs/deep", "node_modules/package"]);
  await Deno.symlink(outside.path, folder.join("docs", "out"));
  await Deno.symlink(folder.path, folder.join("docs", "loop"));
  const admits = (path: string) => !path.endsWith("node_modules");
  await using _watching = await new Watching([folder.path], { admits }).begin();
  assertEquals(await countWatched([folder.path, folder.join("docs"), folder.join("docs", "deep")]), 3);
  const left = [folder.join("node_modules"), folder.join("node_modules", "package")];
  assertEquals(await countWatched([...left, outside.path, outside.join("hidden")]), 0);
});

Deno.test("no more folders are watched than the bound, those near the top first, and it is said", {
  ignore: !isLinux,
}, async () => {
  await using folder = await Folder.make(["a/1", "a/2", "a/3", "b", "c"]);
  await using watching = await new Watching([folder.path], { maxFolders: 4 }).begin();
  assertEquals(await countWatched(["", "a", "b", "c"].map((name) => folder.join(name))), 4);
  assertEquals(await countWatched(["1", "2", "3"].map((name) => folder.join("a", name))), 0);
  assertEquals(watching.problems, ["only 4 folders are watched"]);
});

Deno.test("a missing folder ends no watch of the others", async () => {
  await using folder = await Folder.make();
  await using watching = await new Watching([folder.join("missing"), folder.path]).begin();
  await watching.until(await folder.write("a.md"));
});

Deno.test("everything is to be looked at again and again where that is asked for, one look at a time", async () => {
  await using folder = await Folder.make();
  let [running, looks, mostRunning] = [0, 0, 0];
  const onChange = async (paths: ReadonlySet<string> | undefined) => {
    mostRunning = Math.max(mostRunning, ++running);
    await folder.write("seen.md");
    if (paths === undefined) looks++;
    running--;
  };
  await using _watching = new Watching([folder.path], { pollMs: 5, onChange });
  await eventually(() => looks, (count) => count >= 3, "three looks");
  assertEquals(mostRunning, 1);
});
