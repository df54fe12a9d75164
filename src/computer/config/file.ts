/** A configuration in a file, and what the place of the file says. */
import { basename, dirname, resolve } from "@std/path";
import { type ComputerConfig, parseConfigText } from "./config.ts";
import { problemsError } from "./problem.ts";
import type { ConfigOrigin } from "./variables.ts";

/** Folders in which programs keep the files of the project around them. */
const PROJECT_FOLDERS: ReadonlySet<string> = new Set([
  ".amazonq",
  ".amp",
  ".claude",
  ".cursor",
  ".devcontainer",
  ".gemini",
  ".junie",
  ".kiro",
  ".qwen",
  ".roo",
  ".vscode",
  ".windsurf",
  ".zed",
]);

/**
 * Reads a configuration from a file.
 *
 * @param path The file; the forms are those of {@linkcode parseConfig}.
 * @throws {ConfigError} that names the file when it cannot be read, and with all that is wrong in it.
 */
export async function readConfigFile(path: string): Promise<ComputerConfig> {
  return parseConfigText(await readConfigFileText(path), path, { origin: originOf(path) });
}

/**
 * Reads the text of a configuration.
 *
 * @throws {ConfigError} that names the file.
 */
export async function readConfigFileText(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (cause) {
    throw problemsError(path, [{ message: stateOf(cause), path: "" }], { cause });
  }
}

function stateOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.IsADirectory) return "it is a folder; name the file in it";
  if (error instanceof Deno.errors.PermissionDenied) return "the file may not be read";
  if (error instanceof Deno.errors.NotCapable) return "reading is not permitted (--allow-read)";
  return error instanceof Error ? error.message : String(error);
}

/** What is known of the place of a file. */
export function originOf(path: string): ConfigOrigin {
  const folder = dirname(resolve(path));
  const settings = ["settings", "mcp"].includes(basename(folder)) ? dirname(folder) : folder;
  const isInside = PROJECT_FOLDERS.has(basename(settings));
  return {
    workspace: isInside ? dirname(settings) : folder,
    isProject: isInside || basename(path) === ".mcp.json",
    home: ifPermitted(() => Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE")),
    cwd: ifPermitted(() => Deno.cwd()),
    programFolder: basename(settings),
  };
}

/** Most files need none of it. */
function ifPermitted(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
