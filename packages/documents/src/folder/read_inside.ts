/** Reads files that lie inside of a folder, and none outside. */
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

/** The first bytes of a regular file, which decide whether it is listed; `undefined` when it cannot be read. */
export async function readHead(path: string, length: number): Promise<Uint8Array | undefined> {
  try {
    await using file = await openRegularFile(path);
    return file && await readBeginning(file, length);
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
