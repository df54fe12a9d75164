/** Reads files that lie inside of a folder, and none outside. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "@std/path";
import { type DocumentError, unreadable } from "../formats/format.ts";

/** A file to read. */
export interface InsideFile {
  /** The folder, in its canonical form. */
  readonly root: string;
  /** The path within the folder, with `/`. */
  readonly path: string;
  /** The most bytes. */
  readonly maxBytes: number;
}

/** How often the place of an opened file is looked at. */
const LOOKS = 20;
/** A pipe that took the place of a file would block the opening without this flag. Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * Reads a regular file. The file that was opened must be the one that lies at the path without any link, so that nobody
 * can lead the reader out of the folder by a link, also not between the check and the opening.
 *
 * @throws {DocumentError} when the file is too large, or does not lie in the folder
 * @throws {Deno.errors.NotFound} when there is no such file
 * @throws {Deno.errors.PermissionDenied} when the owner of this process may not read it
 */
export async function readInside({ root, path, maxBytes }: InsideFile): Promise<Uint8Array<ArrayBuffer>> {
  const absolute = join(root, path);
  if (!(await Deno.lstat(absolute)).isFile) throw outside(path);
  await using file = await openFile(absolute);
  const opened = await file.stat();
  if (!opened.isFile() || !liesAt(absolute, opened)) throw outside(path);
  if (opened.size > maxBytes) throw tooLarge(opened.size, maxBytes);
  return await readAll(file, opened.size, maxBytes);
}

/** Opens a file, with the errors of Deno: only the interface of Node.js takes flags. */
async function openFile(absolute: string): Promise<FileHandle> {
  try {
    return await open(absolute, FLAGS);
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
function liesAt(absolute: string, { dev, ino }: { readonly dev: number; readonly ino: number }): boolean {
  const hasNoLink = () => Deno.realPathSync(absolute) === absolute;
  const isOpened = () => {
    const found = Deno.lstatSync(absolute);
    return found.isFile && found.dev === dev && (found.ino ?? 0) === ino;
  };
  const order = crypto.getRandomValues(new Uint8Array(LOOKS));
  return order.every((random) => random % 2 === 0 ? hasNoLink() && isOpened() : isOpened() && hasNoLink());
}

async function readAll(file: FileHandle, size: number, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length);
    if (bytesRead === 0) return bytes.subarray(0, length);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(length, maxBytes);
    if (length < bytes.length) continue;
    // It grows while it is read.
    const larger = new Uint8Array(Math.min(bytes.length * 2, maxBytes + 1));
    larger.set(bytes);
    bytes = larger;
  }
}

function outside(path: string): DocumentError {
  return unreadable("unsupported", `"${path}" is no regular file of the folder`);
}

function tooLarge(size: number, maxBytes: number): DocumentError {
  return unreadable(
    "too_large",
    `it has ${sizeText(size)}, more than ${
      sizeText(maxBytes)
    }; raise the limit, by "max_file_mib" of the entry or --max-file-size`,
  );
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)} KiB`
    : `${(bytes / (1024 * 1024)).toFixed(1).replace(/\.0$/, "")} MiB`;
}
