/** `${input:id}` placeholders: resolved when an MCP server starts, never before, never written anywhere. */
import { abortable } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import type { MCPServerCommandInput, MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { describeError, isRecord } from "../protocol/errors.ts";
import { parseMCPServerConfig } from "../protocol/parse.ts";
import { ConfigurationError } from "../mcp/errors.ts";
import { killGroup } from "../mcp/process_group.ts";

/** A placeholder; its id is whatever stands up to the brace. */
export const PLACEHOLDER = /\$\{input:([^}]+)\}/g;
/** How long an input's command may run, in milliseconds. */
const COMMAND_TIMEOUT_MS = 30_000;

/** A value of an input. */
export type InputValue = string | number | boolean;

/** Who asks for a value. */
export interface InputRequest {
  /** What is asked for. */
  readonly input: MCPServerInput;
  /** The MCP server that is being started. */
  readonly server: string;
  /** Aborted when the value is not needed any more. */
  readonly signal: AbortSignal;
}

/** Gives the value of an input by its id, or `undefined` when it has none. */
export type InputSource = (
  id: string,
  request: InputRequest,
) => InputValue | undefined | Promise<InputValue | undefined>;

/**
 * Values from the environment: the input `api-key` is read from `A2C_INPUT_API_KEY`.
 */
export function environmentInputs(environment: (name: string) => string | undefined): InputSource {
  return (id) => environment(inputVariable(id));
}

/** The environment variable of an input. */
export function inputVariable(id: string): string {
  return `A2C_INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}

/** What placeholders are resolved from. */
export interface InputContext {
  readonly inputs: readonly MCPServerInput[];
  readonly source: InputSource;
  readonly signal: AbortSignal;
}

/**
 * Fills in the placeholders of a server's parameters.
 *
 * @throws {ConfigurationError} that names an input which is not defined, has no value, or whose command fails.
 */
export async function resolveInputs(
  config: MCPServerConfig,
  context: InputContext,
): Promise<MCPServerConfig> {
  const ids = placeholderIds(config.server_parameters);
  if (ids.size === 0) return config;
  const values = new Map<string, string>();
  for (const id of ids) values.set(id, String(await resolveInput(id, config.name, context)));
  const server_parameters = substitute(config.server_parameters, values);
  try {
    return parseMCPServerConfig({ ...config, server_parameters });
  } catch (error) {
    throw new ConfigurationError(
      `Cannot use the inputs of server "${config.name}": ${describeError(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** The ids of all placeholders in `value`. */
export function placeholderIds(value: unknown): Set<string> {
  const ids = new Set<string>();
  mapStrings(value, (text) => {
    for (const [, id] of text.matchAll(PLACEHOLDER)) if (id !== undefined) ids.add(id);
    return text;
  });
  return ids;
}

async function resolveInput(
  id: string,
  server: string,
  { inputs, source, signal }: InputContext,
): Promise<InputValue> {
  const input = inputs.find((candidate) => candidate.id === id);
  if (input === undefined) {
    throw new ConfigurationError(`Cannot resolve input "${id}": no such input is defined`);
  }
  const value = source(id, { input, server, signal });
  const given = value instanceof Promise ? await abortable(value, signal) : value;
  if (given !== undefined) return checkPick(input, given);
  if (input.type === "command") return await runCommand(input, signal);
  if (typeof input.default === "string") return checkPick(input, input.default);
  throw new ConfigurationError(
    `Cannot resolve input "${id}": no value, set ${inputVariable(id)} or give the input a default`,
  );
}

function checkPick(input: MCPServerInput, value: InputValue): InputValue {
  try {
    checkInputValue(input, value);
    return value;
  } catch (error) {
    throw new ConfigurationError(describeError(error), { cause: error });
  }
}

/**
 * Whether an input may have this value.
 *
 * @throws {TypeError} when it is none of the options of a `pickString` input.
 */
export function checkInputValue(input: MCPServerInput, value: InputValue): void {
  if (input.type !== "pickString" || input.options.includes(String(value))) return;
  throw new TypeError(
    `Cannot use the value of input "${input.id}": it is none of ${input.options.join(", ")}`,
  );
}

async function runCommand(input: MCPServerCommandInput, signal: AbortSignal): Promise<string> {
  const parts = Object.entries(input.args ?? {}).map(([key, value]) => `--${key} ${quote(value)}`);
  const line = [input.command, ...parts].join(" ");
  using deadline = new Deadline(COMMAND_TIMEOUT_MS, {
    reason: () => new TypeError(`Cannot wait longer than ${COMMAND_TIMEOUT_MS} ms`),
    signal,
  });
  try {
    const { success, code, stdout } = await runShell(line, deadline.signal);
    if (success) return new TextDecoder().decode(stdout).replace(/\r?\n$/, "");
    throw new ConfigurationError(
      `Cannot resolve input "${input.id}": its command ended with exit code ${code}`,
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`Cannot resolve input "${input.id}": ${describeError(error)}`, {
      cause: error,
    });
  }
}

/** Runs a shell line in a process group of its own, so that an abort ends whatever the line has started. */
async function runShell(line: string, signal: AbortSignal): Promise<Deno.CommandOutput> {
  signal.throwIfAborted();
  const [shell, flag] = Deno.build.os === "windows" ? ["cmd", "/c"] as const : ["sh", "-c"] as const;
  const process = new Deno.Command(shell, {
    args: [flag, line],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
    detached: true,
  }).spawn();
  const onAbort = () => killGroup(process.pid, "SIGKILL");
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const output = await process.output();
    signal.throwIfAborted();
    return output;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Quotes an argument for the shell, so that nothing in it means anything. */
function quote(value: string): string {
  if (Deno.build.os === "windows") return `"${value.replaceAll('"', '""')}"`;
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

function substitute(value: unknown, values: ReadonlyMap<string, string>): unknown {
  return mapStrings(value, (text) => text.replaceAll(PLACEHOLDER, (whole, id) => values.get(id) ?? whole));
}

/** A copy of `value` with each string in it replaced. */
function mapStrings(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, replace));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, replace)]));
}
