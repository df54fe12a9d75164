/**
 * What the README promises of an installation, done for real: the programs by npm on a machine that has only Node, and
 * the library from its npm package in a program for the oldest maintained Node and in a web page. A step of the gate of its own
 * (`deno test -A tests/packaging/installed.ts`), since npm fetches what it needs from its registry.
 */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import * as esbuild from "esbuild";
import { isBuiltin } from "node:module";
import manifest from "../../deno.json" with { type: "json" };
import { buildNpmPackages } from "../../tools/npm.ts";
import { pack } from "../../tools/npm_parts.ts";
import { buildProgram } from "../../tools/program.ts";
import { root } from "../../tools/deno.ts";
import { hasChromium } from "../fixtures/chromium.ts";
import documents from "../../packages/documents/deno.json" with { type: "json" };
import { eventually } from "../fixtures/within.ts";
import { runsArchives, tryArchives } from "./archive.ts";
import { bundlePage, failBy, Site, visitBy } from "./browser.ts";
import { Registry } from "./registry.ts";

/** How long one command may take. Only ever reached by a failure. */
const DEADLINE_MS = 120_000;
const CONSUMER = fromFileUrl(new URL("./consumer/", import.meta.url));
const QUIET = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

Deno.test("what npm installs works where there is only Node", async (t) => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "installed-" }));
  try {
    const node = await findNode(folder, "22");
    const tarballs = await buildNpmPackages(folder);
    await buildProgram(join(folder, "program"), tarballs);
    if (runsArchives) await tryArchives(t, { folder, program: join(folder, "program") });
    await pack(join(folder, "program"), folder);
    await using registry = await Registry.start(join(folder, "registry"), { node, run: runIn });
    await registry.useIn(folder);
    await registry.publish(folder);
    assertEquals((await registry.publish(folder)).match(/is there already/g)?.length, 3);
    const machine = await Machine.prepare(folder, registry.url);
    await t.step(
      "one line shows all of it where nothing was installed, and what it fetched is small",
      async () => {
        const first = await machine.npx(registry.url, "a2c-smcp", "demo");
        assertStringIncludes(first.output, "All steps worked.");
        const kept = first.fetchedMegabytes + first.megabytes;
        const sizes =
          `${first.fetchedMegabytes} MB fetched, ${first.megabytes} MB on disk, ${kept} MB kept by npm`;
        console.log(`npx a2c-smcp demo: ${first.seconds} s, ${sizes}`);
        assert(first.fetchedMegabytes <= 60 && first.megabytes <= 160 && kept <= 210, sizes);
        const { output } = await machine.npx(registry.url, "--offline", "a2c-smcp", "--version");
        assertMatch(output, /^a2c-smcp \d/);
      },
    );
    await t.step("a2c-smcp names its programs, and each one itself by what called it", async () => {
      assertStringIncludes(await machine.a2c("--help"), "computer");
      for (const name of ["server", "computer", "agent", "hub"]) {
        assertStringIncludes(await machine.a2c(name, "--help"), `Usage: a2c-smcp ${name} [options]`);
      }
      assertMatch(await machine.a2c("--version"), /^a2c-smcp \d+\.\d+\.\d+/);
    });
    await t.step("a2c-smcp reads files of the folder where it is called", async () => {
      await Deno.writeTextFile(join(folder, "x.json"), '{"mcpServers":{"a":{"command":"node"}}}');
      assertStringIncludes(await machine.a2c("computer", "check", "x.json"), "ready to use");
    });
    await t.step("a2c-smcp agent has the text for coding agents", async () => {
      assertStringIncludes(await machine.a2c("agent", "instructions"), "a2c-smcp agent");
    });
    await t.step("a2c-smcp server serves until it is told to end, or killed", async () => {
      assertEquals(await machine.serveAndEnd("SIGTERM"), 0);
      assertEquals(await machine.serveAndEnd("SIGINT"), 0);
      assertEquals(await machine.serveAndEnd("SIGKILL"), 137);
      // npx itself ends at once. The output ends with the program.
      const words = [...await machine.npxWords(registry.url), "a2c-smcp", "server", "--port", "0"] as const;
      assertEquals(await machine.serveAndEnd("SIGTERM", words), 143);
    });
    await Deno.writeTextFile(join(folder, "empty.json"), '{"servers":{}}');
    // Nobody listens there, so the Computer is interrupted while it tries to join.
    const address = ["--url", "http://127.0.0.1:9", "--office", "lab", "--name", "laptop"];
    const withPage = ["computer", "--headless", "--console", "--config", "empty.json", ...address];
    await t.step("a2c-smcp computer brings its page along", async () => {
      assertEquals(
        await machine.serveAndEnd("SIGTERM", [machine.command, ...withPage], "<!doctype html>"),
        130,
      );
    });
    await t.step("each package that a tarball imports is one of its dependencies", async () => {
      for (const tarball of tarballs) assertEquals(await undeclaredImports(tarball), []);
    });
    await t.step(
      "the library alone is 45 packages at most, and says which line installs what else is needed",
      async () => {
        const count = await countInstalled(folder, manifest.name);
        assert(count <= 45, `${count} packages`);
        const program = join("node_modules", manifest.name, "cli.js");
        const entry = { servers: { notes: { type: "documents", folders: ["."] } } };
        await Deno.writeTextFile(join(folder, "documents.json"), JSON.stringify(entry));
        const hub = ["hub", "--port", "0", "--state-file", "hub.sqlite"];
        for (
          const [name, words] of [
            [documents.name, ["documents", "."]],
            [documents.name, ["computer", "check", "documents.json"]],
            ["oidc-provider", hub],
          ] as const
        ) {
          const args = ["run", "-A", program, ...words];
          const { code, stdout, stderr } = await capture(Deno.execPath(), args, inDeno(folder));
          assert(code !== 0);
          assertStringIncludes(stdout + stderr, `run "npm install ${name}"`);
        }
        await runIn("npm", ["install", ...QUIET, "oidc-provider"], folder);
        const words = [Deno.execPath(), "run", "-A", program, ...hub] as const;
        assertEquals(await machine.serveAndEnd("SIGTERM", words), 0);
        const computer = [Deno.execPath(), "run", "-A", program, ...withPage] as const;
        assertEquals(await machine.serveAndEnd("SIGTERM", computer, "<!doctype html>"), 130);
      },
    );
    await installLibrary(folder);
    await t.step("the program of documents starts by its own command, from Node and from Deno", async () => {
      const start = (command: string, ...args: string[]) => machine.run(command, [...args, "--version"]);
      const program = join("node_modules", documents.name, "main.js");
      const library = join("node_modules", manifest.name, "cli.js");
      const version = new RegExp(`^documents ${manifest.version} `);
      assertMatch(await start(node, join("node_modules", ".bin", "a2c-smcp-documents")), version);
      assertMatch(await start(Deno.execPath(), "run", "-A", program), version);
      assertMatch(await start(Deno.execPath(), "run", "-A", library, "documents"), version);
      assertMatch(await machine.a2c("documents", "--version"), version);
      await Deno.mkdir(join(folder, "notes"));
      await Deno.writeTextFile(join(folder, "notes", "toner.md"), "# Toner\n\nReplace it.\n");
      const args = ["run", "-A", program, "notes"];
      const client = new Client({ name: "test", version: "1" });
      await client.connect(new StdioClientTransport({ command: Deno.execPath(), args, cwd: folder }));
      const read = async (uri: string) => JSON.stringify((await client.readResource({ uri })).contents);
      const list = await eventually(
        () => read("dpe://local.documents.notes"),
        (text) => !text.includes("Not read yet"),
        "the note to be read",
      );
      assertStringIncludes(list, "Replace it.");
      await client.close();
    });
    await t.step("a Server, an Agent and an MCP server run in Node, and meet a Computer", async () => {
      const shop = { command: node, args: [join(folder, "out", "shop_server.js")] };
      const till = { command: node, args: [join(folder, "out", "till_server.js")] };
      await Deno.writeTextFile(join(folder, "mcp.json"), JSON.stringify({ mcpServers: { shop, till } }));
      const reports = join(folder, "reports");
      await Deno.mkdir(reports);
      await Deno.writeTextFile(join(reports, "harvest.md"), "# Harvest\n\nThe best since 2019.\n");
      const program = [join(folder, "out", "program.js"), machine.command, join(folder, "mcp.json"), reports];
      const { runtime, windows, toolkit, ...met } = JSON.parse(await machine.run(node, program));
      assertMatch(runtime, /^v22\./);
      assertMatch(String(windows), /window:\/\/com\.example\.shop\/status\s+Open/);
      assertMatch(String(windows), /window:\/\/com\.example\.till\s+Empty/);
      assertEquals(met, {
        computer: "laptop",
        content: [{ type: "text", text: "Welcome" }],
        host: "com.example.shop",
        page: "Apples: 3",
        harvest: "Harvest\n\nThe best since 2019.",
        refused: 4202,
        gateway: 200,
      });
      assertEquals(toolkit, {
        tools: ["list_computers", "view_desktop", "find_documents", "read_document", "greet"],
        greeting: [{ type: "text", text: "Welcome" }],
        isPrompted: true,
      });
    });
    await t.step("the Server of the README serves in Node until its process is ended", async () => {
      const [, code] =
        /## The Server\n\n```ts ignore\n([^]*?)```/.exec(await Deno.readTextFile(join(root, "README.md"))) ??
          [];
      assert(code !== undefined, "the README has no Server");
      await Deno.writeTextFile(join(folder, "server.js"), code.replace("port: 3000", "port: 0"));
      assertEquals(await machine.serveAndEnd("SIGTERM", [node, "server.js"]), 143);
    });
    await t.step("a Computer in a program for Node says at its import that it needs Deno", async () => {
      const { code, stderr } = await machine.try(node, [join(folder, "out", "computer.js")]);
      assertEquals(code, 1);
      assertStringIncludes(stderr, "npx deno run");
    });
    await t.step("a Node that is too old is told at the import, with the one that is needed", async () => {
      const older = await findNode(folder, "20");
      for (const door of ["", "/agent", "/group", "/server", "/provider", "/toolkits", "/gateway"]) {
        const args = ["--input-type=module", "--eval", `import "@a2c-smcp/sdk${door}";`];
        const { code, stderr } = await machine.try(older, args);
        assertEquals(code, 1);
        assertMatch(stderr, /Cannot use @a2c-smcp\/sdk in Node 20\.\S+: it needs Node 22\.12 or later/);
      }
    });
    let page: ReadonlyMap<string, string> = new Map();
    await t.step("esbuild bundles a page with an Agent, without any option for Node's modules", async () => {
      page = await bundlePage(folder);
    });
    const inBrowser = (name: string, run: (site: Site) => Promise<void>) =>
      t.step({
        name,
        ignore: !hasChromium || page.size === 0,
        async fn() {
          await using site = await Site.open(page);
          await run(site);
        },
      });
    for (const transport of ["polling", "websocket"] as const) {
      await inBrowser(`a page uses a Computer by ${transport} alone`, (site) => visitBy(transport, site));
      await inBrowser(
        `a page is told why it cannot connect by ${transport}`,
        (site) => failBy(transport, site),
      );
    }
    await inBrowser("a page that came by plain HTTP is told so", async (site) => {
      assertStringIncludes(String(await site.goToPlainPage()), "serve the page by https");
    });
    await t.step("a Computer in a program for Deno has the library from the npm package", async () => {
      assertEquals(await runByDeno(folder, ["run", "-A", "computer.ts"]), "laptop running\n");
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a program for Deno has the library from the clone beside it", async (t) => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "beside-" }));
  try {
    await Deno.copyFile(join(CONSUMER, "computer.ts"), join(folder, "computer.ts"));
    await t.step("by the clone's own deno.json", async () => {
      const args = ["run", "-A", "--check", "--no-lock", "--config", join(root, "deno.json"), "computer.ts"];
      assertEquals(await runByDeno(folder, args), "laptop running\n");
    });
    await t.step("by a link and an import in a deno.json of its own, without a warning", async () => {
      const imports = { "@a2c-smcp/sdk": `jsr:@a2c-smcp/sdk@${manifest.version}` };
      await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify({ links: [root], imports }));
      const { code, stdout, stderr } = await capture(
        Deno.execPath(),
        ["run", "-A", "computer.ts"],
        inDeno(folder),
      );
      assertEquals({ code, stdout, warnings: /warning/i.test(stderr) }, {
        code: 0,
        stdout: "laptop running\n",
        warnings: false,
      });
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

function inDeno(cwd: string): Place {
  return { cwd, env: { NO_COLOR: "1" } };
}

function runByDeno(cwd: string, args: readonly string[]): Promise<string> {
  return succeed(Deno.execPath(), args, inDeno(cwd));
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A machine with Node alone on its path, an empty home, and the programs installed from the registry of the folder. */
class Machine {
  readonly command: string;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.#folder = folder;
    this.#env = env;
    this.command = join(folder, "prefix", "bin", "a2c-smcp");
  }

  static async prepare(folder: string, registry: string): Promise<Machine> {
    for (const name of ["path", "home"]) await Deno.mkdir(join(folder, name));
    const prefix = join(folder, "prefix");
    await succeed("npm", [
      "install",
      "--global",
      "--prefix",
      prefix,
      ...QUIET,
      "--registry",
      registry,
      "a2c-smcp",
    ], {
      cwd: folder,
    });
    const node = await succeed("node", ["--print", "process.execPath"], { cwd: folder });
    await Deno.symlink(node.trim(), join(folder, "path", "node"));
    // What npm starts commands by.
    await Deno.symlink("/bin/sh", join(folder, "path", "sh"));
    return new Machine(folder, {
      PATH: [join(prefix, "bin"), join(folder, "path")].join(":"),
      HOME: join(folder, "home"),
      // Computers of other homes do not take the names of these.
      XDG_RUNTIME_DIR: join(folder, "home"),
      NO_COLOR: "1",
    });
  }

  /** What the command prints on standard output. */
  a2c(...args: string[]): Promise<string> {
    return this.run(this.command, args);
  }

  run(command: string, args: readonly string[]): Promise<string> {
    return succeed(command, args, this.#options);
  }

  try(command: string, args: readonly string[]): Promise<Outcome> {
    return capture(command, args, this.#options);
  }

  /** npx of the system, with a cache of its own. */
  async npxWords(registry: string): Promise<readonly [string, ...string[]]> {
    const npx = await Deno.realPath((await succeed("which", ["npx"], { cwd: this.#folder })).trim());
    return ["node", npx, "--yes", "--cache", this.#cache, "--registry", registry];
  }

  get #cache(): string {
    return join(this.#folder, "cache");
  }

  /** Runs a command of a package that is not installed. The first time, nothing is in npm's cache. */
  async npx(
    registry: string,
    ...words: readonly string[]
  ): Promise<{
    readonly output: string;
    readonly seconds: number;
    readonly fetchedMegabytes: number;
    readonly megabytes: number;
  }> {
    const [command, ...args] = await this.npxWords(registry);
    const startMs = performance.now();
    const output = await this.run(command, [...args, ...words]);
    const seconds = Math.round((performance.now() - startMs) / 100) / 10;
    const sizeOf = async (name: string) =>
      Number.parseInt(await succeed("du", ["-sm", join(this.#cache, name)], { cwd: this.#folder }));
    const [fetchedMegabytes, megabytes] = [await sizeOf("_cacache"), await sizeOf("_npx")];
    return { output, seconds, fetchedMegabytes, megabytes };
  }

  /** Starts a program with a port, asks it something, sends a signal, waits for its last process, and gives its exit code. */
  async serveAndEnd(
    signal: Deno.Signal,
    [command, ...args]: readonly [string, ...string[]] = [this.command, "server", "--port", "0"],
    expected = "ok",
  ): Promise<number> {
    const child = new Deno.Command(command, {
      ...this.#options,
      args,
      stdout: "piped",
      stderr: "null",
      signal: AbortSignal.timeout(DEADLINE_MS),
    }).spawn();
    let printed = "";
    let answer = "";
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      printed += text;
      const [url] = /http:\/\/127\.0\.0\.1:\d+(?=[\s/])/.exec(printed) ?? [];
      if (url === undefined || answer !== "") continue;
      answer = await (await fetch(url)).text();
      child.kill(signal);
    }
    assertStringIncludes(answer, expected, printed);
    return (await child.status).code;
  }

  get #options() {
    return { cwd: this.#folder, clearEnv: true, env: this.#env };
  }
}

/** Installs a package of ours, and counts what came. */
async function countInstalled(folder: string, name: string): Promise<number> {
  await Deno.writeTextFile(join(folder, "package.json"), '{ "type": "module" }');
  await runIn("npm", ["install", ...QUIET, name], folder);
  return (await runIn("npm", ["ls", "--all", "--parseable"], folder)).trim().split("\n").length - 1;
}

/** The packages that modules of a tarball import, and that its manifest does not name. */
async function undeclaredImports(tarball: string): Promise<string[]> {
  const folder = await Deno.makeTempDir();
  try {
    await runIn("tar", ["xzf", tarball], folder);
    const { name, dependencies, peerDependencies = {} } = JSON.parse(
      await Deno.readTextFile(join(folder, "package", "package.json")),
    );
    const { metafile } = await esbuild.build({
      entryPoints: [`${folder}/package/**/*.js`],
      outdir: folder,
      bundle: true,
      packages: "external",
      metafile: true,
      write: false,
      platform: "node",
      format: "esm",
      logLevel: "warning",
    });
    const declared = [name, ...Object.keys(dependencies)];
    // Those may be missing, so only `import()` may ask for them.
    const optional = [...declared, ...Object.keys(peerDependencies)];
    const undeclared = Object.values(metafile.inputs).flatMap(({ imports }) => imports)
      .filter(({ path, external }) => external === true && !isBuiltin(path))
      .map(({ path, kind }) => ({ name: /^(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path, kind }))
      .filter(({ name, kind }) => !(kind === "dynamic-import" ? optional : declared).includes(name));
    return [...new Set(undeclared.map(({ name }) => name))].sort();
  } finally {
    await esbuild.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Installs the npm packages beside TypeScript, and compiles the consumer with all checks. */
async function installLibrary(folder: string): Promise<void> {
  const { imports } = manifest;
  await Deno.writeTextFile(join(folder, "package.json"), '{ "type": "module" }');
  // The package depends on neither version of the MCP SDK's server.
  const sdks = [imports["@modelcontextprotocol/sdk"], imports["@modelcontextprotocol/server"]];
  const packages = [
    manifest.name,
    documents.name,
    "typescript@7",
    "@types/node@22",
    ...sdks.map((sdk) => sdk.replace("npm:", "")),
  ];
  await succeed("npm", ["install", ...QUIET, ...packages], { cwd: folder });
  for await (const { name } of Deno.readDir(CONSUMER)) {
    await Deno.copyFile(join(CONSUMER, name), join(folder, name));
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noPropertyAccessFromIndexSignature: true,
    noUncheckedIndexedAccess: true,
    target: "es2024",
    module: "nodenext",
    types: ["node"],
    outDir: "out",
    skipLibCheck: false,
  };
  await Deno.writeTextFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }));
  await succeed("npx", ["tsc", "--project", "."], { cwd: folder });
}

/** A Node of this line, by npm. */
async function findNode(folder: string, line: string): Promise<string> {
  const args = [
    "exec",
    "--yes",
    `--package=node@${line}`,
    ...QUIET,
    "--",
    "node",
    "--print",
    "process.execPath",
  ];
  const path = (await succeed("npm", args, { cwd: folder })).trim();
  assert(path !== "", `npm gives no path of Node ${line}`);
  return path;
}

function runIn(command: string, args: readonly string[], cwd: string): Promise<string> {
  return succeed(command, args, { cwd });
}

interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly clearEnv?: boolean;
}

async function succeed(command: string, args: readonly string[], place: Place): Promise<string> {
  const { code, stdout, stderr } = await capture(command, args, place);
  assertEquals(code, 0, `${command} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}

async function capture(command: string, args: readonly string[], place: Place): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command(command, {
    ...place,
    args: [...args],
    stdin: "null",
    signal: AbortSignal.timeout(DEADLINE_MS),
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
