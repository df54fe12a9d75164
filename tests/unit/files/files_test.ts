import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { replaceFile } from "../../../src/files/files.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  await work(folder.path);
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map(({ name }) => name).sort();
}

Deno.test("replaceFile() creates a file with the given permissions and replaces it in one step", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.txt");
    await replaceFile(path, "old", { mode: 0o600 });
    using reader = await Deno.open(path);
    await replaceFile(path, new TextEncoder().encode("new content"), { mode: 0o600 });
    assertEquals(await new Response(reader.readable).text(), "old");
    assertEquals(await Deno.readTextFile(path), "new content");
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assertEquals(await namesIn(folder), ["a.txt"]);
  }));

Deno.test("replaceFile() replaces a symbolic link, and not the file that it points to", () =>
  inFolder(async (folder) => {
    const [target, link] = [join(folder, "target"), join(folder, "link")];
    await Deno.writeTextFile(target, "kept");
    await Deno.symlink(target, link);
    await replaceFile(link, "new");
    assertEquals(await Deno.readTextFile(target), "kept");
    assertEquals((await Deno.lstat(link)).isSymlink, false);
  }));

Deno.test("replaceFile() leaves no draft behind when it fails", () =>
  inFolder(async (folder) => {
    const path = join(folder, "folder");
    await Deno.mkdir(join(path, "inside"), { recursive: true });
    await assertRejects(() => replaceFile(path, "text"));
    assertEquals(await namesIn(folder), ["folder"]);
  }));
