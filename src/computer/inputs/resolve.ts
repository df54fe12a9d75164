/** Resolves the placeholders of an MCP server when it starts, never before. Values are never written anywhere. */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import type {
  MCPServerCommandInput,
  MCPServerConfig,
  MCPServerInput,
  ResolvedServerConfig,
} from "../../protocol/config.ts";
import { isRecord } from "../../json/json.ts";
import { describeError } from "../../text/text.ts";
import { ConfigurationError } from "../../mcp/errors.ts";
import { runShell } from "../../mcp/stdio/spawn.ts";
import { quoteForCmd } from "../../mcp/stdio/windows_command.ts";
import { readResolved } from "../../config/values.ts";
import {
  filledMembers,
  fillPlaceholders,
  findPlaceholders,
  type InputValue,
  type Placeholder,
} from "../../config/placeholders.ts";
import {
  checkInputValue,
  type EnvironmentLookup,
  findInput,
  type InputRequest,
  type InputSource,
  NO_VALUE,
} from "./sources.ts";
import { parse } from "dotenv";
import { readRegularFile } from "../../files/files.ts";

const COMMAND_TIMEOUT_MS = 30_000;

export interface InputContext {
  readonly inputs: readonly MCPServerInput[];
  readonly source: InputSource;
  /** For `${env:NAME}`; the environment of this process by default. */
  readonly environment?: EnvironmentLookup | undefined;
  readonly signal: AbortSignal;
}

/**
 * Replaces the placeholders of a server's parameters, one after the other, so that a person is asked for one value at a
 * time.
 *
 * @throws {ConfigurationError} when an input is not defined, has no value, or its command fails; when a variable is not
 * set or a file cannot be read; when a parameter cannot have the resolved value. The message names it.
 */
export async function resolveInputs(
  config: MCPServerConfig,
  context: InputContext,
): Promise<ResolvedServerConfig> {
  const values = new Map<string, InputValue>();
  for (const { text, placeholder } of findPlaceholders(filledMembers(config))) {
    if (!values.has(text)) values.set(text, await resolvePlaceholder(placeholder, config.name, context));
  }
  const filled = fillPlaceholders(filledMembers(config), values);
  return await withEnvFile(readResolved(config.name, { ...config, ...(isRecord(filled) ? filled : {}) }));
}

/** Adds the variables of `env_file`; those of `env` override them. */
async function withEnvFile(config: ResolvedServerConfig): Promise<ResolvedServerConfig> {
  if (config.type !== "stdio") return config;
  const { env_file, ...parameters } = config.server_parameters;
  if (!env_file) return config;
  const env = { ...await readEnvFile(env_file), ...parameters.env };
  return { ...config, server_parameters: { ...parameters, env } };
}

async function resolvePlaceholder(
  placeholder: Placeholder,
  server: string,
  context: InputContext,
): Promise<InputValue> {
  if (placeholder.kind === "input") return await resolveInput(placeholder.id, server, context);
  if (placeholder.kind === "file") return await readValueFile(placeholder.path);
  const { name, fallback } = placeholder;
  const value = readVariable(name, context.environment ?? ((each) => Deno.env.get(each))) ?? fallback;
  if (value !== undefined) return value;
  throw new ConfigurationError(
    `Cannot resolve variable "${name}": not set in the environment of the Computer; set it and start the Computer again`,
    { reason: "an environment variable is not set" },
  );
}

function readVariable(name: string, environment: EnvironmentLookup): string | undefined {
  try {
    return environment(name);
  } catch (cause) {
    throw new ConfigurationError(`Cannot resolve variable "${name}": not readable (--allow-env)`, { cause });
  }
}

async function resolveInput(
  id: string,
  server: string,
  { inputs, source, signal }: InputContext,
): Promise<InputValue> {
  const input = asConfigurationError(() => findInput(id, inputs));
  const given = await askSource(source, { input, server, signal });
  if (given !== undefined) return checkPick(input, given);
  if (input.type === "command") return await runCommand(input, signal);
  if (typeof input.default === "string") return checkPick(input, input.default);
  throw new ConfigurationError(
    `Cannot resolve input "${id}": no value; give it a value or a default`,
    { reason: NO_VALUE },
  );
}

async function askSource(source: InputSource, request: InputRequest): Promise<InputValue | undefined> {
  const { input: { id }, signal } = request;
  let value: unknown;
  try {
    const answer = source(id, request);
    value = answer instanceof Promise ? await abortable(answer, signal) : answer;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof ConfigurationError) throw cause;
    throw new ConfigurationError(`Cannot resolve input "${id}": ${describeError(cause)}`, { cause });
  }
  switch (typeof value) {
    case "undefined":
    case "string":
    case "number":
    case "boolean":
      return value;
    default:
      throw new ConfigurationError(
        `Cannot resolve input "${id}": its value is not a string, number or boolean`,
      );
  }
}

function checkPick(input: MCPServerInput, value: InputValue): InputValue {
  asConfigurationError(() => checkInputValue(input, value));
  return value;
}

function asConfigurationError<T>(check: () => T): T {
  try {
    return check();
  } catch (cause) {
    throw new ConfigurationError(describeError(cause), { cause });
  }
}

async function runCommand(input: MCPServerCommandInput, signal: AbortSignal): Promise<string> {
  const parts = Object.entries(input.args ?? {}).map(([key, value]) => `--${key} ${quote(value)}`);
  const line = [input.command, ...parts].join(" ");
  using deadline = new Deadline(COMMAND_TIMEOUT_MS, {
    reason: () => new TypeError(`Its command did not end in ${COMMAND_TIMEOUT_MS} ms`),
    signal,
  });
  try {
    const { success, code, stdout } = await runShell(line, deadline.signal);
    if (success) return new TextDecoder().decode(stdout).replace(/\r?\n$/, "");
    throw new ConfigurationError(
      `Cannot resolve input "${input.id}": its command failed with exit code ${code}`,
    );
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError(`Cannot resolve input "${input.id}": ${describeError(error)}`, {
      cause: error,
    });
  }
}

function quote(value: string): string {
  if (Deno.build.os === "windows") return quoteForCmd(value);
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

const MAX_ENV_FILE_BYTES = 1_048_576;

async function readEnvFile(path: string): Promise<Record<string, string>> {
  return parse(await readShortText(path, "env file"));
}

/** Reads a file as one value, without leading and trailing white space. */
async function readValueFile(path: string): Promise<string> {
  return (await readShortText(path, "file")).trim();
}

async function readShortText(path: string, what: string): Promise<string> {
  const reading = await readRegularFile(path, { maxBytes: MAX_ENV_FILE_BYTES });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw new ConfigurationError(`Cannot read ${what} "${path}": ${state}`, {
    reason: "a file cannot be read",
    cause,
  });
}
