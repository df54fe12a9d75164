/** Reads a configuration from a file or a stream. */
import { basename, dirname, join, resolve } from "@std/path";
import { readRegularFile } from "../files/files.ts";
import { readBoundedText } from "../text/bounded_text.ts";
import { type ComputerConfig, parseConfigText } from "./config.ts";
import { problemsError } from "./problem.ts";
import type { ConfigOrigin } from "./foreign/variables.ts";

/** Folders within a project in which programs keep its settings. */
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
 * @param path The file, in any form that {@linkcode parseConfig} reads.
 * @throws {ConfigError} when the file cannot be read, or with all problems in it.
 */
export async function readConfigFile(path: string): Promise<ComputerConfig> {
  return parseConfigText(await readConfigFileText(path), path, { origin: originOf(path) });
}

export const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

/** Reads a regular file of at most {@linkcode MAX_CONFIG_BYTES}, or throws a ConfigError that names it. */
export async function readConfigFileText(path: string): Promise<string> {
  const reading = await readRegularFile(path, { maxBytes: MAX_CONFIG_BYTES });
  if ("text" in reading) return reading.text;
  const { state, cause } = reading;
  throw problemsError(path, [{ message: state, path: "" }], { cause });
}

/** Reads at most {@linkcode MAX_CONFIG_BYTES}; a ConfigError gives the name of the stream. */
export async function readConfigStream(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  name: string,
): Promise<string> {
  const text = await readBoundedText(stream, { maxBytes: MAX_CONFIG_BYTES });
  if (text !== undefined) return text;
  throw problemsError(name, [{ message: `it has more than ${MAX_CONFIG_BYTES} bytes`, path: "" }]);
}

/** The values of variables such as `${workspaceFolder}` for a file at `path`. */
export function originOf(path: string): ConfigOrigin {
  const folder = dirname(resolve(path));
  const settings = ["settings", "mcp"].includes(basename(folder)) ? dirname(folder) : folder;
  const isInside = PROJECT_FOLDERS.has(basename(settings));
  return {
    workspace: isInside ? dirname(settings) : folder,
    isProject: isInside || basename(path) === ".mcp.json",
    home: ifPermitted(() => Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE")),
    cache: ifPermitted(cacheFolder),
    cwd: ifPermitted(() => Deno.cwd()),
    programFolder: basename(settings),
  };
}

/** `$XDG_CACHE_HOME`, or the place that the system has for caches; `undefined` without a home. */
function cacheFolder(): string | undefined {
  const { os } = Deno.build;
  const set = Deno.env.get(os === "windows" ? "LOCALAPPDATA" : "XDG_CACHE_HOME");
  const home = Deno.env.get("HOME");
  if (set || home === undefined) return set;
  return os === "darwin" ? join(home, "Library", "Caches") : join(home, ".cache");
}

/** `undefined` without the permission, because most configurations do not need the value. */
function ifPermitted(read: () => string | undefined): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
