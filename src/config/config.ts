/** A Computer's configuration, in the specification's form or in that of another program. */
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import type { ConfigForm } from "./form.ts";
import { type ConfigProblem, problemsError } from "./problem.ts";
import { type ConfigReading, type ReadingOptions, readText, readValue } from "./reading.ts";
import { formatOfFile } from "./text.ts";

/** The MCP servers of a Computer, in order of precedence, and the inputs that they use. */
export interface ComputerConfig {
  /** The form that it was written in; what is here is the specification's. */
  readonly form: ConfigForm;
  /** In order of precedence: the first to list a name owns it. */
  readonly servers: readonly MCPServerConfig[];
  /** The inputs that the servers' parameters may name. */
  readonly inputs: readonly MCPServerInput[];
  /** What keeps single servers from starting, and what is likely a mistake and changes nothing. */
  readonly warnings: readonly ConfigProblem[];
}

/** A config that was read once need not be read again, and keeps its warnings with their lines. */
const known = new WeakMap<object, ComputerConfig>();

/**
 * Reads a configuration from the text of a file.
 *
 * @param text JSON, in which comments and trailing commas may stand, TOML or YAML; the forms are those of {@linkcode parseConfig}.
 * @param source What to call the file in error messages; how it ends tells the format, such as `.toml`.
 * @param options `origin`: the place of the file, which gives variables such as `${workspaceFolder}` their values;
 *   `format`: what the text is written in, told by `source` or by how it begins by default.
 * @throws {ConfigError} with all that is wrong: the file, the line, the path and the fix.
 */
export function parseConfigText(text: string, source: string, options: ReadingOptions = {}): ComputerConfig {
  return toConfig(readText(text, { format: formatOfFile(source), ...options }), source);
}

/**
 * Reads a configuration.
 *
 * @param value One of several forms. `servers`: a list of {@linkcode MCPServerConfig}, or a map by name in which `name`
 * may be left out. `servers` with flat entries, as in VS Code's `mcp.json`. `mcpServers`, as in the files of Claude,
 * Cursor and others. The forms of Amp, Codex, Crush, Kilo Code, opencode, Vibe and Zed, and servers by name alone. With `inputs`, a list of {@linkcode MCPServerInput}. Members with a default may be left out. A
 * config that was read before is given back as it is.
 * @param source What to call it in error messages.
 * @param options `origin`: the place of the file, which gives variables such as `${workspaceFolder}` their values.
 * @throws {ConfigError} with all that is wrong: the path and the fix.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseConfig } from "@a2c-smcp/sdk/computer";
 *
 * const { form, servers } = parseConfig({ mcpServers: { files: { command: "my-mcp-server" } } });
 * assertEquals(form, "mcpServers");
 * assertEquals(servers[0]?.server_parameters, {
 *   command: "my-mcp-server",
 *   args: [],
 *   env: null,
 *   cwd: null,
 *   encoding: "utf-8",
 *   encoding_error_handler: "strict",
 * });
 * ```
 */
export function parseConfig(value: unknown, source = "config", options: ReadingOptions = {}): ComputerConfig {
  const before = typeof value === "object" && value !== null ? known.get(value) : undefined;
  return before ?? toConfig(readValue(value, options), source);
}

function toConfig(reading: ConfigReading, source: string): ComputerConfig {
  const { form, servers, inputs, problems, warnings } = reading;
  if (form === undefined || problems.length > 0) throw problemsError(source, problems);
  const config = {
    form,
    servers: servers.map(({ value }) => value),
    inputs: inputs.map(({ value }) => value),
    warnings: [...reading.failures, ...warnings],
  };
  known.set(config, config);
  return config;
}
