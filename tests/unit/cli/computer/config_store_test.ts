import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { join } from "@std/path";
import { ConfigStore } from "../../../../src/cli/computer/config_store.ts";
import { UsageError } from "../../../../src/cli/outcome.ts";
import { parseConfig } from "../../../../src/config/config.ts";
import { addServerText } from "../../../../src/config/edit.ts";
import { ConfigError } from "../../../../src/config/problem.ts";

const isPosix = Deno.build.os !== "windows";
const FILES = { type: "stdio", command: "npx", args: ["files"] } as const;
const add = (name: string) => (text: string) => addServerText(text, name, FILES);
const names = ({ config }: ConfigStore) => config.servers.map(({ name }) => name);

async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  await work(folder).finally(() => Deno.remove(folder, { recursive: true }));
}

Deno.test("without a file the configuration is empty, and edits last as long as the store", async () => {
  const store = await ConfigStore.open(undefined);
  assertEquals([names(store), store.file], [[], undefined]);
  await store.edit(add("a"));
  await store.edit(add("b"));
  await store.reload();
  assertEquals(names(store), ["a", "b"]);
});

Deno.test("a server of the command line shares neither its name nor its host with one of the configuration, and is not edited", async () => {
  const serverOf = (name: string, host: string) =>
    parseConfig({ servers: { [name]: { command: "serve", args: ["--host", host] } } }).servers;
  const entry = (name: string) => () =>
    JSON.stringify({ servers: { [name]: { type: "documents", folders: ["a"] } } });
  const store = await ConfigStore.open(undefined, {
    added: serverOf("documents", "local.documents.reports"),
  });
  await store.edit(entry("notes"));
  await assertRejects(() => store.edit(entry("reports")), ConfigError, "local.documents.reports");
  await assertRejects(() => store.edit(add("documents")), ConfigError, "duplicate name");
  assertThrows(() => store.assertWritten("documents", "remove"), UsageError, "--documents");
  assertEquals(names(store), ["notes", "documents"]);
});

Deno.test("an edit writes the file, keeps its comments, and leaves no temporary file", async () => {
  await inFolder(async (folder) => {
    const file = join(folder, "config.json");
    await Deno.writeTextFile(file, '{\n  // mine\n  "servers": {}\n}\n');
    const store = await ConfigStore.open(file);
    await store.edit(add("a"));
    assertStringIncludes(await Deno.readTextFile(file), "// mine");
    assertEquals(names(await ConfigStore.open(file)), ["a"]);
    assertEquals((await Array.fromAsync(Deno.readDir(folder))).length, 1);
  });
});

Deno.test("an edit that cannot be used changes neither the file nor the store", async () => {
  await inFolder(async (folder) => {
    const file = join(folder, "config.json");
    await Deno.writeTextFile(file, '{ "servers": {} }');
    const store = await ConfigStore.open(file);
    await assertRejects(() => store.edit(() => '{ "servers": { "a": {} } }'), ConfigError, "servers.a");
    await assertRejects(() => store.edit(() => "{"), ConfigError, "invalid JSON");
    assertEquals([await Deno.readTextFile(file), names(store)], ['{ "servers": {} }', []]);
  });
});

Deno.test("an edit starts from the present content of the file, and a broken file keeps the last configuration", async () => {
  await inFolder(async (folder) => {
    const file = join(folder, "config.json");
    await Deno.writeTextFile(file, '{ "servers": {} }');
    const store = await ConfigStore.open(file);
    await Deno.writeTextFile(file, add("elsewhere")('{ "servers": {} }'));
    await store.edit(add("here"));
    assertEquals(names(store), ["elsewhere", "here"]);
    await Deno.writeTextFile(file, "{ oops");
    await assertRejects(() => store.reload(), ConfigError);
    assertEquals(names(store), ["elsewhere", "here"]);
  });
});

Deno.test({
  name: "an edit keeps the permissions of the file, and a symbolic link to it",
  ignore: !isPosix,
  async fn() {
    await inFolder(async (folder) => {
      const [file, link] = [join(folder, "config.json"), join(folder, "link.json")];
      await Deno.writeTextFile(file, '{ "servers": {} }', { mode: 0o600 });
      await Deno.symlink(file, link);
      const store = await ConfigStore.open(link);
      await store.edit(add("a"));
      assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
      assertEquals((await Deno.lstat(link)).isSymlink, true);
      assertEquals(names(await ConfigStore.open(file)), ["a"]);
    });
  },
});
