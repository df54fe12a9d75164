/** Reads files that lie inside of a folder, and none outside. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "@std/path";
import { openRegularFile, readBeginning } from "@a2c-smcp/sdk/base";
import { describeSize } from "../file_name.ts";
import { type DocumentError, unreadable } from "../formats/format.ts";

export interface InsideFile {
  /** The folder, in its canonical form. */
  readonly root: string;
  /** The path within the folder, with `/`. */
  readonly path: string;
  readonly maxBytes: number;
}

/**
 * Reads a regular file, and never one that a link leads to.
 *
 * @throws {DocumentError} when the file is too large, or does not lie in the folder
 * @throws {Deno.errors.NotFound} when there is no such file
 * @throws {Deno.errors.PermissionDenied} when the owner of this process may not read it
 */
export async function readInside({ root, path, maxBytes }: InsideFile): Promise<Uint8Array<ArrayBuffer>> {
  await using file = await openRegularFile(join(root, path));
  if (file === undefined) throw outside(path);
  const { size } = await file.stat();
  if (size > maxBytes) throw tooLarge(size, maxBytes);
  // What it grows by meanwhile is another version of it.
  return await readBeginning(file, size);
}

/** Without these flags, a pipe that took the place of a file would block the opening, and a link be followed. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/**
 * The first bytes of a file that decide whether it is listed, and go nowhere else. Whoever makes a folder above
 * a link at this moment learns whether a text lies behind it. `undefined` when it cannot be read.
 */
export async function readHead(path: string, length: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await open(path, FLAGS);
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return undefined;
  }
}

function outside(path: string): DocumentError {
  return unreadable("unsupported", `"${path}" is no regular file of the folder`);
}

function tooLarge(size: number, maxBytes: number): DocumentError {
  return unreadable(
    "too_large",
    `it has ${describeSize(size)}, more than ${
      describeSize(maxBytes)
    }; raise the limit, by "max_file_mib" of the entry or --max-file-size`,
  );
}
