/** Reading regular files of a bounded size, and replacing files in one step. */
import { dirname, join } from "@std/path";
import { delay } from "../async/backoff.ts";
import { describeError } from "../text/text.ts";

/** How often a file is replaced that another program has open, and how much longer each wait is, in milliseconds. */
const RENAME_ATTEMPTS = 10;
const RENAME_PAUSE_MS = 10;

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
    return state === undefined ? { text: decodeText(await Deno.readFile(path)) } : { state };
  } catch (cause) {
    return { state: describeFileError(cause), cause };
  }
}

/** Reads UTF-8, whose byte order mark stays, and UTF-16 with one, as Windows PowerShell 5.1 writes it. */
export function decodeText(bytes: Uint8Array): string {
  const mark = [...bytes.subarray(0, 2)].join(" ");
  if (mark === "255 254") return new TextDecoder("utf-16le").decode(bytes);
  if (mark === "254 255") return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

function kindProblem({ isFile, isDirectory, size }: Deno.FileInfo, maxBytes: number): string | undefined {
  if (isDirectory) return "it is a folder; give the path of a file";
  if (!isFile) return "it is not a regular file; write its content to a file first";
  return size > maxBytes ? `it has more than ${maxBytes} bytes` : undefined;
}

/** The access that others than the owner have. */
const OTHERS = 0o077;

/** What lets every user write a file, or replace each file of a folder; in one with the second bit, only files of their own. */
const ALL_WRITE = 0o002;
const STICKY = 0o1000;

/** Why a file is no place for secrets: other users can access it. `undefined` where nobody else can. */
export function privacyProblem({ mode }: Deno.FileInfo, path: string): string | undefined {
  const isOpen = mode !== null && Deno.build.os !== "windows" && (mode & OTHERS) !== 0;
  return isOpen ? `other users can access it; run: chmod 600 ${path}` : undefined;
}

/** Why a file is no place for what counts: every user can change or replace it. `undefined` where that is not so, or is not there. */
export async function trustProblem(path: string): Promise<string | undefined> {
  if (Deno.build.os === "windows") return undefined;
  for (const place of [path, dirname(path)]) {
    const mode = (await Deno.stat(place).catch(() => undefined))?.mode ?? 0;
    if ((mode & (ALL_WRITE | STICKY)) === ALL_WRITE) {
      return `every user can change it; run: chmod o-w ${place}`;
    }
  }
}

/**
 * Holds a lock until the disposal, or the end of this process; `undefined` while another one holds it. The file of the lock is
 * not the one that it is for, which may be replaced.
 */
export function holdLock(path: string): Disposable | undefined {
  Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Whoever can open it can hold it.
  const file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
  if (!file.tryLockSync(true)) return void file.close();
  return {
    [Symbol.dispose]() {
      // A process that is just being started has the file too, and would keep the lock until it runs its own program.
      // Windows starts none with it.
      if (Deno.build.os !== "windows") file.unlockSync();
      file.close();
    },
  };
}

/** Why a file cannot be read, in words for users. */
export function describeFileError(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "no such file";
  if (error instanceof Deno.errors.PermissionDenied) return "permission denied";
  if (error instanceof Deno.errors.NotCapable) return "reading it needs --allow-read";
  return describeError(error);
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
    await renameOver(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}

/** As {@linkcode replaceFile}, for its owner alone, in a folder that is made for its owner alone where there is none. */
export async function replacePrivateFile(path: string, content: Uint8Array | string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await replaceFile(path, content, { mode: 0o600 });
}

/**
 * Appends to a file for its owner alone. A file that would have more than `maxBytes` is moved aside first, in the place of the
 * one before.
 */
export function appendPrivateFile(
  path: string,
  bytes: Uint8Array,
  { maxBytes }: { readonly maxBytes: number },
): void {
  const size = sizeOf(path);
  if (size > 0 && size + bytes.length > maxBytes) Deno.renameSync(path, `${path}.1`);
  using file = openToAppend(path);
  writeWhole(file, bytes);
}

/**
 * Creates a file for its owner alone if it does not exist, and returns what appends a line. Each line is appended whole, so that
 * several programs can share the file, and opens it, so that it can be truncated or moved meanwhile, as `logrotate` does. After a
 * line that a full disk or the end of a program has cut, the next one begins on a line of its own, where this program may read the
 * file.
 */
export function openLineLog(path: string): (line: string) => void {
  // Asked here, since Deno would stop the program to ask at a terminal.
  const read = Deno.permissions.querySync({ name: "read", path }).state === "granted";
  openToAppend(path, { read }).close();
  return (line) => {
    using file = openToAppend(path, { read });
    writeWhole(file, new TextEncoder().encode(`${read && endsCut(file) ? "\n" : ""}${line}\n`));
  };
}

function openToAppend(path: string, { read = false } = {}): Deno.FsFile {
  // Deno.writeFile() would set the mode of a file that is there, too.
  return Deno.openSync(path, { read, append: true, create: true, mode: 0o600 });
}

function writeWhole(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let start = 0; start < bytes.length;) start += file.writeSync(bytes.subarray(start));
}

/** Whether the last line of a file has no end. */
function endsCut(file: Deno.FsFile): boolean {
  const { isFile, size } = file.statSync();
  if (!isFile || size === 0) return false;
  file.seekSync(-1, Deno.SeekMode.End);
  const last = new Uint8Array(1);
  return file.readSync(last) === 1 && last[0] !== 0x0a;
}

function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}

/** On Windows a program that reads the file, such as one that looks for viruses, refuses its replacement for a moment. */
async function renameOver(draft: string, path: string): Promise<void> {
  for (let attempt = 1;; attempt++) {
    try {
      return await Deno.rename(draft, path);
    } catch (error) {
      const isBusy = Deno.build.os === "windows" && error instanceof Deno.errors.PermissionDenied;
      if (!isBusy || attempt === RENAME_ATTEMPTS) throw error;
      await delay(attempt * RENAME_PAUSE_MS);
    }
  }
}
