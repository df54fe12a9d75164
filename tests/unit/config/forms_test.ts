import { assertEquals, assertThrows } from "@std/assert";
import { normalize } from "@std/path";
import { type ComputerConfig, parseConfig, parseConfigText } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import type { ConfigOrigin } from "../../../src/config/foreign/variables.ts";

const folder = new URL("../../fixtures/configs/", import.meta.url);
const origin: ConfigOrigin = { workspace: "/home/me/shop", home: "/home/me", cwd: "/work" };

function read(file: string): ComputerConfig {
  return parseConfigText(Deno.readTextFileSync(new URL(file, folder)), file, { origin });
}

/** The parameters of each server by name, without the defaults. */
function parametersOf({ servers }: ComputerConfig): Record<string, unknown> {
  const defaults = [
    ["args", []],
    ["env", null],
    ["cwd", null],
    ["encoding", "utf-8"],
    ["encoding_error_handler", "strict"],
    ["headers", null],
    ["timeout", "PT30S"],
    ["sse_read_timeout", "PT5M"],
    ["terminate_on_close", true],
    ["timeout", 5],
    ["sse_read_timeout", 300],
  ].map((entry) => JSON.stringify(entry));
  return Object.fromEntries(servers.map(({ name, type, server_parameters }) => [
    `${name}: ${type}`,
    Object.fromEntries(
      Object.entries(server_parameters).filter((entry) => !defaults.includes(JSON.stringify(entry))),
    ),
  ]));
}

const warned = ({ warnings }: ComputerConfig) => warnings.map(({ line, path }) => `${line} ${path}`);

// proves: data-config-name, data-config-union, data-input-base
Deno.test("the specification's form is read with comments, trailing commas and placeholders", () => {
  const config = read("smcp.jsonc");
  assertEquals([config.form, config.inputs.length, config.warnings], ["smcp", 3, []]);
  assertEquals(parametersOf(config), {
    "files: stdio": {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "${input:folder}"],
      env: { LOG_LEVEL: "${env:LOG_LEVEL:-info}" },
      encoding_error_handler: "replace",
    },
    "search: streamable": {
      url: "https://search.example.com/mcp",
      headers: { Authorization: "Bearer ${input:token}" },
      timeout: "PT20S",
      sse_read_timeout: "PT10M",
      terminate_on_close: "${env:TERMINATE:-true}",
    },
    "events: sse": { url: "http://127.0.0.1:3001/sse", timeout: "${input:patience}", sse_read_timeout: 60 },
  });
});

Deno.test("a list of servers keeps its order", () => {
  const config = read("smcp_list.json");
  assertEquals([config.form, config.servers.map(({ name }) => name)], ["smcp", ["b", "a"]]);
});

Deno.test("VS Code's mcp.json is converted, with its inputs and variables", () => {
  const config = read("vscode_mcp.jsonc");
  assertEquals([config.form, config.warnings], ["vscode", []]);
  assertEquals(config.inputs.map(({ id, type }) => [id, type]), [
    ["weather-key", "promptString"],
    ["units", "pickString"],
  ]);
  assertEquals(parametersOf(config), {
    "weather: stdio": {
      command: "python",
      args: ["-m", "weather_server", "--units=${input:units}"],
      env: { WEATHER_KEY: "${input:weather-key}", RETRIES: "3" },
    },
    "notes: stdio": { command: "node", args: ["/home/me/shop/notes.js"], cwd: "/home/me/shop" },
    "remote: streamable": {
      url: "https://mcp.example.com/mcp",
      headers: { Authorization: "Bearer ${env:REMOTE_TOKEN}" },
    },
    "old: sse": { url: "http://localhost:3000/events" },
  });
});

Deno.test("VS Code's settings.json has the servers under mcp", () => {
  const config = read("vscode_settings.jsonc");
  assertEquals([config.form, config.warnings], ["vscode", []]);
  assertEquals(parametersOf(config), {
    "time: stdio": { command: "uvx", args: ["mcp-server-time"], env: {} },
  });
});

Deno.test("the file of Claude Desktop is converted, with other settings in it", () => {
  const config = read("claude_desktop.json");
  assertEquals([config.form, config.warnings], ["mcpServers", []]);
  assertEquals(parametersOf(config), {
    "filesystem: stdio": {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/Users/me/Desktop", "/Users/me/Downloads"],
    },
    "maps: stdio": { command: "npx", args: ["-y", "maps-server"], env: { MAPS_API_KEY: "made-up-key" } },
  });
});

Deno.test("variables of Claude Code become placeholders for the environment", () => {
  const config = read("claude_code.json");
  assertEquals([config.form, config.warnings], ["mcpServers", []]);
  assertEquals(parametersOf(config), {
    "database: stdio": {
      command: "${env:DB_SERVER:-/opt/db/server}",
      args: ["--config", "${env:HOME}/db.json"],
      env: { DB_URL: "${env:DB_URL}" },
    },
    "api: streamable": {
      url: "${env:API_BASE_URL:-https://api.example.com}/mcp",
      headers: { Authorization: "Bearer ${env:API_KEY}" },
    },
    "stream: sse": { url: "https://api.example.com/events" },
  });
});

Deno.test("the file of Cursor is converted, with folders filled in", () => {
  const config = read("cursor.json");
  const separator = Deno.build.os === "windows" ? "\\" : "/";
  assertEquals(parametersOf(config), {
    "local: stdio": {
      command: "npx",
      args: ["-y", "local-server", `/home/me/shop${separator}data`],
      env: { API_KEY: "${env:LOCAL_API_KEY}" },
    },
    "remote: streamable": { url: "https://mcp.example.com/mcp", headers: { "X-Home": "/home/me" } },
  });
});

Deno.test("Windsurf's serverUrl is a URL, and its disabled tools are forbidden", () => {
  const config = read("windsurf.json");
  assertEquals(parametersOf(config), {
    "docs: streamable": {
      url: "https://docs.example.com/mcp",
      headers: { Authorization: "Bearer ${env:AUTH_TOKEN}" },
    },
    "design: sse": { url: "http://127.0.0.1:3845/sse" },
  });
  assertEquals(config.servers[0]?.forbidden_tools, ["publish"]);
});

Deno.test("tools in Cline's alwaysAllow need no confirmation", () => {
  const config = read("cline.json");
  assertEquals(
    config.servers.map(({ type, disabled, tool_meta, default_tool_meta }) => [
      type,
      disabled,
      tool_meta,
      default_tool_meta,
    ]),
    [
      ["stdio", false, { list_tickets: { auto_apply: true }, get_ticket: { auto_apply: true } }, undefined],
      ["streamable", true, {}, { auto_apply: true }],
    ],
  );
  assertEquals(warned(config), ["9 mcpServers.tickets.timeout"]);
});

Deno.test("Gemini's httpUrl, trust, $NAME and relative folder are converted, with warnings for keys without effect", () => {
  const config = read("gemini_settings.json");
  assertEquals(parametersOf(config), {
    "python: stdio": {
      command: "python",
      args: ["-m", "my_mcp_server", "--port", "8080"],
      cwd: normalize("/home/me/shop/servers/python"),
      env: { API_KEY: "${env:EXTERNAL_API_KEY}", PLAIN: "${env:NOT_FILLED_IN}" },
    },
    "http: streamable": { url: "http://localhost:3000/mcp", headers: { "X-Custom": "yes" } },
    "sse: sse": { url: "http://localhost:8080/sse" },
  });
  const [python] = config.servers;
  assertEquals([python?.default_tool_meta, python?.forbidden_tools], [{ auto_apply: true }, ["drop_table"]]);
  assertEquals(warned(config), [
    "3 mcp.allowed",
    "10 mcpServers.python.timeout",
  ]);
});

Deno.test("own and flat entries may be mixed", () => {
  const own = { type: "stdio", server_parameters: { command: "a" } };
  const { form, servers } = parseConfig({ servers: { a: own, b: { command: "b" } } });
  assertEquals([form, servers.map(({ name, type }) => [name, type])], ["smcp", [["a", "stdio"], [
    "b",
    "stdio",
  ]]]);
});

Deno.test('"servers" and "mcpServers" cannot be combined', () => {
  assertThrows(
    () => parseConfig({ servers: {}, mcpServers: {} }, "c"),
    ConfigError,
    'Cannot read config "c" at mcpServers: cannot be combined with "servers"',
  );
});

Deno.test("a misspelled top-level key is refused with the closest known key", () => {
  assertThrows(
    () => parseConfig({ mcpServer: {} }, "c"),
    ConfigError,
    'must have "servers" or "mcpServers"; unknown key "mcpServer"; did you mean "mcpServers"?',
  );
});

Deno.test('a "command" input of an editor is refused, with a fix', () => {
  const inputs = [{ id: "pick", type: "command", command: "extension.pickProcess" }];
  assertThrows(
    () => parseConfig({ servers: { a: { command: "run" } }, inputs }, "c"),
    ConfigError,
    'Cannot read config "c" at inputs[0].type: must not be "command"',
  );
  const own = { a: { type: "stdio", server_parameters: { command: "${input:pick}" } } };
  assertEquals(parseConfig({ servers: own, inputs }).inputs[0]?.type, "command");
});

Deno.test("what is no configuration is refused with its form", () => {
  const cases: [value: unknown, state: string][] = [
    [{ command: "npx", args: [] }, 'write { "mcpServers": { "NAME": { "command"'],
    [[{ name: "a", command: "x" }], 'as { "servers": [ … ] }'],
    ["text", 'write { "mcpServers": { "NAME": { "command"'],
    [{ unknown: 1 }, 'write { "mcpServers": { "NAME": { "command"'],
  ];
  for (const [value, state] of cases) assertThrows(() => parseConfig(value, "c"), ConfigError, state);
});

Deno.test("servers of Claude Code's projects are used in the folder of the project", () => {
  const config = { projects: { "/a": { mcpServers: { x: { command: "x" } } }, "/b": {} } };
  const at = (cwd: string) =>
    parseConfig(config, "c", { origin: { ...origin, cwd } }).servers.map(({ name }) => name);
  assertEquals([at("/a"), at("/a/deep")], [["x"], ["x"]]);
  assertThrows(() => at("/b"), ConfigError, 'run the command in one of "/a"');
  assertThrows(() => at("/ab"), ConfigError, 'run the command in one of "/a"');
});

Deno.test("an undefined input keeps only its own server from starting", () => {
  const { servers, warnings } = parseConfig({
    mcpServers: { a: { command: "x", args: ["${input:nope}"] }, b: { command: "y" } },
  });
  assertEquals([servers.length, warnings.map(({ path }) => path)], [2, ["mcpServers.a.args[0]"]]);
});
