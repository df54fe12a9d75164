/** Reads the files of a skill from its folder, and never a file outside of it. */
import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { basename, join, SEPARATOR } from "@std/path";
import { describeFileError } from "../../files/files.ts";
import { openRegularFile, readBeginning } from "../../files/open_file.ts";
import { BINARY_TYPE, SKILL_FILE } from "../../protocol/skills.ts";
import { bodyStartOf, HEAD_BYTES } from "./front_matter.ts";
import { isForbidden, notReadable, toPathSegments } from "./names.ts";

/** The largest file of a skill that an Agent gets, in bytes. */
const MAX_SKILL_FILE_BYTES = 100 * 1024 * 1024;

/** Media types by extension: the same table on every Computer, as other SDKs have it. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map(Object.entries({
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".txt": "text/plain",
  ".json": "application/json",
  ".xml": "application/xml",
  ".yaml": "application/yaml",
  ".yml": "application/yaml",
  ".toml": "application/toml",
  ".rst": "text/x-rst",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".bmp": "image/bmp",
  ".ico": "image/vnd.microsoft.icon",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".gz": "application/gzip",
  ".tar": "application/x-tar",
  ".wasm": "application/wasm",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".ttf": "font/ttf",
  ".otf": "font/otf",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
}));

/**
 * The media type of a file by its extension in any case, without a folder before its name. Scripts, such as `.py` and
 * `.sh`, are no text here, so they are fetched as bytes.
 */
export function mediaTypeOf(name: string): string {
  const dot = name.lastIndexOf(".");
  return MEDIA_TYPES.get(dot > 0 ? name.slice(dot).toLowerCase() : "") ?? BINARY_TYPE;
}

/** A file of a skill as an Agent gets it: a `SKILL.md` without its front matter. */
export interface SkillContent {
  readonly mimeType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The content of a file of this name, from all of its bytes; throws 4017 when it is too large. */
export function toSkillContent(
  name: string,
  { bytes, relPath }: { readonly bytes: Uint8Array<ArrayBuffer>; readonly relPath: string },
): SkillContent {
  assertSize(bytes.length, relPath);
  return {
    mimeType: mediaTypeOf(name),
    bytes: name === SKILL_FILE ? bytes.slice(bodyStartOf(bytes)) : bytes,
  };
}

/**
 * Reads a file.
 *
 * @param root The folder of the skill, without symbolic links in its path.
 * @param relPath The path in the skill as requested; `SKILL.md` for an empty one.
 * @throws {SmcpError} 4017 when the file cannot be read.
 */
export async function readSkillFile(root: string, relPath: string): Promise<SkillContent> {
  const path = await findFile(root, relPath);
  const bytes = await withFile(path, relPath, async (file) => {
    const { size } = await file.stat();
    assertSize(size, relPath);
    return await readBeginning(file, size);
  });
  return toSkillContent(basename(path), { bytes, relPath });
}

/**
 * Reads the beginning of a skill's `SKILL.md`: all of it, or more than its front matter may have.
 *
 * @throws {SmcpError} 4017 when it cannot be read.
 */
export async function readHead(root: string): Promise<Uint8Array<ArrayBuffer>> {
  return await withFile(
    await findFile(root, SKILL_FILE),
    SKILL_FILE,
    (file) => readBeginning(file, HEAD_BYTES),
  );
}

function assertSize(size: number, relPath: string): void {
  if (size > MAX_SKILL_FILE_BYTES) throw notReadable("too_large", relPath, { totalSize: size });
}

/** The path of a file without symbolic links, which may only lead to a place inside of the folder. */
async function findFile(root: string, relPath: string): Promise<string> {
  const segments = toPathSegments(relPath);
  try {
    const path = await Deno.realPath(join(root, ...segments));
    if (!isWithin(path, root)) throw notReadable("traversal", relPath);
    if (isForbidden(basename(path))) throw notReadable("forbidden", relPath);
    const { isFile } = await Deno.stat(path);
    if (!isFile) throw notReadable("not_found", relPath);
    return path;
  } catch (error) {
    throw toRefusal(error, relPath);
  }
}

/** Whether a path lies in a folder, both without symbolic links. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(SEPARATOR) ? folder : `${folder}${SEPARATOR}`);
}

/** Opens a file, and makes sure that nothing else was put at its path since it was found. */
async function withFile<T>(path: string, relPath: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  try {
    await using file = await openRegularFile(path);
    if (file !== undefined) return await use(file);
  } catch (error) {
    throw toRefusal(error, relPath);
  }
  throw notReadable("io_error", relPath, { why: "another file has taken its place" });
}

/** Differs between versions of a file. */
export function stampOf(
  { mtime, ctime, size, ino, dev }: Pick<Stats, "mtime" | "ctime" | "size" | "ino" | "dev"> | Deno.FileInfo,
): string {
  return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
}

/** The 4017 for a failure of the file system. */
function toRefusal(error: unknown, relPath: string): unknown {
  const isMissing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    // A path with a NUL character.
    error instanceof TypeError;
  if (isMissing) return notReadable("not_found", relPath, { cause: error });
  const isSystem = error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable ||
    error instanceof Deno.errors.FilesystemLoop ||
    (error instanceof Error && "code" in error && typeof error.code === "string");
  return isSystem ? notReadable("io_error", relPath, { cause: error, why: describeFileError(error) }) : error;
}
