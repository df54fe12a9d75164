/** Parses a Computer's configuration, in the specification's form or in that of another program. */
import type { MCPServerConfig, MCPServerInput } from "../protocol/config.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import type { ConfigForm } from "./form.ts";
import { type ConfigProblem, problemsError } from "./problem.ts";
import { type ConfigReading, type ReadingOptions, readText, readValue } from "./reading.ts";
import { formatOfFile } from "./text.ts";

/** The MCP servers of a Computer, in order of precedence, and the inputs that they use. */
export interface ComputerConfig {
  /** The form that it was written in. The members here always have the specification's form. */
  readonly form: ConfigForm;
  /** In order of precedence: of two tools with one name, the one of the earlier server gets it. */
  readonly servers: readonly MCPServerConfig[];
  /** The inputs that placeholders may use. */
  readonly inputs: readonly MCPServerInput[];
  /** The `MAJOR.MINOR` of the protocol that the Computer is to speak (`protocol_version`), if the configuration says. */
  readonly protocolVersion?: ProtocolMinor | undefined;
  /** The folders of skills that the configuration names, first in order of precedence. */
  readonly skills?: readonly string[] | undefined;
  /** The folder for files that the Agent uploads, if the configuration names one. */
  readonly uploads?: string | undefined;
  /** The limits that the configuration sets, by their names; they apply from the start of a Computer. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
  /** Problems that keep single servers from starting, and probable mistakes. */
  readonly warnings: readonly ConfigProblem[];
}

/** Parsed configurations: to parse a result again returns the same object, with the lines of the warnings. */
const known = new WeakMap<object, ComputerConfig>();

/**
 * Parses the text of a configuration.
 *
 * @param text JSON with or without comments and trailing commas, TOML or YAML, in any form that {@linkcode parseConfig}
 *   reads.
 * @param source The name of the file in error messages. Its extension, such as `.toml`, tells the format.
 * @param options `origin`: the place of the file, for variables such as `${workspaceFolder}`; `format`: by the
 *   extension of `source`, else guessed from the text, by default.
 * @throws {ConfigError} with all problems: for each the file, the line, the path and what to do.
 */
export function parseConfigText(text: string, source: string, options: ReadingOptions = {}): ComputerConfig {
  return toConfig(readText(text, { format: formatOfFile(source), ...options }), source);
}

/**
 * Parses a configuration.
 *
 * @param value An object in one of these forms: `servers`, a list of {@linkcode MCPServerConfig} or an object of them by
 *   name; `servers` with flat entries, as in VS Code's `mcp.json`; `mcpServers`, as in the files of Claude, Cursor and
 *   others; the forms of Amp, Codex, Continue, Copilot, Crush, Gemini CLI, Hermes, Kilo Code, opencode, Vibe and Zed;
 *   flat entries by name alone. `inputs` is a list of {@linkcode MCPServerInput}. Members with a default are optional.
 *   A {@linkcode ComputerConfig} is returned unchanged.
 * @param source The name of the configuration in error messages; `config` by default.
 * @param options `origin`: the place of the file, for variables such as `${workspaceFolder}`.
 * @throws {ConfigError} with all problems: for each the path and what to do.
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

/** A configuration with further servers, which come last. */
export function withServers(config: ComputerConfig, servers: readonly MCPServerConfig[]): ComputerConfig {
  const extended = { ...config, servers: [...config.servers, ...servers] };
  known.set(extended, extended);
  return extended;
}

function toConfig(reading: ConfigReading, source: string): ComputerConfig {
  const { form, servers, inputs, settings, problems, warnings } = reading;
  if (form === undefined || problems.length > 0) throw problemsError(source, problems);
  const config = {
    form,
    servers: servers.map(({ value }) => value),
    inputs: inputs.map(({ value }) => value),
    ...settings,
    warnings: [...reading.failures, ...warnings],
  };
  known.set(config, config);
  return config;
}
