/** What would keep the program of a server from starting on this machine, found without starting it. */
import { childEnvironment } from "../mcp/stdio/environment.ts";
import { hasProgram } from "../mcp/stdio/program_search.ts";
import type { MCPServerConfig, MCPServerStdioParameters } from "../protocol/config.ts";
import { hasPlaceholder } from "./placeholders.ts";

/** What keeps a server from starting, within the server's parameters. */
export interface StartFinding {
  /** The member of the parameters. */
  readonly member: keyof MCPServerStdioParameters;
  readonly message: string;
}

/** Looks for the program of a server, its folder, and the file with its variables. A disabled server needs none. */
export function checkStart(config: MCPServerConfig): StartFinding[] {
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
