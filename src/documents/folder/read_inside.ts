/** Reads files that lie inside of a folder, and none outside. */
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

/**
 * Reads a regular file. The file that was opened must be the one that lies at the path without any link, so that nobody
 * can lead the reader out of the folder by a link, also not between the check and the opening.
 *
 * @throws {DocumentError} when the file is too large, or does not lie in the folder
 * @throws {Deno.errors.NotFound} when there is no such file
 */
export async function readInside({ root, path, maxBytes }: InsideFile): Promise<Uint8Array<ArrayBuffer>> {
  const absolute = join(root, path);
  // A pipe would block the opening.
  if (!(await Deno.lstat(absolute)).isFile) throw outside(path);
  using file = await Deno.open(absolute);
  const opened = await file.stat();
  const [real, found] = await Promise.all([Deno.realPath(absolute), Deno.lstat(absolute)]);
  const isInside = real === absolute && found.isFile && opened.isFile && found.dev === opened.dev &&
    found.ino === opened.ino;
  if (!isInside) throw outside(path);
  if (opened.size > maxBytes) throw tooLarge(opened.size, maxBytes);
  return await readAll(file, opened.size, maxBytes);
}

async function readAll(file: Deno.FsFile, size: number, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  let bytes = new Uint8Array(size + 1);
  let length = 0;
  for (;;) {
    const read = await file.read(bytes.subarray(length));
    if (read === null) return bytes.subarray(0, length);
    length += read;
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
    `it has ${sizeText(size)}, more than ${sizeText(maxBytes)}; raise the limit with --max-file-size`,
  );
}

function sizeText(bytes: number): string {
  return bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)} KiB`
    : `${(bytes / (1024 * 1024)).toFixed(1).replace(/\.0$/, "")} MiB`;
}
