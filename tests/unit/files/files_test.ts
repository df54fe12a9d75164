import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { appendPrivateFile, openLineLog, readRegularFile, replaceFile } from "../../../src/files/files.ts";
import { isLacking, isWindows } from "../../fixtures/system.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  await work(folder.path);
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map(({ name }) => name).sort();
}

Deno.test("readRegularFile() reads UTF-16 with a byte order mark, as Windows PowerShell writes it", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.txt");
    const bytes = [...new TextEncoder().encode("\uFEFFt\u00f6ken\r\n".normalize())];
    const units = [...new Uint16Array([0xfeff, ...[..."t\u00f6ken\r\n"].map((unit) => unit.charCodeAt(0))])];
    for (const low of [0, 8]) {
      const written = units.flatMap((unit) => [(unit >> low) & 0xff, (unit >> (8 - low)) & 0xff]);
      await Deno.writeFile(path, Uint8Array.from(written));
      assertEquals(await readRegularFile(path, { maxBytes: 100 }), { text: "t\u00f6ken\r\n" });
    }
    await Deno.writeFile(path, Uint8Array.from(bytes));
    assertEquals(await readRegularFile(path, { maxBytes: 100 }), { text: "\uFEFFt\u00f6ken\r\n" });
  }));

Deno.test("replaceFile() creates a file with the given permissions and replaces it in one step", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.txt");
    await replaceFile(path, "old", { mode: 0o600 });
    const reader = isLacking("openReplace") ? undefined : await Deno.open(path);
    await replaceFile(path, new TextEncoder().encode("new content"), { mode: 0o600 });
    if (reader !== undefined) assertEquals(await new Response(reader.readable).text(), "old");
    assertEquals(await Deno.readTextFile(path), "new content");
    if (!isWindows) assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assertEquals(await namesIn(folder), ["a.txt"]);
  }));

Deno.test("files are read and replaced at paths of more than 260 characters", () =>
  inFolder(async (folder) => {
    const deep = join(folder, ...Array.from({ length: 8 }, (_, n) => `${n}-${"x".repeat(40)}`));
    await Deno.mkdir(deep, { recursive: true });
    const path = join(deep, "a.txt");
    for (const text of ["old", "new"]) await replaceFile(path, text, { mode: 0o600 });
    assertEquals(await readRegularFile(path, { maxBytes: 100 }), { text: "new" });
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

Deno.test("appendPrivateFile() keeps the newest lines within its bound", async () => {
  using folder = new TempFolder();
  const path = `${folder.path}/log`;
  for (const line of ["one\n", "two\n", "three\n", "four\n", "five\n"]) {
    appendPrivateFile(path, new TextEncoder().encode(line), { maxBytes: 10 });
  }
  assertEquals(await Deno.readTextFile(`${path}.1`), "three\n");
  assertEquals(await Deno.readTextFile(path), "four\nfive\n");
});

Deno.test("openLineLog() begins a new line after one that a full disk has cut", () => {
  using folder = new TempFolder();
  const path = `${folder.path}/log`;
  const append = openLineLog(path);
  append("one");
  const { writeSync } = Deno.FsFile.prototype;
  try {
    let roomBytes = 2;
    Deno.FsFile.prototype.writeSync = function (bytes) {
      if (roomBytes === 0) throw new Error("No space left on device");
      const written = writeSync.call(this, bytes.subarray(0, roomBytes));
      roomBytes -= written;
      return written;
    };
    for (const line of ["two", "three"]) assertThrows(() => append(line), Error, "No space");
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
  // Another program, which knows nothing of that.
  const appendAgain = openLineLog(path);
  for (const line of ["four", "five"]) appendAgain(line);
  assertEquals(Deno.readTextFileSync(path), "one\ntw\nfour\nfive\n");
});
