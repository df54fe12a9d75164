import { assertEquals, assertRejects } from "@std/assert";
import { dirname, join } from "@std/path";
import { originOf, readConfigFile } from "../../../../src/computer/config/file.ts";
import { ConfigError } from "../../../../src/computer/config/problem.ts";

const folder = decodeURIComponent(new URL("../../../fixtures/configs/", import.meta.url).pathname);

Deno.test("a config file is read, and variables are filled in from its place", async () => {
  const { servers } = await readConfigFile(join(folder, "project", ".vscode", "mcp.json"));
  const notes = servers.find(({ name }) => name === "notes");
  const workspace = join(folder, "project");
  assertEquals(notes?.type === "stdio" && [notes.server_parameters.args, notes.server_parameters.cwd], [
    [`${workspace}/notes.js`],
    workspace,
  ]);
});

Deno.test("a file that cannot be read is named", async () => {
  for (const [name, state] of [["none.json", "no such file"], ["project", "it is a folder"]] as const) {
    const path = join(folder, name);
    await assertRejects(() => readConfigFile(path), ConfigError, `Cannot read config "${path}": ${state}`);
  }
});

Deno.test("the workspace of a file is its folder, or the one around a program's own folder", () => {
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
    assertEquals([origin.workspace, origin.isProject], [join(dirname("/x"), workspace), isProject], path);
  }
});
