/** Reading regular files of a bounded size or inside of a folder, and replacing files in one step. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname, join } from "@std/path";
import { describeError } from "./text.ts";

/** How often the place of an opened file is looked at. */
const LOOKS = 20;
/** A pipe that took the place of a file would block the opening without this flag. Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Limits for {@linkcode readRegularFile}. */
export interface RegularFileOptions {
  /** The largest size, in bytes. */
  readonly maxBytes: number;
  /** Returns why a regular file must not be read; every regular file may be read by default. */
  readonly refuse?: ((file: Deno.FileInfo) => string | undefined) | undefined;
}

/** The text of a file, or why it could not be read: `state` in words for users, `cause` from the system. */
export type FileReading =
  | { readonly text: string }
  | { readonly state: string; readonly cause?: unknown };

/** Reads a text file. Pipes and devices are refused, because reading them may never end. */
export async function readRegularFile(
  path: string,
  { maxBytes, refuse }: RegularFileOptions,
): Promise<FileReading> {
  try {
    const file = await Deno.stat(path);
    const state = kindProblem(file, maxBytes) ?? refuse?.(file);
    return state === undefined ? { text: await Deno.readTextFile(path) } : { state };
  } catch (cause) {
    return { state: describeFileError(cause), cause };
  }
}

function kindProblem({ isFile, isDirectory, size }: Deno.FileInfo, maxBytes: number): string | undefined {
  if (isDirectory) return "it is a folder; give the path of a file";
  if (!isFile) return "it is not a regular file; write its content to a file first";
  return size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

/** Why a file cannot be read, in words for users. */
export function describeFileError(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) return "reading it needs --allow-read";
  return describeError(error);
}

/**
 * Opens a regular file. The file that was opened must be the one that lies at the path without any link, so that nobody
 * can lead the reader out of a folder by a link, also not between the check and the opening.
 *
 * @param path an absolute path in its canonical form
 * @return `undefined` when something else lies there, or the path has a link.
 * @throws {Deno.errors.NotFound} when there is no such file
 * @throws {Deno.errors.PermissionDenied} when the owner of this process may not read it
 */
export async function openRegularFile(path: string): Promise<FileHandle | undefined> {
  if (!(await Deno.lstat(path)).isFile) return undefined;
  const file = await openFile(path);
  try {
    const opened = await file.stat();
    if (opened.isFile() && liesAt(path, opened)) return file;
  } catch (error) {
    await file.close();
    throw error;
  }
  await file.close();
  return undefined;
}

/** Opens a file, with the errors of Deno: only the interface of Node.js takes flags. */
async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, FLAGS);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    const message = `Cannot open file: ${code}`;
    if (code === "ENOENT") throw new Deno.errors.NotFound(message, { cause });
    if (code === "EACCES" || code === "EPERM") throw new Deno.errors.PermissionDenied(message, { cause });
    throw cause;
  }
}

/**
 * Whether an opened file lies at a path without links. No call of the system tells both at once, so somebody could swap a
 * folder and a link back and forth, and let the one look see the folder and the other one what is behind the link. Which
 * look comes first is random, so whoever swaps guesses right only half of the time, and is found out by many looks.
 */
function liesAt(path: string, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  const hasNoLink = () => Deno.realPathSync(path) === path;
  const isOpened = () => {
    const found = Deno.lstatSync(path);
    return found.isFile && found.dev === dev && (found.ino ?? 0) === ino;
  };
  const order = crypto.getRandomValues(new Uint8Array(LOOKS));
  return order.every((random) => random % 2 === 0 ? hasNoLink() && isOpened() : isOpened() && hasNoLink());
}

/**
 * Creates a file, or replaces it in one step, so that readers see the whole old content or the whole new content. A
 * symbolic link at `path` is replaced and not followed.
 *
 * @param options `mode`: the permissions of the new file, before the umask; 0o666 by default.
 */
export async function replaceFile(
  path: string,
  content: Uint8Array | string,
  { mode = 0o666 }: { readonly mode?: number } = {},
): Promise<void> {
  const draft = join(dirname(path), `.${crypto.randomUUID()}.tmp`);
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  try {
    await Deno.writeFile(draft, bytes, { createNew: true, mode });
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
