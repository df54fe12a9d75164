/** A Computer's configuration: `{ "servers": …, "inputs": … }` in the specification's form. */
import { unknownKeys } from "./config_keys.ts";
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import { describeError, isRecord } from "../protocol/errors.ts";
import { parseMCPServerConfig, parseMCPServerInput } from "../protocol/parse.ts";

/** The MCP servers of a Computer, in order of precedence, and the inputs that they use. */
export interface ComputerConfig {
  /** In order of precedence: the first to list a name owns it. */
  readonly servers: readonly MCPServerConfig[];
  /** The inputs that the servers' parameters may name. */
  readonly inputs: readonly MCPServerInput[];
  /** What is likely a mistake and changes nothing: members that have no meaning here. */
  readonly warnings: readonly string[];
}

/** A configuration that cannot be used; the message says where and how to mend it. */
export class ConfigError extends Error {
  /** Tells the class of an error. */
  override readonly name = "ConfigError";
  /** Tells the kind of an error. */
  readonly code = "CONFIG";
}

/**
 * Reads a configuration from the text of a file.
 *
 * @param text JSON.
 * @param source What to call the file in error messages.
 * @throws {ConfigError} that names the file, the place in it and the fix.
 */
export function parseConfigText(text: string, source: string): ComputerConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`Cannot read config "${source}": not JSON (${describeError(error)})`, {
      cause: error,
    });
  }
  return parseConfig(value, source);
}

/**
 * Reads a configuration.
 *
 * @param value `servers`: a list of {@linkcode MCPServerConfig}, or a map by name in which `name` may be left out.
 * `inputs`: a list of {@linkcode MCPServerInput}. Members with a default may be left out.
 * @param source What to call it in error messages.
 * @throws {ConfigError} that names the place and the fix.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseConfig } from "@a2c-smcp/sdk/computer";
 *
 * const { servers } = parseConfig({
 *   servers: { files: { type: "stdio", server_parameters: { command: "my-mcp-server" } } },
 * });
 * assertEquals(servers[0]?.name, "files");
 * ```
 */
export function parseConfig(value: unknown, source = "config"): ComputerConfig {
  if (!isRecord(value) || value["servers"] === undefined) {
    const hint = isRecord(value) && value["mcpServers"] !== undefined
      ? '; "mcpServers" is another program\'s form: name it "servers", and give each server "type" and "server_parameters"'
      : "";
    throw new ConfigError(`Cannot read config "${source}": it must be an object with "servers"${hint}`);
  }
  const servers = serverEntries(value["servers"], source).map(([path, entry]) =>
    located(source, path, () => checkServer(parseMCPServerConfig(entry)))
  );
  const inputs = inputEntries(value["inputs"], source).map((entry, index) =>
    located(source, `inputs[${index}]`, () => parseMCPServerInput(entry))
  );
  refuseDuplicates(servers.map(({ name }) => name), "server name", source);
  refuseDuplicates(inputs.map(({ id }) => id), "input id", source);
  return { servers, inputs, warnings: servers.flatMap(unknownKeys) };
}

function serverEntries(servers: unknown, source: string): [path: string, entry: unknown][] {
  if (Array.isArray(servers)) return servers.map((entry, index) => [`servers[${index}]`, entry]);
  if (!isRecord(servers)) {
    throw new ConfigError(`Cannot read config "${source}": "servers" must be a map or a list`);
  }
  return Object.entries(servers).map(([name, entry]) => [
    `servers.${name}`,
    isRecord(entry) ? { name, ...entry } : entry,
  ]);
}

function inputEntries(inputs: unknown, source: string): unknown[] {
  if (inputs === undefined || inputs === null) return [];
  if (Array.isArray(inputs)) return inputs;
  throw new ConfigError(`Cannot read config "${source}": "inputs" must be a list`);
}

function checkServer(config: MCPServerConfig): MCPServerConfig {
  if (typeof config.default_tool_meta?.alias === "string") {
    throw new TypeError(
      '"default_tool_meta" cannot have an "alias": it would name all tools alike; use "tool_meta"',
    );
  }
  if (config.type === "streamable") {
    checkDuration(config.server_parameters.timeout, "timeout");
    checkDuration(config.server_parameters.sse_read_timeout, "sse_read_timeout");
  }
  if (config.type === "stdio") checkEncoding(config.server_parameters.encoding);
  return config;
}

function checkDuration(duration: string, field: string): void {
  try {
    if (Temporal.Duration.from(duration).total("milliseconds") > 0) return;
  } catch (cause) {
    throw new TypeError(`"${field}" must be an ISO 8601 duration such as "PT30S"`, { cause });
  }
  throw new TypeError(`"${field}" must be above zero`);
}

/** Lines are cut at the byte of a line feed, which UTF-16 also has inside of characters. */
function checkEncoding(encoding: string): void {
  try {
    if (!new TextDecoder(encoding).encoding.startsWith("utf-16")) return;
  } catch (cause) {
    throw new TypeError(`"encoding" names no text encoding: "${encoding}"`, { cause });
  }
  throw new TypeError(`"encoding" must be one that has ASCII in it: "${encoding}"`);
}

function located<T>(source: string, path: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new ConfigError(`Cannot read config "${source}" at "${path}": ${describeError(error)}`, {
      cause: error,
    });
  }
}

function refuseDuplicates(names: readonly string[], what: string, source: string): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new ConfigError(`Cannot read config "${source}": ${what} "${twice}" stands twice`);
  }
}
