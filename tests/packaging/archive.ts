/** What a release gives people who have no npm: archive, bundles and the programs of the images, started on this machine. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Computer } from "../../computer.ts";
import { SmcpServer, staticTokens } from "../../server.ts";
import { archiveName, packArchives } from "../../tools/archives.ts";
import { bundleName, toBundleManifest } from "../../tools/bundles.ts";
import { root, run, succeed } from "../../tools/deno.ts";
import { DOCUMENTS, GATEWAY, type McpServer } from "../../tools/mcp_servers.ts";
import { WINDOWS_DENO, WINDOWS_FOLDER } from "../../tools/npm_parts.ts";
import { RunningDoor } from "../fixtures/door.ts";
import { eventually } from "../fixtures/within.ts";
import { hasWindows, toWindowsPath, windowsFolder, wineEnvironment } from "../windows/wine.ts";

const SYSTEM = "linux-x64-glibc";
const WINDOWS = "win32-x64";
/** The tool of those who define the form of bundles. */
const MCPB = "@anthropic-ai/mcpb@2.1.2";
/** Whether this machine runs what is made here. */
export const runsArchives = Deno.build.os === "linux" && Deno.build.arch === "x86_64";

/** Makes archive and bundles of the programs in a folder, and tries each as whoever gets it would. */
export async function tryArchives(
  t: Deno.TestContext,
  { folder, program }: { readonly folder: string; readonly program: string },
): Promise<void> {
  const systems = hasWindows ? [SYSTEM, WINDOWS] as const : [SYSTEM] as const;
  const paths = await packArchives(join(folder, "archives"), { program, systems });
  for (const path of paths) {
    const { size } = await Deno.stat(path);
    console.log(`${path.split("/").at(-1)}: ${Math.round(size / 1e6)} MB`);
  }
  await succeed("tar", run("tar", ["-xzf", paths[0] ?? ""], folder));
  const unpacked = join(folder, archiveName(SYSTEM));
  await t.step("an archive starts from any folder, with nothing but a shell on the PATH", async () => {
    const home = await Deno.makeTempDir({ dir: folder });
    const env = { PATH: "/usr/bin:/bin", HOME: home, NO_COLOR: "1" };
    const start = (word: string) =>
      new Deno.Command(join(unpacked, "a2c-smcp"), { args: [word], cwd: "/", clearEnv: true, env }).output();
    const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    assertMatch(read((await start("--version")).stdout), /^a2c-smcp \d/);
    assertStringIncludes(read((await start("demo")).stdout), "All steps worked.");
  });
  await t.step({
    name: "an archive for Windows starts by its name from any folder, when its own one is on the PATH",
    ignore: !hasWindows,
    fn: () => tryWindowsArchive(folder),
  });
  await t.step("the images start the programs of an archive with few permissions", async () => {
    await tryEntryPoints(unpacked, folder);
  });
  await succeed("npm", run("npm", ["install", "--prefix", "mcpb", "--no-audit", "--no-fund", MCPB], folder));
  await t.step("the bundle of documents reads the folders that were picked", async () => {
    const folders = ["other", "picked notes"].map((name) => join(folder, name));
    for (const path of folders) await Deno.mkdir(path);
    await Deno.writeTextFile(join(folder, "picked notes", "toner.md"), "# Toner\n\nReplace it.\n");
    const { client, tools } = await startBundle(folder, DOCUMENTS, { folders });
    const { tools: shown } = toBundleManifest(DOCUMENTS, SYSTEM);
    assertEquals(tools, Array.isArray(shown) ? shown.map(({ name }) => name) : shown);
    const find = { name: "find_documents", arguments: { query: "toner" } };
    const look = async () => JSON.stringify((await client.callTool(find)).content);
    await eventually(look, (text) => text.includes("toner.md"), "the note to be found");
    await client.close();
  });
  await t.step("the bundle of the gateway reaches an office by the settings of a person", async () => {
    await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
    await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
    await computer.join({ url: server.url, office: "lab", token: "s3cret" });
    const settings = { url: server.url, office: "lab", token: "s3cret" };
    const { client } = await startBundle(folder, GATEWAY, settings);
    const { content } = await client.callTool({ name: "list_computers", arguments: {} });
    assertStringIncludes(JSON.stringify(content), "laptop");
    await client.close();
  });
}

/** Starts what winget puts on the PATH, in the command processor of Wine. */
async function tryWindowsArchive(folder: string): Promise<void> {
  const archive = join(folder, "archives", `${archiveName(WINDOWS)}.zip`);
  await succeed("unzip", run("python3", ["-m", "zipfile", "-e", archive, folder], folder));
  const unpacked = join(folder, WINDOWS_FOLDER);
  assert((await Deno.stat(join(unpacked, WINDOWS_DENO))).isFile);
  // Deno finds there what Wine lacks.
  const library = "bcryptprimitives.dll";
  await Deno.copyFile(join(windowsFolder, "package", library), join(unpacked, library));
  const wine = wineEnvironment();
  const start = async (word: string) => {
    const { stdout, stderr } = await new Deno.Command(wine.WINELOADER, {
      args: ["cmd", "/c", "a2c-smcp", word],
      cwd: "/",
      env: { ...wine, WINEPATH: toWindowsPath(unpacked), NO_COLOR: "1" },
    }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  assertMatch(await start("--version"), /^a2c-smcp \d/);
  assertStringIncludes(await start("demo"), "All steps worked.");
}

async function runMcpb(folder: string, ...words: string[]): Promise<void> {
  await succeed("mcpb", run(join(folder, "mcpb", "node_modules", ".bin", "mcpb"), words, folder));
}

/** Starts a bundle as a client does that has unpacked it and asked for the settings. */
async function startBundle(
  folder: string,
  server: McpServer,
  userConfig: Readonly<Record<string, unknown>>,
): Promise<{ readonly client: Client; readonly tools: readonly string[] }> {
  const extensionPath = join(folder, `unpacked ${server.name}`);
  await runMcpb(folder, "unpack", join(folder, "archives", bundleName(server, "linux-x64")), extensionPath);
  await runMcpb(folder, "validate", extensionPath);
  const systemDirs = { HOME: await Deno.makeTempDir({ dir: folder }) };
  const options = { extensionPath, userConfig, systemDirs, pathSeparator: "/" };
  const script = `import { readFileSync } from "node:fs";
    import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";
    const options = ${JSON.stringify(options)};
    const manifest = JSON.parse(readFileSync(options.extensionPath + "/manifest.json"));
    console.log(JSON.stringify(await getMcpConfigForManifest({ ...options, manifest })));`;
  const words = ["--input-type=module", "--eval", script];
  const { stdout } = await succeed("node", run("node", words, join(folder, "mcpb")));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StdioClientTransport({ ...JSON.parse(stdout), stderr: "inherit" }));
  const { tools } = await client.listTools();
  return { client, tools: tools.map(({ name }) => name) };
}

/** Starts what the images of the Dockerfile start, from the files of an archive. */
async function tryEntryPoints(unpacked: string, folder: string): Promise<void> {
  const text = await Deno.readTextFile(join(root, "deploy", "Dockerfile"));
  const state = await Deno.makeTempDir({ dir: folder, prefix: "a2c-smcp-" });
  const here = text.replaceAll("/opt/a2c-smcp", unpacked).replaceAll("/var/lib/a2c-smcp", state)
    .replaceAll(",/documents,", `,${state},`);
  const [documents = [], hub = []] = Array.from(
    here.matchAll(/^ENTRYPOINT (\[.*\])$/gm),
    ([, words = ""]): string[] => JSON.parse(words),
  );
  assert(hub.length > 0, "the Dockerfile has no second entry point");
  const programs = [
    [[...hub, "server"], "A2C-SMCP Server: ok\n"],
    [[...hub, "hub"], "A2C-SMCP Server: ok\n"],
    [[...documents, state], "ok\n"],
  ] as const;
  for (const [words, expected] of programs) {
    await using program = new RunningDoor(words, {
      cwd: "/",
      env: {
        ...{
          PORT: "0",
          A2C_HOST: "127.0.0.1",
          A2C_TOKEN: "s3cret",
          STATE_DIRECTORY: state,
        },
        ...{ A2C_DOCUMENTS_HTTP: "127.0.0.1:0", A2C_DOCUMENTS_TOKEN: "s3cret" },
      },
    });
    const look = () => /http:\/\/[\d.]+:\d+/.exec(program.stdout.text + program.stderr.text)?.[0];
    const url = await eventually(look, (found) => found !== undefined, `the address of ${words.at(-1)}`);
    const answer = await fetch(`${url}/healthz`);
    assertEquals([answer.status, await answer.text()], [200, expected]);
  }
}
