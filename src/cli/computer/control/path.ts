/** Where the control sockets of this user's Computers are: a folder that nobody else may enter. */
import { join } from "@std/path";

/** The longest path that a socket may have on every system, in bytes. */
const MAX_PATH_BYTES = 103;
/** Longer names are shortened: a folder of the system takes about half of the path. */
const MAX_NAME_LENGTH = 40;
/** What a shortened name ends with, in hexadecimal digits. */
const DIGEST_LENGTH = 16;
const SUFFIX = ".sock";

/**
 * The folder, made if it is not there; `undefined` where it may not be used.
 *
 * @throws {TypeError} when it is somebody else's, or no folder.
 */
export async function controlFolder(): Promise<string | undefined> {
  if (Deno.build.os === "windows") return undefined;
  const roots = [readVariable("XDG_RUNTIME_DIR"), readVariable("TMPDIR"), "/tmp"];
  const folder = chooseFolder(
    roots.filter((root) => root !== undefined).filter(mayBeThere),
    readVariable("USER") ?? readVariable("LOGNAME") ?? "user",
  );
  if (!await mayUse(folder)) return undefined;
  try {
    await Deno.mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
  }
  await assertOwn(folder);
  return folder;
}

/** A session's folder may be gone, or never have been; of what may not be looked at nothing is known. */
function mayBeThere(path: string): boolean {
  if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return true;
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** The folder in the first root that leaves room for a socket; in the last where none does. */
export function chooseFolder(roots: readonly string[], user: string): string {
  const name = `a2c-smcp-${user.replaceAll(/[^\w.-]/g, "_").slice(0, MAX_NAME_LENGTH)}`;
  const folders = roots.map((root) => join(root, name));
  return folders.find((folder) => roomIn(folder) >= DIGEST_LENGTH) ?? folders.at(-1) ?? name;
}

/** The socket of the Computer of this name. Names that differ in case alone differ on every file system. */
export async function controlPath(folder: string, name: string): Promise<string> {
  const file = encodeURIComponent(name.toWellFormed());
  const room = Math.min(MAX_NAME_LENGTH, roomIn(folder));
  if (file.length <= room && /^[a-z0-9._-]+$/.test(file)) return join(folder, `${file}${SUFFIX}`);
  const bytes = new TextEncoder().encode(name);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, DIGEST_LENGTH);
  const start = file.slice(0, Math.max(0, room - DIGEST_LENGTH - 1));
  return join(folder, `${start === "" ? "" : `${start}-`}${digest}${SUFFIX}`);
}

/** The sockets of all Computers that run, or did not end as they should. */
export async function controlPaths(folder: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(SUFFIX)) paths.push(join(folder, name));
  }
  return paths.sort();
}

/** Whether somebody listens at a path. */
export async function isListening(path: string): Promise<boolean> {
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return true;
  } catch {
    return false;
  }
}

/** How many bytes of a name fit into a socket's path. */
function roomIn(folder: string): number {
  return MAX_PATH_BYTES - new TextEncoder().encode(join(folder, SUFFIX)).length;
}

/** Whoever owns the folder, or may write there, could listen in place of a Computer. */
async function assertOwn(folder: string): Promise<void> {
  // Not followed where it is a link: whoever planted that would have us change another folder.
  const { isDirectory, uid, mode } = await Deno.lstat(folder);
  if (!isDirectory) throw new TypeError(`Cannot use "${folder}": it is not a folder`);
  if (uid !== null && uid !== await ownUid(folder)) {
    throw new TypeError(`Cannot use "${folder}": it belongs to somebody else`);
  }
  if (mode === null || (mode & 0o077) !== 0) await Deno.chmod(folder, 0o700);
}

/** Who we are; where the permission to ask is missing, the owner of a file that was made just now. */
async function ownUid(folder: string): Promise<number | null> {
  const { state } = await Deno.permissions.query({ name: "sys", kind: "uid" });
  if (state === "granted") return Deno.uid();
  const path = join(folder, `.owner-${crypto.randomUUID()}`);
  try {
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    // Of the open file: whoever owns the folder could put another one in its place.
    const { uid } = await file.stat();
    await Deno.remove(path).catch(() => {});
    return uid;
  } catch (error) {
    if (error instanceof Deno.errors.PermissionDenied) return null;
    throw error;
  }
}

/** Nobody wants to be asked for permissions by something that is only a convenience. */
async function mayUse(folder: string): Promise<boolean> {
  const queries = [
    { name: "read", path: folder },
    { name: "write", path: folder },
    { name: "net" },
  ] as const;
  const states = await Promise.all(queries.map((query) => Deno.permissions.query(query)));
  return states.every(({ state }) => state === "granted");
}

function readVariable(name: string): string | undefined {
  try {
    return Deno.env.get(name) || undefined;
  } catch {
    return undefined;
  }
}
