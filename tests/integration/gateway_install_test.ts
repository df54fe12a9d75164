/** The gateway writes itself into the files of MCP clients, and is started from there. */
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { dirname, fromFileUrl, join, normalize } from "@std/path";
import { parse as parseJsonc } from "jsonc-parser";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import { runHosted } from "../fixtures/hosted_door.ts";
import { untilOffered } from "../fixtures/http_door.ts";
import { isWindows } from "../fixtures/system.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { connectV1, GatewayOffice } from "./_gateway_office.ts";

// The transports of the official clients wait with a timer for the end of a program, and leave it behind.
const test = (name: string, fn: (home: Home) => Promise<void>, { ignore = false } = {}) =>
  Deno.test({
    name,
    async fn() {
      await using home = new Home();
      await fn(home);
    },
    ignore: ignore || Deno.build.os === "darwin",
  });

const DENO_DIR = Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "", ".cache", "deno");

/** A user's home. */
class Home implements AsyncDisposable {
  readonly path = Deno.makeTempDirSync();

  file(name: string): string {
    return join(this.path, name);
  }

  async write(name: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(this.file(name)), { recursive: true });
    await Deno.writeTextFile(this.file(name), text);
  }

  read(name: string): Promise<string> {
    return Deno.readTextFile(this.file(name));
  }

  /** Runs the Agent's command `mcp` for this user. */
  async mcp(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const connection = [
      "--url",
      "http://127.0.0.1:3000",
      "--office",
      "lab",
      "--name",
      "ada",
      "--token",
      "s3cret",
    ];
    return await runHosted("agent.ts", ["mcp", ...args, ...connection], { env: this.env });
  }

  /** Runs the command for a hub, which needs no connection. */
  async hub(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    return await runHosted("agent.ts", ["mcp", ...args], { env: this.env });
  }

  /** The environment of a program of this user; what Deno has downloaded is that of the test. */
  get env(): Record<string, string> {
    const [HOME, XDG_STATE_HOME, XDG_CONFIG_HOME] = [this.path, this.file("state"), this.file(".config")];
    const env = { HOME, XDG_STATE_HOME, XDG_CONFIG_HOME, DENO_DIR };
    const local = { LOCALAPPDATA: this.file("local") };
    return isWindows ? { ...env, ...local, USERPROFILE: HOME, APPDATA: XDG_CONFIG_HOME } : env;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Deno.remove(this.path, { recursive: true });
  }
}

const JSON_CLIENTS = [
  {
    client: "claude",
    file: ".config/Claude/claude_desktop_config.json",
    member: "mcpServers",
    isStrict: true,
  },
  { client: "claude-code", file: ".claude.json", member: "mcpServers", isStrict: true },
  { client: "vscode", file: ".config/Code/User/mcp.json", member: "servers", isStrict: false },
  { client: "cursor", file: ".cursor/mcp.json", member: "mcpServers", isStrict: false },
] as const;

for (const { client, file, member, isStrict } of JSON_CLIENTS) {
  test(`${client}: the entry joins what is there, and leaves again`, async (home) => {
    const comments = isStrict ? ["", ""] : ["// my servers", ", // keep"];
    const before = `{\n\t${comments[0]}\n\t"${member}": {\n\t\t"mine": { "command": "x" }${
      comments[1]
    }\n\t},\n\t"other": [1]\n}\n`;
    await home.write(file, before);
    const installed = await home.mcp("install", client, "--yes", "--tools", "search");
    assertEquals([installed.code, installed.stderr], [0, ""]);
    const text = await home.read(file);
    assert(isStrict || text.includes("// my servers") && text.includes("// keep"), text);
    const value = parseJsonc(text, [], { allowTrailingComma: true });
    assertEquals(Object.keys(value[member]), ["mine", "a2c"]);
    assertEquals(value.other, [1]);
    const { args } = value[member].a2c;
    assertEquals(args.slice(args.indexOf("mcp"), args.indexOf("--token-file")), [
      "mcp",
      ...["--url", "http://127.0.0.1:3000", "--office", "lab", "--name", "ada"],
    ]);
    assert(args.includes("search") && args.includes("--state"));
    assertEquals(await home.read(`${file}.before-a2c`), before);
    assert(installed.stdout.includes(`${normalize(file)}.before-a2c\n`), installed.stdout);
    assertMatch(installed.stdout, /share the office's one seat/);

    const again = await home.mcp("install", client, "--yes", "--tools", "search");
    assertMatch(again.stdout, /has this entry already/);
    const removed = await home.mcp("uninstall", client, "--yes");
    assertEquals(removed.code, 0);
    assert(removed.stdout.includes(`${normalize(file)}.before-a2c\n`), removed.stdout);
    assertStringIncludes(removed.stdout, 'no longer has "a2c"');
    const token = args[args.indexOf("--token-file") + 1];
    assertMatch(removed.stdout.split(token)[0] ?? "", /token[^\n]*stays in $/);
    assertEquals(parseJsonc(await home.read(file), [], { allowTrailingComma: true }), {
      [member]: { mine: { command: "x" } },
      other: [1],
    });
  });
}

test("claude: as a package of Windows, it reads a file of its own", async (home) => {
  const folder = "local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming";
  await Deno.mkdir(home.file(folder), { recursive: true });
  const { code, stdout } = await home.mcp("install", "claude", "--yes");
  assertEquals(code, 0, stdout);
  const { mcpServers } = JSON.parse(await home.read(`${folder}/Claude/claude_desktop_config.json`));
  assertEquals(Object.keys(mcpServers), ["a2c"]);
}, { ignore: !isWindows });

test("codex: the table joins what is there, is replaced, and leaves again", async (home) => {
  const before =
    'model = "x" # mine\n\n[mcp_servers.mine]\ncommand = "y"\n\n[mcp_servers.mine.env]\nA = "1"\n';
  await home.write(".codex/config.toml", before);
  assertEquals((await home.mcp("install", "codex", "--yes")).code, 0);
  const installed = await home.read(".codex/config.toml");
  assert(installed.startsWith(before), installed);
  assertMatch(installed, /\n\[mcp_servers\.a2c\]\ncommand = ".*"\nargs = \[.*"--office", "lab".*\]\n$/);
  assertEquals((await home.mcp("install", "codex", "--yes", "--timeout", "5m")).code, 0);
  assertEquals((await home.read(".codex/config.toml")).match(/\[mcp_servers\.a2c\]/g)?.length, 1);
  assertEquals((await home.mcp("uninstall", "codex", "--yes")).code, 0);
  assertEquals((await home.read(".codex/config.toml")).trimEnd(), before.trimEnd());
});

test("codex: comments stay, and what a person has added to the entry", async (home) => {
  await home.write(
    ".codex/config.toml",
    '# top\n[mcp_servers.mine]\ncommand = "y"\n\n# about the model\n[model]\nx = 1\n',
  );
  await home.mcp("install", "codex", "--yes");
  const installed = await home.read(".codex/config.toml");
  await home.write(
    ".codex/config.toml",
    `${installed}startup_timeout_sec = 20 # slow\n\n# at the end\n[last]\n`,
  );
  await home.mcp("install", "codex", "--yes", "--timeout", "5m");
  const text = await home.read(".codex/config.toml");
  for (const kept of ["# top", "# about the model", "startup_timeout_sec = 20 # slow", "# at the end"]) {
    assert(text.includes(kept), text);
  }
  assertMatch(text, /"--timeout", "300s"/);
  await home.mcp("uninstall", "codex", "--yes");
  const removed = await home.read(".codex/config.toml");
  assert(removed.includes("# at the end\n[last]") && !removed.includes("a2c"), removed);
});

test("an entry keeps what a person has added to it", async (home) => {
  await home.mcp("install", "cursor", "--yes");
  const value = JSON.parse(await home.read(".cursor/mcp.json"));
  value.mcpServers.a2c.env = { A: "1" };
  await home.write(".cursor/mcp.json", JSON.stringify(value, null, 2));
  await home.mcp("install", "cursor", "--yes", "--timeout", "5m");
  const { args, env } = JSON.parse(await home.read(".cursor/mcp.json")).mcpServers.a2c;
  assertEquals([args.includes("300s"), env], [true, { A: "1" }]);
  const headers = { "x-team": "1" };
  const spelled = HUB.replace(".com", ".com:443");
  await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { a2c: { url: spelled, headers } } }));
  await home.hub("install", "cursor", HUB, "--yes");
  assertEquals(JSON.parse(await home.read(".cursor/mcp.json")).mcpServers.a2c, { url: HUB, headers });
});

/** As much of one as this program looks at. */
const CERTIFICATE = "-----BEGIN CERTIFICATE-----\n";
const HUB = "https://hub.example.com/mcp/o/lab";
/** What each client reads for an MCP server at a URL. */
const REMOTE_ENTRIES = {
  claude: { command: "npx", args: ["-y", "mcp-remote", HUB] },
  "claude-code": { type: "http", url: HUB },
  vscode: { type: "http", url: HUB },
  cursor: { url: HUB },
};

for (const { client, file, member } of JSON_CLIENTS) {
  test(`${client}: the entry of a hub takes the place of the gateway's, and gives it back`, async (home) => {
    const entryOf = async () => JSON.parse(await home.read(file))[member].a2c;
    await home.mcp("install", client, "--yes");
    const gateway = await entryOf();
    const { code, stdout, stderr } = await home.hub("install", client, HUB, "--yes");
    assertEquals([code, stderr], [0, ""]);
    assertEquals(await entryOf(), REMOTE_ENTRIES[client]);
    assertStringIncludes(stdout, `reaches ${HUB} as "a2c"`);
    assertEquals(stdout.includes("mcp-remote from npm"), client === "claude");
    await home.mcp("install", client, "--yes");
    assertEquals(await entryOf(), gateway);
  });
}

/** An entry of this name for another URL. */
const FOREIGN = [
  [
    "claude",
    ".config/Claude/claude_desktop_config.json",
    '{ "mcpServers": { "mine": {}, "a2c": { "command": "npx", "args": ["mcp-remote", "https://x.example"], "env": { "T": "s3cret" } } } }',
  ],
  [
    "cursor",
    ".cursor/mcp.json",
    '{ "mcpServers": { "mine": {}, "a2c": { "url": "https://x.example/?k=s3cret", "headers": { "authorization": "s3cret" } } } }',
  ],
  [
    "codex",
    ".codex/config.toml",
    '[mcp_servers.mine]\ncommand = "y"\n\n[mcp_servers.a2c]\nurl = "https://x.example"\n[mcp_servers.a2c.http_headers]\nauthorization = "s3cret"\n',
  ],
] as const;

const parseToml = (text: string) => getStaticTOMLValue(parseTOML(text));

for (const [client, file, before] of FOREIGN) {
  test(`${client}: what belongs to another URL goes with it, and is not shown`, async (home) => {
    await home.write(file, before);
    const { code, stdout } = await home.hub("install", client, HUB, "--yes");
    assertEquals([code, stdout.includes("s3cret")], [0, false]);
    assertMatch(stdout, /^ {2}- "a2c"$/m);
    const after = await home.read(file);
    assertEquals([after.includes("s3cret"), after.includes("mine")], [false, true]);
  });
}

test("codex: the entry of a hub takes the place of the gateway's, and gives it back", async (home) => {
  const file = ".codex/config.toml";
  await home.mcp("install", "codex", "--yes");
  const gateway = parseToml(await home.read(file));
  await home.write(file, `${await home.read(file)}tool_timeout_sec = 300 # long\n`);
  await home.hub("install", "codex", HUB, "--yes");
  const text = await home.read(file);
  assertEquals(parseToml(text), { mcp_servers: { a2c: { url: HUB, tool_timeout_sec: 300 } } });
  assertStringIncludes(text, "# long");
  await home.write(file, text.replace(/tool_timeout_sec.*\n/, ""));
  await home.mcp("install", "codex", "--yes");
  assertEquals(parseToml(await home.read(file)), gateway);
});

test("the URL of a hub without an office is refused, with the paths that it has", async (home) => {
  const { code, stderr } = await home.hub("install", "cursor", "https://hub.example.com", "--yes");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "https://hub.example.com/mcp/o/OFFICE");
  assertEquals([...Deno.readDirSync(home.path)].map(({ name }) => name), []);
});

test("uninstall tells of no token that the program has not written", async (home) => {
  await home.write("own.token", "t\n");
  const connection = ["--url", "http://127.0.0.1:3000", "--office", "lab", "--name", "ada"];
  await home.hub("install", "cursor", "--yes", ...connection, "--token-file", home.file("own.token"));
  assertStringIncludes(await home.read(".cursor/mcp.json"), "own.token");
  const { code, stdout } = await home.hub("uninstall", "cursor", "--yes");
  assertEquals([code, stdout.includes("token")], [0, false], stdout);
});

test(
  "claude: mcp-remote gets the certificate authority of a hub, beside what a person has set",
  async (home) => {
    const file = ".config/Claude/claude_desktop_config.json";
    const entry = () => home.read(file).then((text) => JSON.parse(text).mcpServers.a2c);
    const ca = ["--ca-file", home.file("ca.pem")];
    const refused = await home.hub("install", "claude", HUB, "--yes", ...ca);
    assertEquals(refused.code, 2);
    assertStringIncludes(refused.stderr, "Cannot read CA file");
    await home.write("ca.pem", CERTIFICATE);
    const { code, stdout } = await home.hub("install", "claude", HUB, "--yes", ...ca);
    const env = { NODE_EXTRA_CA_CERTS: home.file("ca.pem") };
    assertEquals([code, (await entry()).env], [0, env]);
    assertStringIncludes(stdout, "NODE_EXTRA_CA_CERTS");
    await home.write(file, JSON.stringify({ mcpServers: { a2c: { ...await entry(), env: { A: "1" } } } }));
    await home.hub("install", "claude", HUB, "--yes", ...ca);
    assertEquals((await entry()).env, { A: "1", ...env });
  },
  { ignore: isWindows },
);

test("cursor: is told where its own trust is set, since its entry has no place for --ca-file", async (home) => {
  const ca = ["--ca-file", home.file("ca.pem")];
  await home.write("ca.pem", CERTIFICATE);
  const installed = await home.hub("install", "cursor", HUB, "--yes", ...ca);
  assertStringIncludes(installed.stdout, "Cursor connects by itself");
  assertEquals(JSON.parse(await home.read(".cursor/mcp.json")).mcpServers.a2c, { url: HUB });
  const { stdout, stderr } = await home.hub("link", "cursor", HUB, ...ca);
  assertMatch(stdout, /^cursor:\S+\n$/);
  assertStringIncludes(stderr, "--ca-file");
});

test("claude: a connector is named only where the cloud of its vendor gets to", async (home) => {
  for (
    const [url, isReached] of [[HUB, true], ["http://127.0.0.1:3000/mcp/o/lab", false], [
      "https://192.168.1.5/mcp/o/lab",
      false,
    ]] as const
  ) {
    const { stdout } = await home.hub("install", "claude", url, "--yes");
    assertStringIncludes(stdout, "mcp-remote from npm");
    assertEquals(stdout.includes("connector"), isReached, stdout);
  }
});

test("a client reads a folder of documents by one line, beside the gateway, until that is taken back", async (home) => {
  await home.write("Reports/harvest.md", "# Harvest\n\nThe orchards gave 4,812 tons of apples.\n");
  const folder = ["--documents", home.file("Reports")];
  await home.mcp("install", "cursor", "--yes");
  const installed = await home.hub("install", "cursor", ...folder, "--yes");
  assertEquals([installed.code, installed.stderr], [0, ""]);
  const { a2c, documents } = JSON.parse(await home.read(".cursor/mcp.json")).mcpServers;
  assert(a2c.args.includes("mcp"));
  assertEquals(JSON.parse((await home.hub("--print-config", ...folder)).stdout).mcpServers, { documents });
  if (!isWindows) {
    await using client = await connectV1([documents.command, ...documents.args]);
    const found = await client.callTool({ name: "find_documents", arguments: { query: "apples" } });
    assertStringIncludes(JSON.stringify(found), "harvest.md");
  }
  const other = await home.hub("install", "cursor", "--documents", home.file("."), "--dry-run");
  assertMatch(other.stdout, /^ {2}- "documents" \(what you have added to it stays\)$/m);
  await home.write("Smith, Ada/notes.md", "# Notes\n");
  const comma = await home.hub("install", "cursor", "--documents", home.file("Smith, Ada"), "--dry-run");
  assertMatch(
    comma.stderr,
    /^warning: --documents: a path with a comma cannot be granted: it may read all of/,
  );
  assertEquals((await home.hub("uninstall", "cursor", ...folder, "--yes")).code, 0);
  assertEquals(Object.keys(JSON.parse(await home.read(".cursor/mcp.json")).mcpServers), ["a2c"]);
  const missing = await home.hub("install", "cursor", "--documents", home.file("none"), "--yes");
  assertEquals(missing.code, 2);
  assertStringIncludes(missing.stderr, "--documents");
  const unquoted = await home.hub("install", "cursor", "--documents", home.file("School"), "papers", "--yes");
  assertEquals(unquoted.code, 2);
  assertStringIncludes(unquoted.stderr, "needs quotes");
});

test("entries of two Servers have a token each, though their names are the same", async (home) => {
  const tokenOf = async (url: string, token: string) => {
    const file = home.file("entry.json");
    await runHosted("agent.ts", [
      ...["mcp", "install", "cursor", "--yes", "--file", file, "--url", url, "--token", token],
      ...["--office", "lab", "--name", "ada"],
    ], { env: home.env });
    const { args } = JSON.parse(await Deno.readTextFile(file)).mcpServers.a2c;
    return args[args.indexOf("--token-file") + 1];
  };
  const [first, second] = [
    await tokenOf("http://one.example", "1"),
    await tokenOf("http://two.example", "2"),
  ];
  assertEquals([await Deno.readTextFile(first), await Deno.readTextFile(second)], ["1\n", "2\n"]);
});

test("the preview shows nothing of other entries, and the file before the first change is kept", async (home) => {
  const before = '{\n  "mcpServers": {\n    "mine": {\n      "env": { "KEY": "s3cret-key" }\n    }\n  }\n}\n';
  await home.write(".cursor/mcp.json", before);
  const { stdout } = await home.mcp("install", "cursor", "--yes");
  assertEquals(stdout.includes("s3cret-key"), false);
  await home.mcp("install", "cursor", "--yes", "--timeout", "5m");
  await home.mcp("uninstall", "cursor", "--yes");
  assertEquals(await home.read(".cursor/mcp.json.before-a2c"), before);
  const names = Array.from(Deno.readDirSync(home.file(".cursor")), ({ name }) => name);
  assertEquals(names.toSorted(), ["mcp.json", "mcp.json.before-a2c"]);
});

test("nothing that a client keeps starts the program from the cache of a launcher", async (home) => {
  const root = fromFileUrl(new URL("../../", import.meta.url));
  await home.write("notes/a.txt", "a");
  const connection = ["--url", "http://127.0.0.1:3000", "--office", "lab", "--name", "ada"];
  const refusal = async (cache: string, words: readonly string[]) => {
    const folder = home.file(`${cache}/node_modules`);
    await Deno.mkdir(folder, { recursive: true });
    const link = join(folder, "a2c-smcp");
    await Deno.symlink(root, link).catch(() => {});
    const program = ["run", "-A", "--config", join(root, "deno.json"), join(link, "agent.ts"), "mcp"];
    const command = new Deno.Command(Deno.execPath(), { args: [...program, ...words], env: home.env });
    const { code, stdout, stderr } = await command.output();
    assertEquals([code, new TextDecoder().decode(stdout)], [2, ""]);
    return new TextDecoder().decode(stderr);
  };
  for (
    const words of [
      ["install", "cursor", "--yes", ...connection],
      ["install", "cursor", "--yes", "--documents", home.file("notes")],
      ["link", "cursor", ...connection],
      ["--print-config", ...connection],
    ]
  ) {
    const text = await refusal(".npm/_npx/c0ffee", words);
    assertStringIncludes(text, "from the cache of npx");
    assertStringIncludes(text, "npm install --global a2c-smcp");
  }
  for (
    const [launcher, cache] of [["pnpm dlx", ".cache/pnpm/dlx/c0ffee/1"], [
      "bunx",
      "bunx-0-a2c-smcp",
    ]] as const
  ) {
    assertStringIncludes(await refusal(cache, ["--print-config", ...connection]), `the cache of ${launcher}`);
  }
  await assertRejects(() => Deno.stat(home.file(".cursor")), Deno.errors.NotFound);
}, { ignore: isWindows });

test("Claude Code is told where it looks", async (home) => {
  const { env } = home;
  const connection = ["--url", "http://127.0.0.1:3000", "--office", "lab", "--name", "ada"];
  await runHosted("agent.ts", ["mcp", "install", "claude-code", "--yes", ...connection], {
    env: { ...env, CLAUDE_CONFIG_DIR: home.file("claude") },
  });
  assertMatch(await home.read("claude/.claude.json"), /"a2c"/);
});

test("a token file of the entry counts, whatever token the environment has", async (home) => {
  await using office = await GatewayOffice.open({ laptop: scriptedServers({}) });
  await home.write("token", "t\n");
  const { code, stdout, stderr } = await runHosted("agent.ts", [
    ...[
      "office",
      "--url",
      office.server.url,
      "--office",
      "lab",
      "--name",
      "ada",
      "--token-file",
      home.file("token"),
    ],
  ], { env: { ...home.env, A2C_TOKEN: "other" } });
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /laptop/);
});

test("a token never stands in the client's file, but in one for this user alone", async (home) => {
  await home.mcp("install", "cursor", "--yes");
  assertEquals((await home.read(".cursor/mcp.json")).includes("s3cret"), false);
  const { args } = JSON.parse(await home.read(".cursor/mcp.json")).mcpServers.a2c;
  const file = args[args.indexOf("--token-file") + 1];
  assert(file.startsWith(home.file("state/a2c-smcp")), file);
  assertEquals(await Deno.readTextFile(file), "s3cret\n");
  if (!isWindows) assertEquals(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
  const refused = await home.mcp("install", "cursor", "--yes", "--header", "authorization=Bearer x");
  assertEquals(refused.code, 2);
  assertMatch(refused.stderr, /Cannot write --header into the file of a client/);
});

test("--dry-run shows the change and writes nothing; without a terminal nothing is written unasked", async (home) => {
  const shown = await home.mcp("install", "claude", "--dry-run");
  assertEquals(shown.code, 0);
  assertMatch(shown.stdout, /\+ +"a2c": \{[^]*Nothing was written/);
  const unasked = await home.mcp("install", "claude");
  assertEquals(unasked.code, 2);
  assertMatch(unasked.stderr, /add --yes/);
  assertEquals([...Deno.readDirSync(home.path)].map(({ name }) => name), []);
});

test("a file that cannot be read is left as it is, with the place of the mistake", async (home) => {
  await home.write(".cursor/mcp.json", '{ "mcpServers": { "a": }');
  const { code, stderr } = await home.mcp("install", "cursor", "--yes");
  assertEquals(code, 2);
  assertMatch(stderr, /Cannot change ".*mcp\.json": .*line 1/);
  assertEquals(await home.read(".cursor/mcp.json"), '{ "mcpServers": { "a": }');
  await home.write(".claude.json", '{ "mcpServers": { "a": {}, } }');
  assertMatch(
    (await home.mcp("install", "claude-code", "--yes")).stderr,
    /Cannot change ".*claude\.json": Claude Code reads no comments.*\(line 1\)\. Nothing was changed/,
  );
  await home.write(".codex/config.toml", "mcp_servers = { a2c = { command = 'x' } }\n");
  assertMatch(
    (await home.mcp("install", "codex", "--yes")).stderr,
    /Cannot change ".*config\.toml": .*not a table of its own/,
  );
  await home.write(".codex/config.toml", "mcp_servers = { mine = { command = 'x' } }\n");
  assertMatch((await home.mcp("install", "codex", "--yes")).stderr, /not a table of its own/);
});

test("an MCP client starts the gateway by the entry, from another folder", async (home) => {
  const config = scriptedServers({
    files: { tools: [{ name: "read_file", inputSchema: { type: "object" } }] },
  });
  await using office = await GatewayOffice.open({ laptop: config });
  const connection = ["--url", office.server.url, "--office", "lab", "--name", "ada"];
  const { stdout } = await runHosted("agent.ts", ["mcp", "--print-config", ...connection], {
    env: home.env,
  });
  const { command, args } = JSON.parse(stdout).mcpServers.a2c;
  await Deno.mkdir(home.file("state/a2c-smcp"), { recursive: true });
  await using client = await connectV1([command, ...args]);
  await untilOffered(client, "read_file");
}, { ignore: isWindows });

test("claude: a hub on another machine without TLS is refused, as mcp-remote would", async (home) => {
  const { code, stderr } = await home.hub("install", "claude", "http://10.0.0.1:3000/mcp/o/lab", "--yes");
  assertEquals(code, 2);
  assertStringIncludes(stderr, "https://");
});
