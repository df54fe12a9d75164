import { assertEquals } from "@std/assert";
import { parseConfig } from "../../../../src/config/config.ts";
import { maskConfig } from "../../../../src/computer/secrets/masking.ts";

/** What is shown of a stdio server's args. */
function shownArgs(args: readonly string[]): unknown {
  const config = { servers: { s: { type: "stdio", server_parameters: { command: "run", args } } } };
  const { server_parameters } = maskConfig(parseConfig(config)).servers["s"] ?? {};
  return (server_parameters as { args: string[] } | undefined)?.args;
}

/** What is shown of a URL. */
function shownUrl(url: string): unknown {
  const config = { servers: { s: { type: "sse", server_parameters: { url } } } };
  const { server_parameters } = maskConfig(parseConfig(config)).servers["s"] ?? {};
  return (server_parameters as { url: string } | undefined)?.url;
}

Deno.test("the default of an input is masked unless it is one of the options that are shown", () => {
  const prompt = { type: "promptString", description: "d" };
  const { inputs } = maskConfig(parseConfig({
    servers: {},
    inputs: [
      { ...prompt, id: "a", default: "secret", password: true },
      { ...prompt, id: "b", default: "shown" },
      { ...prompt, id: "c", password: true },
      { id: "d", description: "d", type: "pickString", options: ["x"], default: "x" },
      { ...prompt, id: "e", default: "secret", note: "secret" },
    ],
  }));
  assertEquals(inputs?.map((input) => "default" in input ? input.default : undefined), [
    "***",
    "***",
    undefined,
    "x",
    "***",
  ]);
  assertEquals(Object.keys(inputs?.[4] ?? {}), ["id", "description", "type", "default"]);
});

Deno.test("the command line of a command input is masked", () => {
  const input = { id: "c", type: "command", description: "", command: "pass show x", args: { key: "v" } };
  assertEquals(maskConfig(parseConfig({ servers: {}, inputs: [input] })).inputs, [
    { ...input, command: "***", args: { key: "***" } },
  ] as unknown);
});

Deno.test("literal values of env and headers are masked and placeholders shown as written", () => {
  const config = parseConfig({
    servers: {
      s: {
        type: "stdio",
        server_parameters: {
          command: "run",
          env: { A: "x", B: "${input:b}", C: "", D: "p${input:d}q${input:e}" },
        },
      },
      w: {
        type: "streamable",
        server_parameters: { url: "http://h", headers: { A: "Bearer ${input:t}", N: 1 } },
      },
    },
  });
  const { s, w } = maskConfig(config).servers;
  assertEquals(s?.type === "stdio" && s.server_parameters.env, {
    A: "***",
    B: "${input:b}",
    C: "***",
    D: "***${input:d}***${input:e}",
  });
  assertEquals(w?.type === "streamable" && w.server_parameters.headers, { A: "***${input:t}", N: "***" });
});

Deno.test("the names of options in arguments are shown, and placeholders", () => {
  const cases: [string[], string[]][] = [
    [["--token=abc"], ["--token=***"]],
    [["--api-key", "abc"], ["--api-key", "***"]],
    [["--api_key", "-abc"], ["--api_key", "***"]],
    [["-apikey", "abc"], ["***", "***"]],
    [["-phunter2"], ["***"]],
    [["--password", "--hunter"], ["--password", "***"]],
    [["--verbose", "--port", "80"], ["--verbose", "--port", "***"]],
    [["--a8f3c9d2e1"], ["***"]],
    [["--token=${input:t}"], ["--token=${input:t}"]],
    [["--token", "${input:t}", "x${input:t}y"], ["--token", "${input:t}", "***${input:t}***"]],
    [["-e", "API_KEY=abc"], ["-e", "***"]],
    [["--env=DB_PASSWORD=abc"], ["--env=***"]],
    [["-H", "Authorization: Bearer abc"], ["-H", "***"]],
    [["-c", "export TOKEN=abc; run", '{"token":"abc"}'], ["-c", "***", "***"]],
    [["-y", "@scope/server@1.2.3", "/home/me", "C:\\x"], ["-y", "***", "***", "***"]],
  ];
  for (const [args, shown] of cases) assertEquals(shownArgs(args), shown);
});

Deno.test("the scheme and host of a URL are shown, also in arguments", () => {
  const cases: [string, string][] = [
    ["https://me:pw@host:8080/a/b?x=1&y=&z#f", "https://***@host:8080/***"],
    ["http://host/path", "http://host/***"],
    ["http://host", "http://host"],
    ["http://[::1]:80/", "http://[::1]:80/"],
    ["http://${input:u}:${input:p}@h/?k=${input:k}", "http://${input:u}***${input:p}***${input:k}"],
    ["https://h/${input:path}/x?k=s", "https://h/${input:path}***"],
    ["https://h${input:rest}", "https://***${input:rest}"],
    ["postgres://u:pa/ss@db/x", "postgres://***"],
    ["postgres://u:12/ss@db/x", "postgres://***"],
    ["postgres://u:p@ss@db/x", "postgres://***"],
    ["mongodb://u:p@a:1,b:2/x", "mongodb://***"],
    ["https://mcp.zapier.com/api/mcp/s/SECRET/mcp", "https://mcp.zapier.com/***"],
  ];
  for (const [url, shown] of cases) {
    if (url.startsWith("http")) assertEquals(shownUrl(url), shown);
    assertEquals(shownArgs([url, `--url=${url}`]), [shown, `--url=${shown}`]);
  }
});

Deno.test("the program of a command is shown without its folder", () => {
  const cases: [string, string][] = [
    ["npx", "npx"],
    ["/usr/local/bin/node", "node"],
    ["C:\\Program Files\\nodejs\\npx.cmd", "npx.cmd"],
    ["npx server --key hunter2", "npx ***"],
    ["TOKEN=hunter2 node x", "***"],
    ["${input:program}", "${input:program}"],
  ];
  for (const [command, shown] of cases) {
    const config = parseConfig({
      servers: { s: { type: "stdio", server_parameters: { command, cwd: "/x" } } },
    });
    const { server_parameters } = maskConfig(config).servers["s"] ?? {};
    assertEquals((server_parameters as { command: string; cwd: string }).command, shown);
    assertEquals((server_parameters as { command: string; cwd: string }).cwd, "***");
  }
});

Deno.test("a script is masked, and only the known members of tool metadata are shown", () => {
  const config = parseConfig({
    servers: {
      s: {
        type: "stdio",
        vrl: '.token = "hunter2"',
        tool_meta: { echo: { alias: "say", auto_apply: true, note: "hunter2" } },
        default_tool_meta: { tags: ["a"], note: "hunter2" },
        server_parameters: { command: "run" },
      },
    },
  });
  const { vrl, tool_meta, default_tool_meta } = maskConfig(config).servers["s"] ?? {};
  assertEquals([vrl, tool_meta, default_tool_meta], [
    "***",
    { echo: { auto_apply: true, alias: "say" } },
    { tags: ["a"] },
  ]);
});

// proves: data-get-config-ret
Deno.test("each server has exactly the members that peers expect", () => {
  const config = parseConfig({
    servers: {
      s: { type: "stdio", note: "?", server_parameters: { command: "run", envFile: "/secrets" } },
      e: { type: "sse", server_parameters: { url: "http://h" } },
    },
  });
  const { s, e } = maskConfig(config).servers;
  const shared = [
    "name",
    "disabled",
    "forbidden_tools",
    "tool_meta",
    "default_tool_meta",
    "vrl",
    "type",
    "server_parameters",
  ];
  assertEquals(Object.keys(s ?? {}), shared);
  assertEquals(Object.keys(s?.server_parameters ?? {}), [
    "command",
    "args",
    "env",
    "cwd",
    "encoding",
    "encoding_error_handler",
  ]);
  assertEquals(Object.keys(e?.server_parameters ?? {}), ["url", "headers", "timeout", "sse_read_timeout"]);
});

Deno.test("a placeholder for a variable is shown without its default", () => {
  const config = {
    mcpServers: {
      s: {
        command: "run",
        args: ["--token=${TOKEN:-abc}", "${env:URL:-http://me:pw@x/}"],
        env: { A: "${env:A}", B: "Bearer ${B:-secret}" },
      },
    },
  };
  const { server_parameters } = maskConfig(parseConfig(config)).servers["s"] ?? {};
  const { args, env } = server_parameters as { args: string[]; env: Record<string, string> };
  assertEquals([args, env], [
    ["--token=${env:TOKEN:-***}", "${env:URL:-***}"],
    { A: "${env:A}", B: "***${env:B:-***}" },
  ]);
});

Deno.test("who is asked is a matter of this Computer, and not shown", () => {
  const server = {
    type: "stdio",
    server_parameters: { command: "run" },
    elicitation: "agent",
    mcp_version: "2026",
    approval: "agent",
    on_change: "ask",
    apps: true,
  };
  const shown = maskConfig(parseConfig({ servers: { s: server } })).servers["s"] ?? {};
  assertEquals(
    ["elicitation", "approval", "on_change", "mcp_version", "apps"].filter((member) => member in shown),
    [],
  );
});
