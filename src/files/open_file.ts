/** Opens regular files, and nothing that lies behind a link. Apart from `files.ts`, so that the programs start fast. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** How often the place of an opened file is looked at. */
const LOOKS = 20;
/** A pipe that took the place of a file would block the opening without this flag. Windows has neither. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

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

/** Reads so many bytes of an open file, or all that it has. */
export async function readBeginning(file: FileHandle, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === length ? bytes : bytes.slice(0, filled);
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
