/** Reads the files of a skill from its folder, and never a file outside of it. */
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, join, SEPARATOR } from "@std/path";
import { Limiter } from "../../async/limiter.ts";
import { describeFileError } from "../../files.ts";
import { openRegularFile } from "../../open_file.ts";
import type { SmcpError } from "../../protocol/errors.ts";
import { SKILL_FILE } from "../../protocol/skills.ts";
import { bodyStartOf, HEAD_BYTES } from "./front_matter.ts";
import { mediaTypeOf } from "./media_types.ts";
import { isForbidden, notReadable, toPathSegments } from "./names.ts";

/** The largest file of a skill that an Agent gets, in bytes. */
export const MAX_SKILL_FILE_BYTES = 100 * 1024 * 1024;
const HASHED_BYTES = 256 * 1024;
const MAX_HASHING = 4;
const MAX_SUMS = 2_000;

/** A file of a skill as an Agent gets it: a `SKILL.md` without its front matter. */
export interface SkillContent {
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** Reads a part; shorter at the end of the file. */
  readonly read: (offset: number, length: number) => Promise<Uint8Array<ArrayBuffer>>;
}

interface FoundFile {
  readonly relPath: string;
  /** The path without symbolic links. */
  readonly path: string;
}

/** The file has changed since it was opened. */
export class ChangedFileError extends Error {
  override readonly name = "ChangedFileError";
}

/** Reads files of skills, and remembers their checksums while they do not change. */
export class SkillFiles {
  readonly #sums = new Map<string, { readonly stamp: string; readonly sum: Promise<string> }>();
  readonly #hashing = new Limiter(MAX_HASHING);

  /**
   * Opens a file for an Agent. Its bytes stay in the file.
   *
   * @param root The folder of the skill, without symbolic links in its path.
   * @param relPath The path in the skill as requested; `SKILL.md` for an empty one.
   * @throws {SmcpError} 4017 when the file cannot be read.
   * @throws {ChangedFileError} here and in `read()`, when it changes meanwhile: open it again.
   */
  async open(root: string, relPath: string): Promise<SkillContent> {
    const found = await findFile(root, relPath);
    try {
      return await this.#open(found);
    } catch (error) {
      throw error instanceof ChangedFileError ? error : toRefusal(error, relPath);
    }
  }

  async #open(found: FoundFile): Promise<SkillContent> {
    const { path } = found;
    const isEntry = basename(path) === SKILL_FILE;
    const { stamp, size, start } = await withFile(path, async (file) => {
      const info = await file.stat();
      const start = isEntry ? bodyStartOf(await readPart(file, 0, HEAD_BYTES)) : 0;
      return { stamp: stampOf(info), size: info.size, start };
    });
    if (size > MAX_SKILL_FILE_BYTES) {
      throw notReadable("too_large", found.relPath, { totalSize: size });
    }
    const sizeBytes = size - start;
    const read = (offset: number, length: number) =>
      withFile(path, async (file) => {
        assertSame(await file.stat(), stamp);
        return await readPart(file, start + offset, Math.min(length, sizeBytes - offset));
      });
    const sha256 = await this.#sumOf(path, { stamp, start });
    return { mimeType: mediaTypeOf(basename(path)), sizeBytes, sha256, read };
  }

  #sumOf(
    path: string,
    { stamp, start }: { readonly stamp: string; readonly start: number },
  ): Promise<string> {
    const version = `${stamp} ${start}`;
    const known = this.#sums.get(path);
    if (known?.stamp === version) return known.sum;
    const sum = this.#hashing.run(() =>
      withFile(path, async (file) => {
        const digest = await hashOf(file, start);
        assertSame(await file.stat(), stamp);
        return digest;
      })
    );
    this.#sums.delete(path);
    this.#sums.set(path, { stamp: version, sum });
    const [oldest = path] = this.#sums.keys();
    if (this.#sums.size > MAX_SUMS) this.#sums.delete(oldest);
    sum.catch(() => {
      if (this.#sums.get(path)?.sum === sum) this.#sums.delete(path);
    });
    return sum;
  }
}

/**
 * Reads the beginning of a skill's `SKILL.md`: all of it, or more than its front matter may have.
 *
 * @throws {SmcpError} 4017 when it cannot be read.
 */
export async function readHead(root: string): Promise<Uint8Array<ArrayBuffer>> {
  const { path, relPath } = await findFile(root, SKILL_FILE);
  try {
    return await withFile(path, (file) => readPart(file, 0, HEAD_BYTES));
  } catch (error) {
    throw toRefusal(error, relPath);
  }
}

/** Finds a file; symbolic links may only lead to a place inside of the folder. */
async function findFile(root: string, relPath: string): Promise<FoundFile> {
  const segments = toPathSegments(relPath);
  try {
    const path = await Deno.realPath(join(root, ...segments));
    if (!isWithin(path, root)) throw notReadable("traversal", relPath);
    if (isForbidden(basename(path))) throw notReadable("forbidden", relPath);
    const { isFile } = await Deno.stat(path);
    if (!isFile) throw notReadable("not_found", relPath);
    return { relPath, path };
  } catch (error) {
    throw toRefusal(error, relPath);
  }
}

/** Whether a path lies in a folder, both without symbolic links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : `${folder}${SEPARATOR}`);
}

/** Opens a file, and makes sure that nothing else was put at its path since it was found. */
async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  await using file = await openRegularFile(path);
  if (file === undefined) throw new ChangedFileError("Cannot read a file: another one is at its path");
  return await use(file);
}

function assertSame(info: FileVersion, stamp: string): void {
  if (stampOf(info) !== stamp) throw new ChangedFileError("Cannot read a file: it has changed");
}

async function readPart(file: FileHandle, offset: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, length));
  let filled = 0;
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === bytes.length ? bytes : bytes.slice(0, filled);
}

/** Hashes what follows `start`, but no more than the largest file and one piece: the file may grow meanwhile. */
async function hashOf(file: FileHandle, start: number): Promise<string> {
  const hash = createHash("sha256");
  for (let offset = 0; offset <= MAX_SKILL_FILE_BYTES; offset += HASHED_BYTES) {
    const piece = await readPart(file, start + offset, HASHED_BYTES);
    hash.update(piece);
    if (piece.length < HASHED_BYTES) break;
  }
  return hash.digest("hex");
}

/** What tells the versions of a file apart. */
type FileVersion = Pick<Stats, "mtime" | "ctime" | "size" | "ino" | "dev">;

/** Differs between versions of a file. */
export function stampOf(
  { mtime, ctime, size, ino, dev }: FileVersion | Deno.FileInfo,
): string {
  return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
}

/** The 4017 for a file that changes again and again. */
export function changesWhileRead(relPath: string, cause: ChangedFileError): SmcpError {
  return notReadable("io_error", relPath, { cause, why: "it changes while it is read" });
}

/** The 4017 for a failure of the file system. */
function toRefusal(error: unknown, relPath: string): unknown {
  const isMissing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    // A path with a NUL character.
    error instanceof TypeError;
  if (isMissing) return notReadable("not_found", relPath, { cause: error });
  if (error instanceof ChangedFileError) return changesWhileRead(relPath, error);
  const isSystem = error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable ||
    error instanceof Deno.errors.FilesystemLoop ||
    (error instanceof Error && "code" in error && typeof error.code === "string");
  return isSystem ? notReadable("io_error", relPath, { cause: error, why: describeFileError(error) }) : error;
}
