/** What a configuration needs on this machine: the programs and files of its servers, and folders. */
import { join } from "@std/path";
import { childEnvironment } from "../mcp/stdio/environment.ts";
import { ConfigurationError } from "../mcp/errors.ts";
import { sandboxed, thisSystem } from "../mcp/stdio/sandbox.ts";
import { hasProgram } from "../mcp/stdio/spawn.ts";
import {
  type MCPServerConfig,
  type MCPServerStdioConfig,
  type MCPServerStdioParameters,
  sandboxOf,
} from "../protocol/config.ts";
import { hasPlaceholder } from "./placeholders.ts";

interface StartFinding {
  readonly member: keyof MCPServerStdioParameters | "sandbox";
  readonly message: string;
}

/** Looks for the program of a server, its folder and its env file, unless the server is disabled. */
export function checkStart(config: MCPServerConfig): StartFinding[] {
  if (config.type !== "stdio" || config.disabled) return [];
  const { server_parameters } = config;
  return [
    ...checkEnvFile(server_parameters),
    ...checkFolder(server_parameters),
    ...(sandboxOf(config) === undefined ? checkCommand(server_parameters) : checkSandbox(config)),
  ];
}

function checkSandbox({ server_parameters, sandbox }: MCPServerStdioConfig): StartFinding[] {
  const { command, args, cwd } = server_parameters;
  if (!sandbox || [command, ...args].some(hasPlaceholder)) return [];
  const env = childEnvironment(ownEnvironment(), server_parameters.env);
  try {
    const program = { command, args, env, cwd: cwd ?? undefined };
    const own = Object.keys(server_parameters.env ?? {});
    sandboxed(program, { sandbox, own, system: thisSystem(program) });
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return [{ member: "sandbox", message: error.message }];
    throw error;
  }
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
    return `looks like a command line; write "${first}" as "command", and each of the other words as an item of "args"`;
  }
  return /[\\/]/.test(command)
    ? `no executable file "${command}"; check the path and the permissions`
    : `program "${command}" not found on the PATH; install it, or write its full path`;
}

function checkFolder({ cwd }: MCPServerStdioParameters): StartFinding[] {
  if (cwd === null || hasPlaceholder(cwd) || look(cwd)?.isDirectory !== false) return [];
  return [{ member: "cwd", message: `no such folder "${cwd}"` }];
}

function checkEnvFile({ env_file }: MCPServerStdioParameters): StartFinding[] {
  if (!env_file || hasPlaceholder(env_file) || look(env_file)?.isFile !== false) return [];
  return [{ member: "env_file", message: `no such file "${env_file}"` }];
}

/** Why a folder cannot be one of documents; `undefined` when it is, or may not be looked at. */
export function folderProblem(folder: string): string | undefined {
  if (folder === "") return "give a folder";
  if (hasPlaceholder(folder)) return undefined;
  const found = look(folder);
  if (found === undefined || found.isDirectory) return undefined;
  return found.isFile ? `"${folder}" is a file; give the folder that it is in` : `no such folder "${folder}"`;
}

/** Why a folder that may not exist yet cannot be created or used; `undefined` when it can, or may not be looked at. */
export function newFolderProblem(folder: string): string | undefined {
  if (folder === "") return "give a folder";
  return look(folder)?.isFile === true ? `"${folder}" is a file; give a folder` : undefined;
}

/** Why a folder cannot be one of skills; `undefined` when it can, or may not be looked at. */
export function skillProblem(folder: string): string | undefined {
  const problem = folderProblem(folder);
  if (problem !== undefined || look(folder) === undefined) return problem;
  const hasSkill = [...Deno.readDirSync(folder)].some(({ name }) =>
    look(join(folder, name, "SKILL.md"))?.isFile === true
  );
  return hasSkill ? undefined : `no skill in "${folder}": no folder in it has a SKILL.md`;
}

/** `undefined` without the permission to read it. */
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
