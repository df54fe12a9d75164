import { assertEquals, assertRejects } from "@std/assert";
import { parseConfig, parseConfigText } from "../../../../src/config/config.ts";
import { resolveInputs } from "../../../../src/computer/inputs/resolve.ts";
import type { InputSource } from "../../../../src/computer/inputs/sources.ts";
import { ConfigurationError } from "../../../../src/mcp/errors.ts";
import { type MCPServerStdioParameters, oauthOf } from "../../../../src/protocol/config.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

const isPosix = Deno.build.os !== "windows";
const none: InputSource = () => undefined;

/** Resolves the placeholders of a stdio server's parameters. */
async function resolve(
  parameters: Record<string, unknown>,
  inputs: readonly Record<string, unknown>[],
  source: InputSource = none,
  signal = new AbortController().signal,
): Promise<MCPServerStdioParameters> {
  const config = parseConfig({ servers: { s: { type: "stdio", server_parameters: parameters } }, inputs });
  const [server] = config.servers;
  if (server === undefined) throw new TypeError("no server");
  const resolved = await resolveInputs(server, { inputs: config.inputs, source, signal });
  return resolved.server_parameters as MCPServerStdioParameters;
}

// proves: data-input-placeholders, data-input-base
Deno.test("placeholders are replaced in all parameters, also several in one text", async () => {
  const { command, args, env } = await resolve(
    { command: "${input:a}", args: ["--x=${input:a}-${input:b}", "plain"], env: { K: "${input:b}" } },
    [{ id: "a", type: "promptString" }, { id: "b", type: "promptString", description: "b" }],
    (id) => ({ a: "A", b: "$& ${input:a}" })[id],
  );
  assertEquals([command, args, env], ["A", ["--x=A-$& ${input:a}", "plain"], { K: "$& ${input:a}" }]);
});

Deno.test("a placeholder that is the whole text keeps the type of its value; inside a text the value becomes text", async () => {
  const config = parseConfig({
    servers: {
      a: {
        type: "streamable",
        server_parameters: {
          url: "http://x:${input:port}/",
          headers: { "X-Port": "${input:port}" },
          terminate_on_close: "${input:ends}",
        },
      },
      b: { type: "sse", server_parameters: { url: "http://x", timeout: "${input:port}" } },
      c: {
        type: "stdio",
        server_parameters: { command: "run", args: ["${input:ends}", "--p=${input:port}"] },
      },
    },
    inputs: [{ id: "port", type: "promptString" }, { id: "ends", type: "promptString" }],
  });
  const source: InputSource = (id) => Promise.resolve(id === "port" ? 8080 : false);
  const { signal } = new AbortController();
  const parameters = await Promise.all(
    config.servers.map((server) => resolveInputs(server, { inputs: config.inputs, source, signal })),
  );
  assertEquals(parameters.map(({ server_parameters }) => server_parameters), [
    {
      url: "http://x:8080/",
      headers: { "X-Port": "8080" },
      timeout: "PT30S",
      sse_read_timeout: "PT5M",
      terminate_on_close: false,
    },
    { url: "http://x", headers: null, timeout: 8080, sse_read_timeout: 300 },
    {
      command: "run",
      args: ["false", "--p=8080"],
      env: null,
      cwd: null,
      encoding: "utf-8",
      encoding_error_handler: "strict",
    },
  ]);
});

Deno.test("variables of the environment are read when the server starts, and an error names one that is not set", async () => {
  const { servers: [server] } = parseConfig({
    mcpServers: {
      a: { type: "stdio", command: "${BIN:-run}", args: ["${env:HOME}/x"], env: { T: "${TOKEN:-}" } },
    },
  });
  if (server === undefined) throw new TypeError("no server");
  const { signal } = new AbortController();
  const context = { inputs: [], source: none, signal };
  const lookup = (variables: Record<string, string>) => (name: string) => variables[name];
  const resolved = await resolveInputs(server, {
    ...context,
    environment: lookup({ HOME: "/h", BIN: "" }),
  }).catch((error) => error.message);
  assertEquals(
    resolved,
    'Cannot start server "a" with these values: server_parameters.command: must not be empty',
  );
  const { server_parameters } = await resolveInputs(server, {
    ...context,
    environment: lookup({ HOME: "/h" }),
  });
  assertEquals(server_parameters, {
    command: "run",
    args: ["/h/x"],
    env: { T: "" },
    cwd: null,
    encoding: "utf-8",
    encoding_error_handler: "strict",
  });
  await assertRejects(
    () => resolveInputs(server, { ...context, environment: () => undefined }),
    ConfigurationError,
    'Cannot resolve variable "HOME": not set',
  );
  const forbidden = () => {
    throw new Deno.errors.NotCapable("no");
  };
  await assertRejects(
    () => resolveInputs(server, { ...context, environment: forbidden }),
    ConfigurationError,
    'Cannot resolve variable "BIN": not readable',
  );
});

Deno.test("the error for a variable of a Codex config gives a remedy that works in that config", async () => {
  const text = '[mcp_servers.a]\nurl = "https://mcp.example.com"\nbearer_token_env_var = "MY_TOKEN"\n';
  const { servers: [server] } = parseConfigText(text, "config.toml");
  if (server === undefined) throw new TypeError("no server");
  const { signal } = new AbortController();
  const error = await assertRejects(
    () => resolveInputs(server, { inputs: [], source: none, signal, environment: () => undefined }),
    ConfigurationError,
    'Cannot resolve variable "MY_TOKEN": not set in the environment',
  );
  assertEquals(error.message.includes("${"), false);
});

Deno.test("values from the environment become the type of their parameter, or are an error", async () => {
  const variables: Record<string, string> = {
    T: "2.5",
    S: "soon",
    E: "true",
    D: "PT1S",
    U: "ftp://x",
    H: "panic",
    L: "soon\nX-Other: 1",
  };
  const start = async (type: string, server_parameters: Record<string, unknown>) => {
    const { servers: [server] } = parseConfig({ servers: { a: { type, server_parameters } } });
    if (server === undefined) throw new TypeError("no server");
    const environment = (name: string) => variables[name];
    const { signal } = new AbortController();
    return (await resolveInputs(server, { inputs: [], source: none, environment, signal })).server_parameters;
  };
  const url = "http://x";
  assertEquals((await start("sse", { url, timeout: "${env:T}" }) as { timeout: number }).timeout, 2.5);
  const times = { timeout: "${env:D}", terminate_on_close: "${env:E}" };
  assertEquals(await start("streamable", { url, ...times }), {
    url,
    headers: null,
    timeout: "PT1S",
    sse_read_timeout: "PT5M",
    terminate_on_close: true,
  });
  const refused: [type: string, parameters: Record<string, unknown>, state: string][] = [
    ["sse", { url, timeout: "${env:S}" }, "timeout: must be a number"],
    ["streamable", { url, timeout: "${env:S}" }, "timeout: must be an ISO 8601 duration"],
    ["streamable", { url, terminate_on_close: "${env:S}" }, "terminate_on_close: must be true or false"],
    ["streamable", { url: "${env:U}" }, "url: must be an http or https URL"],
    ["sse", { url, headers: { A: "Bearer ${env:L}" } }, "headers.A: must be one line"],
    ["stdio", { command: "x", encoding: "${env:S}" }, "encoding: must be an ASCII-compatible text encoding"],
    ["stdio", { command: "x", encoding_error_handler: "${env:H}" }, "encoding_error_handler: must be one of"],
  ];
  for (const [type, parameters, state] of refused) {
    const error = await assertRejects(() => start(type, parameters), ConfigurationError, state);
    assertEquals(/soon|ftp|panic/.test(error.message), false, error.message);
  }
});

Deno.test("a source is asked with the input, the server and a signal, for one value at a time", async () => {
  const asked: string[] = [];
  let isAsking = false;
  const source: InputSource = async (id, { input, server, signal }) => {
    assertEquals(isAsking, false);
    isAsking = true;
    await Promise.resolve();
    isAsking = false;
    asked.push(`${id} ${input.description} ${server} ${signal.aborted}`);
    return id;
  };
  const inputs = [{ id: "a", type: "promptString", description: "A" }, {
    id: "b",
    type: "promptString",
    description: "B",
  }];
  await resolve({ command: "${input:a}", args: ["${input:b}", "${input:a}"] }, inputs, source);
  assertEquals(asked, ["a A s false", "b B s false"]);
});

Deno.test("a source that fails or gives an invalid value is a configuration error", async () => {
  const inputs = [{ id: "a", type: "promptString" }];
  const failing: InputSource = () => Promise.reject(new TypeError("no terminal"));
  await assertRejects(
    () => resolve({ command: "${input:a}" }, inputs, failing),
    ConfigurationError,
    'Cannot resolve input "a": no terminal',
  );
  const wrong = (() => ({})) as unknown as InputSource;
  await assertRejects(
    () => resolve({ command: "${input:a}" }, inputs, wrong),
    ConfigurationError,
    "not a string",
  );
});

// proves: data-input-prompt
Deno.test("a given value overrides the default, and the error without either says what to do", async () => {
  const inputs = [{ id: "api-key", type: "promptString", default: "fallback" }];
  assertEquals((await resolve({ command: "${input:api-key}" }, inputs)).command, "fallback");
  assertEquals((await resolve({ command: "${input:api-key}" }, inputs, () => "given")).command, "given");
  await assertRejects(
    () => resolve({ command: "${input:api-key}" }, [{ id: "api-key", type: "promptString" }]),
    ConfigurationError,
    "no value",
  );
});

Deno.test("a placeholder without an input is a configuration error that names it", async () => {
  await assertRejects(
    () => resolve({ command: "${input:x}" }, []),
    ConfigurationError,
    'named "x"',
  );
});

Deno.test("a value that makes the parameters invalid is a configuration error", async () => {
  const inputs = [{ id: "x", type: "promptString", default: "" }];
  await assertRejects(() => resolve({ command: "${input:x}" }, inputs), ConfigurationError, 'server "s"');
});

// proves: data-input-pick
Deno.test("a picked value must be one of the options, given or default", async () => {
  const pick = { id: "p", type: "pickString", options: ["a", { label: "Bee", value: "b" }], default: "a" };
  assertEquals((await resolve({ command: "${input:p}" }, [pick])).command, "a");
  assertEquals((await resolve({ command: "${input:p}" }, [pick], () => "b")).command, "b");
  await assertRejects(
    () => resolve({ command: "${input:p}" }, [pick], () => "c"),
    ConfigurationError,
    "a, b",
  );
});

// proves: data-input-command
Deno.test({
  name: "a command input is a shell line with its args quoted, and its last newline is cut",
  ignore: !isPosix,
  async fn() {
    const args = { name: `it's "$HOME" \`x\``, n: "1" };
    const input = { id: "c", type: "command", command: "printf '%s|' a; printf '%s|'", args };
    const { command } = await resolve({ command: "${input:c}" }, [input]);
    assertEquals(command, `a|--name|it's "$HOME" \`x\`|--n|1|`);
    const lines = { id: "c", type: "command", command: "printf 'one\\n\\n'" };
    assertEquals((await resolve({ command: "${input:c}" }, [lines])).command, "one\n");
  },
});

Deno.test({
  name: "a command that fails is a configuration error without the command in it",
  ignore: !isPosix,
  async fn() {
    const input = { id: "c", type: "command", command: "echo secret; exit 4" };
    const error = await assertRejects(() => resolve({ command: "${input:c}" }, [input]), ConfigurationError);
    assertEquals(error.message, 'Cannot resolve input "c": its command failed with exit code 4');
  },
});

Deno.test({
  name: "a command is ended by the signal with all that it has started",
  ignore: !isPosix,
  async fn() {
    const abort = new AbortController();
    const input = { id: "c", type: "command", command: "sleep 600 | sleep 600" };
    const resolving = resolve({ command: "${input:c}" }, [input], none, abort.signal);
    abort.abort(new TypeError("enough"));
    await assertRejects(() => resolving, ConfigurationError, "enough");
  },
});

Deno.test("env_file is read at each start, env overrides it, and an error names a missing file", async () => {
  using folder = new TempFolder();
  const file = `${folder.path}/.env`;
  await Deno.writeTextFile(file, 'A=from file\nexport B="two words" # remark\nC=$A\n');
  const parameters = { command: "x", env_file: file, env: { A: "from env" } };
  assertEquals((await resolve(parameters, [])).env, { A: "from env", B: "two words", C: "$A" });
  assertEquals("env_file" in await resolve(parameters, []), false);
  await Deno.writeTextFile(file, "A=1");
  assertEquals((await resolve({ ...parameters, env: null }, [])).env, { A: "1" });
  await Deno.remove(file);
  await assertRejects(
    () => resolve(parameters, []),
    ConfigurationError,
    `Cannot read env file "${file}": no such file`,
  );
});

Deno.test("a ${file:…} placeholder is replaced by the content of the file at the start of the server", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeTextFile(file, "s3cret\n");
  const parameters = { command: "x", args: [`--key=\${file:${file}}`] };
  assertEquals((await resolve(parameters, [])).args, ["--key=s3cret"]);
  await Deno.remove(file);
  await assertRejects(() => resolve(parameters, []), ConfigurationError, "no such file");
});

Deno.test("placeholders are replaced in the settings of a sign-in", async () => {
  const config = parseConfig({
    servers: {
      s: {
        type: "streamable",
        oauth: { clientId: "me", clientSecret: "${input:secret}", scopes: ["read", "${input:scope}"] },
        server_parameters: { url: "http://x" },
      },
    },
    inputs: [{ id: "secret", type: "promptString" }, { id: "scope", type: "promptString" }],
  });
  const [server] = config.servers;
  if (server === undefined) throw new TypeError("no server");
  const source: InputSource = (id) => ({ secret: 12345, scope: "write" })[id];
  const { signal } = new AbortController();
  const resolved = await resolveInputs(server, { inputs: config.inputs, source, signal });
  assertEquals(oauthOf(resolved), { clientId: "me", clientSecret: "12345", scopes: ["read", "write"] });
});
