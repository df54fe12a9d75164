import { assertEquals, assertRejects } from "@std/assert";
import { parseConfig } from "../../../src/computer/config.ts";
import {
  environmentInputs,
  type InputSource,
  placeholderIds,
  resolveInputs,
} from "../../../src/computer/inputs.ts";
import { ConfigurationError } from "../../../src/mcp/errors.ts";
import type { MCPServerStdioParameters } from "../../../src/protocol/config.ts";

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
Deno.test("placeholders are filled in wherever they stand, several in one text, too", async () => {
  const { command, args, env } = await resolve(
    { command: "${input:a}", args: ["--x=${input:a}-${input:b}", "plain"], env: { K: "${input:b}" } },
    [{ id: "a", type: "promptString" }, { id: "b", type: "promptString", description: "b" }],
    (id) => ({ a: "A", b: "$& ${input:a}" })[id],
  );
  assertEquals([command, args, env], ["A", ["--x=A-$& ${input:a}", "plain"], { K: "$& ${input:a}" }]);
});

Deno.test("the ids of all placeholders are found", () => {
  assertEquals(
    placeholderIds({ a: ["${input:x} ${input:y}"], b: { c: "${input:x}" }, d: 1 }),
    new Set(["x", "y"]),
  );
});

// proves: data-input-prompt
Deno.test("a given value comes before the default, and without either the error says what to set", async () => {
  const inputs = [{ id: "api-key", type: "promptString", default: "fallback" }];
  assertEquals((await resolve({ command: "${input:api-key}" }, inputs)).command, "fallback");
  assertEquals((await resolve({ command: "${input:api-key}" }, inputs, () => "given")).command, "given");
  await assertRejects(
    () => resolve({ command: "${input:api-key}" }, [{ id: "api-key", type: "promptString" }]),
    ConfigurationError,
    "set A2C_INPUT_API_KEY",
  );
});

Deno.test("a placeholder without an input is a configuration error that names it", async () => {
  await assertRejects(
    () => resolve({ command: "${input:x}" }, []),
    ConfigurationError,
    'input "x": no such input',
  );
});

Deno.test("a value that makes the parameters impossible is a configuration error", async () => {
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
    assertEquals(error.message, 'Cannot resolve input "c": its command ended with exit code 4');
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

Deno.test("an input's variable is its id in capitals", () => {
  const source = environmentInputs((name) => name === "A2C_INPUT_MY_API_KEY_2" ? "v" : undefined);
  const request = {
    input: { type: "promptString" as const, id: "x", description: "" },
    server: "s",
    signal: new AbortController().signal,
  };
  assertEquals([source("my-api.key 2", request), source("other", request)], ["v", undefined]);
});
