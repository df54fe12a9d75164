import { assertEquals, assertThrows } from "@std/assert";
import { resolve } from "@std/path";
import { parseConfig } from "../../../../src/config/config.ts";
import { ConfigError } from "../../../../src/config/problem.ts";
import { sandboxOf } from "../../../../src/protocol/config.ts";
import type { ConfigOrigin } from "../../../../src/config/foreign/variables.ts";

type Entry = Readonly<Record<string, unknown>>;

/** What a flat entry becomes. */
function convert(entry: Entry, origin?: ConfigOrigin) {
  const config = parseConfig({ mcpServers: { a: entry } }, "c", { origin });
  const [server] = config.servers;
  if (server === undefined) throw new TypeError("no server");
  return { server, warnings: config.warnings.map(({ path, message }) => `${path} ${message}`) };
}

/** What is wrong with a flat entry, without the file. */
function refusals(entry: Entry): string[] {
  const error = assertThrows(() => parseConfig({ mcpServers: { a: entry } }, "c"), ConfigError);
  return error.problems.map(({ path, message }) => `${path} ${message}`);
}

Deno.test("each program's name of a transport is understood", () => {
  const url = "https://x/mcp";
  const cases: [entry: Entry, type: string][] = [
    [{ command: "x" }, "stdio"],
    [{ type: "stdio", command: "x" }, "stdio"],
    [{ url }, "streamable"],
    [{ type: "http", url }, "streamable"],
    [{ type: "streamable-http", url }, "streamable"],
    [{ type: "streamableHttp", url }, "streamable"],
    [{ transport: "http", url }, "streamable"],
    [{ transportType: "sse", url }, "sse"],
    [{ type: "sse", url }, "sse"],
    [{ httpUrl: "https://x/sse" }, "streamable"],
    [{ type: "http", url: "https://x/sse" }, "streamable"],
    [{ url: "https://x/sse" }, "sse"],
    [{ serverUrl: "https://x/a/sse/?key=1" }, "sse"],
    [{ url: "https://x/mcp?path=/sse" }, "streamable"],
  ];
  for (const [entry, type] of cases) assertEquals(convert(entry).server.type, type, JSON.stringify(entry));
});

Deno.test("an entry without command and URL is refused, with a fix", () => {
  assertEquals(refusals({}), [
    'mcpServers.a must have "command" for a program, or "url" for a server on the network',
  ]);
  assertEquals(refusals({ command: "x", url: "http://x" }), [
    'mcpServers.a cannot have both "command" and "url"; remove one of them',
  ]);
  assertEquals(refusals({ type: "http", url: "http://x", serverUrl: "http://y" }), [
    'mcpServers.a.serverUrl cannot be combined with "url"; remove one of them',
  ]);
  assertEquals(refusals({ type: "http" }), ["mcpServers.a.url is missing; it must be a string"]);
  assertEquals(refusals({ type: "stdio" }), ["mcpServers.a.command is missing; it must be a string"]);
  assertEquals(refusals({ type: "ws", url: "ws://x" }), [
    'mcpServers.a.type must be one of "stdio", "http", "sse", "documents"',
  ]);
  assertEquals(refusals({ url: "unix:///tmp/x.sock" }), ["mcpServers.a.url must be an http or https URL"]);
});

Deno.test("a problem has the path at which the value is written", () => {
  assertEquals(refusals({ command: "x", env: { A: [] }, args: [1] }), [
    "mcpServers.a.args[0] must be a string, not a number",
    "mcpServers.a.env.A must be a string or a number or true or false or null, not a list",
  ]);
  assertEquals(refusals({ command: "x", alwaysAllow: true }), [
    "mcpServers.a.alwaysAllow must be a list, not true",
  ]);
});

Deno.test("disabled has several spellings", () => {
  for (const off of [{ disabled: true }, { enabled: false }, { isActive: false }]) {
    assertEquals(convert({ command: "x", ...off }).server.disabled, true);
  }
  for (const on of [{}, { disabled: false }, { enabled: true }, { disabled: null }]) {
    assertEquals(convert({ command: "x", ...on }).server.disabled, false);
  }
});

Deno.test("our own keys are allowed in a flat entry, and override other names", () => {
  const { server, warnings } = convert({
    command: "x",
    alwaysAllow: ["read", "write"],
    excludeTools: ["rm"],
    forbidden_tools: ["rm", "format"],
    tool_meta: { write: { auto_apply: false, alias: "put" } },
    default_tool_meta: { tags: ["x"] },
    vrl: ".",
  });
  assertEquals([server.forbidden_tools, server.tool_meta, server.default_tool_meta, server.vrl, warnings], [
    ["rm", "format"],
    { read: { auto_apply: true }, write: { auto_apply: false, alias: "put" } },
    { tags: ["x"] },
    ".",
    [],
  ]);
});

Deno.test("unsupported keys that matter for safety are refused, with a fix", () => {
  const cases: [Entry, string][] = [
    [{ sandboxEnabled: true, sandbox: { network: { deniedDomains: ["x"] } } }, "deniedDomains"],
    [{ sandbox: { reads: ["/a"] } }, "reads"],
    [{ sandbox: true }, "must be an object"],
    [{ sandboxEnabled: "true" }, "must be an object"],
    [{ sandbox: { read: ["/a/*"] } }, "cannot be a pattern"],
    [{ sandbox: { read: ["${env:FOLDER}"] } }, "cannot have a placeholder"],
    [{ disabledTools: ["*"] }, 'disabled": true'],
    [{ command: ["npx", "-y"] }, "command must be a string, not a list"],
  ];
  for (const [members, state] of cases) {
    const [first = ""] = refusals({ command: "x", ...members });
    assertEquals(first.includes(state), true, first);
  }
  assertEquals(
    convert({ command: "x", tools: ["*"], sandboxEnabled: false, sandbox: {}, envFile: "" }).warnings,
    [],
  );
});

Deno.test("the sandbox of other programs becomes ours", () => {
  const filesystem = { allowWrite: ["/w"], denyRead: ["/k"], denyWrite: [] };
  const sandbox = { filesystem, network: { allowedDomains: ["a.example"] } };
  const { server, warnings } = convert({ command: "x", sandboxEnabled: true, sandbox });
  const ours = {
    read: ["*"],
    write: [resolve("/w")],
    deny_read: [resolve("/k")],
    net: ["a.example"],
    env: ["*"],
  };
  assertEquals([sandboxOf(server), warnings], [ours, []]);
  const off = convert({ command: "x", sandbox });
  assertEquals([sandboxOf(off.server), off.warnings.length], [undefined, 1], "without the switch");
  const own = convert({ command: "x", sandboxEnabled: true, sandbox: { write: ["/w"] } });
  assertEquals(sandboxOf(own.server)?.read, null);
});

Deno.test("each program's name for the list of allowed tools is understood", () => {
  for (const key of ["allowed_tools", "includeTools", "enabledTools", "enabled_tools", "tools"]) {
    assertEquals(convert({ command: "x", [key]: ["read", "list_*"] }).server.allowed_tools, [
      "read",
      "list_*",
    ], key);
    assertEquals(convert({ command: "x", [key]: ["*"] }).server.allowed_tools, undefined, key);
  }
  const { server } = convert({ command: "x", tools: { include: ["a"], exclude: ["b"] } });
  assertEquals([server.allowed_tools, server.forbidden_tools], [["a"], ["b"]]);
});

Deno.test("an entry of another program's form may say who answers questions and who confirms calls", () => {
  const { server, warnings } = convert({ command: "x", elicitation: "agent", approval: "agent" });
  assertEquals([server.elicitation, server.approval, warnings], ["agent", "agent", []]);
  assertEquals(convert({ command: "x", apps: true }).server.apps, true);
  assertEquals(refusals({ command: "x", apps: "yes" }).length, 1);
  assertEquals(refusals({ command: "x", elicitation: "person" }).length, 1);
  assertEquals(convert({ command: "x", mcp_version: "auto" }).server.mcp_version, "auto");
  assertEquals(refusals({ command: "x", mcp_version: "2024" }).length, 1);
  assertEquals(refusals({ command: "x", approval: "decline" }).length, 1);
});

Deno.test("headers are read from each program's member", () => {
  const headersOf = (entry: Entry) => {
    const { server } = convert({ url: "https://x/mcp", ...entry });
    return server.type === "streamable" ? server.server_parameters.headers : undefined;
  };
  const cases: [Entry, Record<string, string>][] = [
    [{ requestInit: { headers: { A: "1" } } }, { A: "1" }],
    [{ requestOptions: { headers: { A: "1" } }, headers: { B: "2" } }, { A: "1", B: "2" }],
    [{ http_headers: { A: "1" }, bearer_token_env_var: "T" }, { A: "1", Authorization: "Bearer ${env:T}" }],
    [{ env_http_headers: { "X-Key": "KEY" } }, { "X-Key": "${env:KEY}" }],
    [{ api_key_env: "KEY" }, { Authorization: "Bearer ${env:KEY}" }],
    [{ api_key_env: "KEY", api_key_header: "X-Key", api_key_format: "{token}" }, { "X-Key": "${env:KEY}" }],
  ];
  for (const [entry, headers] of cases) assertEquals(headersOf(entry), headers, JSON.stringify(entry));
});

Deno.test("an env file gets its full path, and is ignored for servers on the network", () => {
  const origin = { workspace: Deno.build.os === "windows" ? "C:\\shop" : "/shop" };
  const { server } = convert({ command: "x", envFile: "${workspaceFolder}/.env" }, origin);
  assertEquals(server.type === "stdio" && server.server_parameters.env_file, `${origin.workspace}/.env`);
  const relative = convert({ command: "x", env_file: ".env" }, origin).server;
  assertEquals(
    relative.type === "stdio" && relative.server_parameters.env_file?.replaceAll("\\", "/"),
    `${origin.workspace.replaceAll("\\", "/")}/.env`,
  );
  assertEquals(convert({ url: "https://x", envFile: ".env" }).warnings, [
    "mcpServers.a.envFile has no effect: a server on the network has no environment variables",
  ]);
});

Deno.test("an unknown key with a common synonym is a warning with our key", () => {
  for (const [key, meant] of [["arguments", "args"], ["cmd", "command"], ["environment", "env"]] as const) {
    assertEquals(convert({ command: "x", [key]: [] }).warnings, [
      `mcpServers.a.${key} unknown key, ignored; did you mean "${meant}"?`,
    ]);
  }
});

Deno.test("keys without effect are warnings, with a fix", () => {
  const { warnings } = convert({
    url: "http://x",
    authProviderType: "google_credentials",
    headersHelper: "x",
    timeout: 5,
    alwaysAlow: [],
  });
  assertEquals(warnings.map((warning) => warning.split(/[:;]/)[0]), [
    "mcpServers.a.authProviderType has no effect",
    "mcpServers.a.headersHelper has no effect",
    "mcpServers.a.timeout has no effect",
    "mcpServers.a.alwaysAlow unknown key, ignored",
  ]);
  const strange = JSON.parse('{"command": "x", "__proto__": 1, "constructor": 2, "toString": 3}');
  assertEquals(convert(strange).warnings.length, 2);
  assertEquals(convert({ command: "x", env: { A: null, B: "b" } }).server.server_parameters, {
    command: "x",
    args: [],
    env: { B: "b" },
    cwd: null,
    encoding: "utf-8",
    encoding_error_handler: "strict",
  });
});

Deno.test("keys for presentation are accepted without a warning", () => {
  const looks = { description: "d", icon: "i", gallery: "g", version: "1", dev: {}, name: "A", metadata: {} };
  assertEquals(convert({ command: "x", ...looks }).warnings, []);
});

Deno.test("a server runs in the folder of its project, and relative folders are resolved against it", () => {
  const workspace = Deno.build.os === "windows" ? "C:\\shop" : "/home/me/shop";
  const inside = Deno.build.os === "windows" ? "C:\\shop\\srv" : "/home/me/shop/srv";
  const cwdOf = (entry: Entry, origin?: ConfigOrigin) => {
    const { server } = convert({ command: "x", ...entry }, origin);
    return server.type === "stdio" ? server.server_parameters.cwd : undefined;
  };
  assertEquals(cwdOf({}), null);
  assertEquals(cwdOf({}, { workspace }), null);
  assertEquals(cwdOf({}, { workspace, isProject: true }), workspace);
  assertEquals(cwdOf({ cwd: "srv" }, { workspace }), inside);
  assertEquals(cwdOf({ cwd: inside }, { workspace }), inside);
  assertEquals(cwdOf({ cwd: "${input:folder}" }, { workspace }), "${input:folder}");
  assertEquals(cwdOf({ cwd: "srv" }), "srv");
});
