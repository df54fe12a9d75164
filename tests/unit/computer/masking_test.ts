import { assertEquals } from "@std/assert";
import { parseConfig } from "../../../src/computer/config/config.ts";
import { maskConfig } from "../../../src/computer/masking.ts";

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

Deno.test("the default of a password input is masked, that of another is not", () => {
  const prompt = { type: "promptString", description: "d" };
  const { inputs } = maskConfig(parseConfig({
    servers: {},
    inputs: [
      { ...prompt, id: "a", default: "secret", password: true },
      { ...prompt, id: "b", default: "shown" },
      { ...prompt, id: "c", password: true },
      { id: "d", description: "d", type: "pickString", options: ["x"], default: "x" },
    ],
  }));
  assertEquals(inputs?.map((input) => "default" in input ? input.default : undefined), [
    "***",
    "shown",
    undefined,
    "x",
  ]);
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

Deno.test("values of secret-named arguments are masked in every form", () => {
  const cases: [string[], string[]][] = [
    [["--token=abc"], ["--token=***"]],
    [["--api-key", "abc"], ["--api-key", "***"]],
    [["--api_key", "-abc"], ["--api_key", "***"]],
    [["-apikey", "abc"], ["-apikey", "***"]],
    [["--auth", "--verbose"], ["--auth", "--verbose"]],
    [["--token=${input:t}"], ["--token=${input:t}"]],
    [["--token", "${input:t}"], ["--token", "${input:t}"]],
    [["-e", "API_KEY=abc"], ["-e", "API_KEY=***"]],
    [["--env=DB_PASSWORD=abc"], ["--env=DB_PASSWORD=***"]],
    [["--header", "Authorization: Bearer abc"], ["--header", "Authorization: ***"]],
    [["--header=X-Api-Key: abc"], ["--header=X-Api-Key: ***"]],
    [["--port", "80", "--path=/a=b", "C:\\x"], ["--port", "80", "--path=/a=b", "C:\\x"]],
    [["-y", "@scope/token-server@1.2.3"], ["-y", "@scope/token-server@1.2.3"]],
  ];
  for (const [args, shown] of cases) assertEquals(shownArgs(args), shown);
});

Deno.test("user information, query values and the fragment of a URL are masked, in arguments, too", () => {
  assertEquals(
    shownUrl("https://me:pw@host:8080/a/b?x=1&y=&z#f"),
    "https://***@host:8080/a/b?x=***&y=&***#***",
  );
  assertEquals(
    shownUrl("http://${input:u}:${input:p}@h/?k=${input:k}"),
    "http://${input:u}***${input:p}@h/?k=${input:k}",
  );
  assertEquals(shownUrl("http://host/path"), "http://host/path");
  assertEquals(shownArgs(["postgres://me:pw@db/x", "--url=https://me@h/?t=1"]), [
    "postgres://***@db/x",
    "--url=https://***@h/?t=***",
  ]);
});

// proves: data-get-config-ret
Deno.test("each server is shown with exactly the members that peers expect", () => {
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

Deno.test("a placeholder for the environment is shown, a secret that stands in as its default is not", () => {
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
    ["--token=${env:TOKEN:-***}", "${env:URL:-http://***@x/}"],
    { A: "${env:A}", B: "***${env:B:-***}" },
  ]);
});
