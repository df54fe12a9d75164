import { assertEquals } from "@std/assert";
import { parseGetComputerConfigRet } from "../../../src/protocol/answers.ts";
import { badRequest } from "../../../src/protocol/errors.ts";
import { firstIssue, type Schema } from "../../../src/protocol/schemas/schema.ts";
import { input, serverConfig } from "../../../src/protocol/schemas/config.ts";
import { checkParser, type Wrong } from "./_accept.ts";

const base = {
  name: "s",
  disabled: false,
  forbidden_tools: ["rm"],
  tool_meta: { t: { auto_apply: true, alias: "u", tags: ["a"], ret_object_mapper: { x: 1 } } },
  default_tool_meta: { auto_apply: null },
  vrl: null,
  elicitation: "agent",
  mcp_version: "auto",
  approval: "agent",
  apps: true,
};
const wrongBase: Wrong[] = [
  ["name", undefined],
  ["name", ""],
  ["disabled", "no"],
  ["forbidden_tools", "rm"],
  ["tool_meta", { t: { auto_apply: "yes" } }],
  ["tool_meta", { t: { alias: "" } }],
  ["default_tool_meta", { tags: "x" }],
  ["vrl", 1],
  ["elicitation", "person"],
  ["mcp_version", "2024"],
  ["mcp_version", 2026],
  ["approval", "decline"],
  ["apps", "yes"],
];

const checkServer = (server: Readonly<Record<string, unknown>>, wrong: readonly Wrong[]) =>
  checkParser(strictly(serverConfig), server, wrong);

/** A value as a configuration file must have it. */
function strictly<T>(schema: Schema<T>): (value: unknown) => T {
  return (value) => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const { field = "value", why } = firstIssue(parsed.error);
    throw badRequest(field, why);
  };
}

const parseInput = strictly(input);

const checkInput = (input: Readonly<Record<string, unknown>>, wrong: readonly Wrong[]) =>
  checkParser(parseInput, input, wrong);

// proves: data-config-name, data-config-stdio, data-config-encoding-errors
Deno.test("a stdio server has command, args, env, cwd and an encoding", () => {
  const server_parameters = {
    command: "run",
    args: ["a"],
    env: { A: "b" },
    cwd: "/",
    encoding: "utf-8",
    encoding_error_handler: "replace",
  };
  checkServer({ ...base, type: "stdio", server_parameters }, [
    ...wrongBase,
    ["type", undefined],
    ["type", "http"],
    ["server_parameters", undefined],
    ["server_parameters", { ...server_parameters, command: "" }],
    ["server_parameters", { ...server_parameters, env: { A: 1 } }],
    ["server_parameters", { ...server_parameters, encoding_error_handler: "x" }],
  ]);
});

// proves: data-config-streamable, data-config-sse, data-config-union
Deno.test("a streamable server has durations and an sse server seconds", () => {
  const streamable = {
    url: "http://x",
    headers: { A: 1 },
    timeout: "PT30S",
    sse_read_timeout: "PT5M",
    terminate_on_close: false,
  };
  checkServer({ ...base, type: "streamable", server_parameters: streamable }, [
    ...wrongBase,
    ["server_parameters", { ...streamable, timeout: 30 }],
    ["server_parameters", { ...streamable, terminate_on_close: "yes" }],
    ["server_parameters", { ...streamable, url: "" }],
  ]);
  const sse = { url: "http://x", headers: null, timeout: 5, sse_read_timeout: 300 };
  checkServer({ ...base, type: "sse", server_parameters: sse }, [
    ["server_parameters", { ...sse, timeout: "PT5S" }],
    ["server_parameters", { ...sse, sse_read_timeout: 0 }],
  ]);
});

// proves: data-input-base, data-input-prompt, data-input-pick, data-input-command
Deno.test("an input is a promptString, a pickString or a command, with an id", () => {
  const shared: Wrong[] = [["id", undefined], ["id", ""], ["type", "x"], ["description", 1]];
  const prompt = { id: "i", description: "d", type: "promptString", default: "x", password: true };
  checkInput(prompt, [...shared, ["default", 1], ["password", "x"]]);
  const pick = { id: "i", description: "d", type: "pickString", options: ["a"], default: "a" };
  checkInput(pick, [...shared, ["options", undefined], ["options", []], ["options", [
    1,
  ]]]);
  const command = { id: "i", description: "d", type: "command", command: "c", args: { a: "b" } };
  checkInput(command, [...shared, ["command", ""], ["args", { a: 1 }]]);
});

Deno.test("an option of a newer peer is read as its value, and a description may be left out", () => {
  const input = parseInput({
    id: "i",
    type: "pickString",
    options: [{ label: "A", value: "a" }, "b"],
  });
  assertEquals([input?.type === "pickString" && input.options, input?.description], [["a", "b"], ""]);
});

// proves: data-get-config-ret
Deno.test("GetComputerConfigRet has servers by name and optional inputs", () => {
  const server = {
    ...base,
    type: "sse",
    server_parameters: { url: "http://x", headers: null, timeout: 5, sse_read_timeout: 300 },
  };
  checkParser(parseGetComputerConfigRet, { servers: { s: server }, inputs: null }, [
    ["servers", undefined],
  ]);
});
