/** A configuration in a file, and what the place of the file says. */
import { basename, dirname, resolve } from "@std/path";
import { type ComputerConfig, parseConfigText } from "./config.ts";
import { problemsError } from "./problem.ts";
import type { ConfigOrigin } from "./foreign/variables.ts";

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

/** The largest configuration, in bytes. */
export const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

/**
 * Reads the text of a configuration: a regular file of at most {@linkcode MAX_CONFIG_BYTES}. A pipe that nobody writes
 * to could not even be given up, and a device need not end.
 *
 * @throws {ConfigError} that names the file.
 */
export async function readConfigFileText(path: string): Promise<string> {
  let state: string | undefined;
  try {
    state = refusalOf(await Deno.stat(path));
    if (state === undefined) return await Deno.readTextFile(path);
  } catch (cause) {
    throw problemsError(path, [{ message: stateOf(cause), path: "" }], { cause });
  }
  throw problemsError(path, [{ message: state, path: "" }]);
}

/** Why a file is left alone, if there is a reason. */
function refusalOf({ isFile, isDirectory, size }: Deno.FileInfo): string | undefined {
  if (isDirectory) return "it is a folder; name the file in it";
  if (!isFile) return "it is no regular file; write the config to a file";
  return size > MAX_CONFIG_BYTES ? `it has more than ${MAX_CONFIG_BYTES} bytes` : undefined;
}

/**
 * Reads the text of a configuration from a stream of at most {@linkcode MAX_CONFIG_BYTES}.
 *
 * @throws {ConfigError} that gives the stream's name.
 */
export async function readConfigStream(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  name: string,
): Promise<string> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > MAX_CONFIG_BYTES) {
      throw problemsError(name, [{ message: `it has more than ${MAX_CONFIG_BYTES} bytes`, path: "" }]);
    }
    pieces.push(piece);
  }
  return await new Blob(pieces).text();
}

function stateOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
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
