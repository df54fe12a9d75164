import { assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl, join, resolve } from "@std/path";
import { MAX_CONFIG_BYTES, originOf, readConfigFile, readConfigStream } from "../../../src/config/file.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { within } from "../../fixtures/within.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

const folder = fromFileUrl(new URL("../../fixtures/configs/", import.meta.url));
const isPosix = Deno.build.os !== "windows";

Deno.test("readConfigFile() fills in variables by the place of the file", async () => {
  const { servers } = await readConfigFile(join(folder, "project", ".vscode", "mcp.json"));
  const notes = servers.find(({ name }) => name === "notes");
  const workspace = join(folder, "project");
  assertEquals(notes?.type === "stdio" && [notes.server_parameters.args, notes.server_parameters.cwd], [
    [`${workspace}/notes.js`],
    workspace,
  ]);
});

Deno.test("readConfigFile() names a file that cannot be read", async () => {
  for (const [name, state] of [["none.json", "no such file"], ["project", "it is a folder"]] as const) {
    const path = join(folder, name);
    await assertRejects(() => readConfigFile(path), ConfigError, `Cannot read config "${path}": ${state}`);
  }
});

Deno.test("readConfigFile() refuses devices and pipes at once", { ignore: !isPosix }, async () => {
  using place = new TempFolder();
  const pipe = join(place.path, "pipe");
  assertEquals((await new Deno.Command("mkfifo", { args: [pipe] }).output()).code, 0);
  for (const path of [pipe, "/dev/zero"]) {
    const state = "it is not a regular file";
    const refused = assertRejects(
      () => readConfigFile(path),
      ConfigError,
      `Cannot read config "${path}": ${state}`,
    );
    await within(refused, `the refusal of ${path}`);
  }
});

Deno.test("a config that is too large is refused before it is read whole", async () => {
  const path = await Deno.makeTempFile();
  try {
    const tooLarge = `it has more than ${MAX_CONFIG_BYTES} bytes`;
    await Deno.truncate(path, MAX_CONFIG_BYTES + 1);
    await assertRejects(() => readConfigFile(path), ConfigError, `Cannot read config "${path}": ${tooLarge}`);
    using endless = await Deno.open("/dev/zero");
    await assertRejects(() => readConfigStream(endless.readable, "stdin"), ConfigError, tooLarge);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("the workspace of a file is its folder, or the parent of a program's settings folder", () => {
  const cases: [path: string, workspace: string, isProject: boolean][] = [
    ["/p/config.json", "/p", false],
    ["/p/.mcp.json", "/p", true],
    ["/p/.vscode/mcp.json", "/p", true],
    ["/p/.cursor/mcp.json", "/p", true],
    ["/p/.gemini/settings.json", "/p", true],
    ["/p/.kiro/settings/mcp.json", "/p", true],
    ["/p/settings/mcp.json", "/p/settings", false],
  ];
  for (const [path, workspace, isProject] of cases) {
    const origin = originOf(path);
    assertEquals([origin.workspace, origin.isProject], [resolve(workspace), isProject], path);
  }
});
