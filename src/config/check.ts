/** What a configuration file says and what is wrong with it, without starting anything. */
import { childEnvironment } from "../mcp/stdio/environment.ts";
import { hasProgram } from "../mcp/stdio/spawn.ts";
import type { MCPServerConfig, MCPServerInput, MCPServerStdioParameters } from "../protocol/config.ts";
import { originOf, readConfigFileText } from "./file.ts";
import type { ConfigForm } from "./form.ts";
import { ConfigError, type ConfigIssue, type ConfigProblem } from "./problem.ts";
import { type ConfigReading, readText } from "./reading.ts";
import {
  findPlaceholders,
  hasPlaceholder,
  inputIdsOf,
  inputVariable,
  type Placeholder,
} from "./placeholders.ts";
import { formatOfFile } from "./text.ts";

/** An MCP server, as a report has it. */
export interface CheckedServer {
  /** What it is called. */
  readonly name: string;
  /** Its transport. */
  readonly type: MCPServerConfig["type"];
  /** Whether it would not be started. */
  readonly disabled: boolean;
}

/** An input, as a report has it. */
export interface CheckedInput {
  /** What placeholders name it by. */
  readonly id: string;
  /** Where its value comes from when nobody gives one. */
  readonly type: MCPServerInput["type"];
  /** Whether there is a value without asking: a default, or a command. */
  readonly hasValue: boolean;
  /** Whether the environment has a value for it; `null` when nobody looked. */
  readonly isSet: boolean | null;
  /** The names of the servers that use it. */
  readonly usedBy: readonly string[];
}

/** A variable of the environment, as a report has it. */
export interface CheckedVariable {
  /** What it is called. */
  readonly name: string;
  /** Whether there is a default for when it is not set. */
  readonly hasDefault: boolean;
  /** Whether it is set; `null` when nobody looked. */
  readonly isSet: boolean | null;
  /** The names of the servers that use it. */
  readonly usedBy: readonly string[];
}

/** What a configuration file says, as far as it can be read, and all that is wrong with it. */
export interface ConfigReport {
  /** The file. */
  readonly file: string;
  /** The form that it is written in; `null` when it is no configuration. */
  readonly form: ConfigForm | null;
  /** The servers that can be read, in order of precedence. */
  readonly servers: readonly CheckedServer[];
  /** The inputs that can be read. */
  readonly inputs: readonly CheckedInput[];
  /** The variables that are looked up in the environment when the servers start. */
  readonly variables: readonly CheckedVariable[];
  /** What is likely a mistake, though every server can start with it. */
  readonly warnings: readonly ConfigProblem[];
  /** With any of these a server cannot start; the others can. */
  readonly failures: readonly ConfigProblem[];
  /** With any of these the configuration cannot be used. */
  readonly problems: readonly ConfigProblem[];
}

/** Checks beyond the form of a configuration. */
export interface ConfigChecks {
  /** Compiles a VRL script; resolves with what is wrong, or with `undefined`. None are compiled by default. */
  readonly vrl?: ((script: string) => Promise<string | undefined>) | undefined;
  /** Whether to look for the programs and files that servers need. Nobody looks by default. */
  readonly programs?: boolean | undefined;
  /** Gives the value of a variable of the environment. Nobody looks by default. */
  readonly environment?: ((name: string) => string | undefined) | undefined;
}

/**
 * Checks a configuration file without starting anything.
 *
 * @param path The file.
 * @param checks What to check beyond its form.
 * @returns What it says and what is wrong; a file that cannot be read is a problem, too.
 */
export async function checkConfigFile(path: string, checks: ConfigChecks = {}): Promise<ConfigReport> {
  return await checkConfigSource(() => readConfigFileText(path), { file: path, checks });
}

/** The same for a text that comes from elsewhere; one that cannot be read is a problem, too. */
export async function checkConfigSource(
  read: () => Promise<string>,
  { file, checks = {} }: { readonly file: string; readonly checks?: ConfigChecks },
): Promise<ConfigReport> {
  let text: string;
  try {
    text = await read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { problems } = error;
    return {
      file,
      form: null,
      servers: [],
      inputs: [],
      variables: [],
      warnings: [],
      failures: [],
      problems,
    };
  }
  return await checkConfigText(text, { file, checks });
}

/** The same for a text that is already there. */
export async function checkConfigText(
  text: string,
  { file, checks = {} }: { readonly file: string; readonly checks?: ConfigChecks },
): Promise<ConfigReport> {
  const reading = readText(text, { origin: originOf(file), format: formatOfFile(file) });
  const found = await checkScripts(reading, checks);
  const starts = checks.programs === true ? startFindings(reading) : [];
  const { form = null, servers } = reading;
  return {
    file,
    form,
    servers: servers.map(({ value: { name, type, disabled } }) => ({ name, type, disabled })),
    inputs: inputsOf(reading, checks),
    variables: variablesOf(reading, checks),
    warnings: reading.warnings,
    failures: [...reading.failures, ...starts.map(reading.locate)],
    problems: [...reading.problems, ...found.map(reading.locate)],
  };
}

async function checkScripts({ servers }: ConfigReading, { vrl }: ConfigChecks): Promise<ConfigIssue[]> {
  if (vrl === undefined) return [];
  const issues: ConfigIssue[] = [];
  for (const { path, value } of servers) {
    const problem = typeof value.vrl === "string" ? await vrl(value.vrl) : undefined;
    if (problem !== undefined) issues.push({ path: [...path, "vrl"], message: problem });
  }
  return issues;
}

function startFindings({ servers }: ConfigReading): ConfigIssue[] {
  return servers.flatMap(({ path, value, isOwn }) =>
    checkStart(value).map(({ member, message }) => {
      const written = isOwn === true
        ? ["server_parameters", member]
        : [member === "env_file" ? "envFile" : member];
      return { message, path: [...path, ...written] };
    })
  );
}

function isSet(name: string, { environment }: ConfigChecks): boolean | null {
  return environment === undefined ? null : environment(name) !== undefined;
}

function inputsOf({ servers, inputs }: ConfigReading, checks: ConfigChecks): CheckedInput[] {
  const users = servers.map(({ value }) => ({ name: value.name, ids: inputIdsOf(value.server_parameters) }));
  return inputs.map(({ value: input }) => ({
    id: input.id,
    type: input.type,
    hasValue: input.type === "command" || typeof input.default === "string",
    isSet: isSet(inputVariable(input.id), checks),
    usedBy: users.filter(({ ids }) => ids.has(input.id)).map(({ name }) => name),
  }));
}

function variablesOf({ servers }: ConfigReading, checks: ConfigChecks): CheckedVariable[] {
  const variables = new Map<string, { hasDefault: boolean; readonly usedBy: Set<string> }>();
  for (const { value } of servers) {
    for (const placeholder of placeholdersOf(value)) {
      if (placeholder.kind !== "env") continue;
      const variable = variables.get(placeholder.name) ?? { hasDefault: true, usedBy: new Set() };
      variable.hasDefault &&= placeholder.fallback !== undefined;
      variable.usedBy.add(value.name);
      variables.set(placeholder.name, variable);
    }
  }
  return [...variables].map(([name, { hasDefault, usedBy }]) => ({
    name,
    hasDefault,
    isSet: isSet(name, checks),
    usedBy: [...usedBy],
  }));
}

function placeholdersOf({ server_parameters }: MCPServerConfig): Placeholder[] {
  return findPlaceholders(server_parameters).map(({ placeholder }) => placeholder);
}

/** What keeps a server from starting, within the server's parameters. */
interface StartFinding {
  /** The member of the parameters. */
  readonly member: keyof MCPServerStdioParameters;
  readonly message: string;
}

/** Looks for the program of a server, its folder, and the file with its variables. A disabled server needs none. */
function checkStart(config: MCPServerConfig): StartFinding[] {
  if (config.type !== "stdio" || config.disabled) return [];
  const { server_parameters } = config;
  return [
    ...checkEnvFile(server_parameters),
    ...checkFolder(server_parameters),
    ...checkCommand(server_parameters),
  ];
}

function checkCommand({ command, env, cwd }: MCPServerStdioParameters): StartFinding[] {
  const folder = cwd ?? currentFolder();
  if ([command, folder].some(hasPlaceholder)) return [];
  const { PATH = "", PATHEXT } = childEnvironment(ownEnvironment(), env);
  if (
    hasPlaceholder(PATH) || hasProgram(command, { path: PATH, cwd: folder, extensions: PATHEXT }) !== false
  ) {
    return [];
  }
  return [{ member: "command", message: missingMessage(command) }];
}

function missingMessage(command: string): string {
  const [first = "", ...rest] = command.trim().split(/\s+/);
  if (rest.length > 0) {
    return `looks like a whole command line; write "${first}" as "command", and each of the other words as an item of "args"`;
  }
  return /[\\/]/.test(command)
    ? `names "${command}", which is no program here; the file is missing or not executable`
    : `names "${command}", which is not on the PATH; install it, or write its whole path`;
}

function checkFolder({ cwd }: MCPServerStdioParameters): StartFinding[] {
  if (cwd === null || hasPlaceholder(cwd) || look(cwd)?.isDirectory !== false) return [];
  return [{ member: "cwd", message: "is no folder here" }];
}

function checkEnvFile({ env_file }: MCPServerStdioParameters): StartFinding[] {
  if (!env_file || hasPlaceholder(env_file) || look(env_file)?.isFile !== false) return [];
  return [{ member: "env_file", message: `names "${env_file}", which is no file here` }];
}

/** `undefined` where that may not be looked at. */
function look(path: string): { readonly isFile: boolean; readonly isDirectory: boolean } | undefined {
  try {
    return Deno.statSync(path);
  } catch (error) {
    return error instanceof Deno.errors.NotCapable ? undefined : { isFile: false, isDirectory: false };
  }
}

function currentFolder(): string {
  try {
    return Deno.cwd();
  } catch {
    return ".";
  }
}

function ownEnvironment(): Record<string, string> {
  try {
    return Deno.env.toObject();
  } catch {
    return {};
  }
}
