/** Which folder has the sockets of this user's programs. */
import { userInfo } from "node:os";
import { basename, join } from "@std/path";

/** The longest path that a socket may have on every system, in bytes. */
export const MAX_PATH_BYTES = 103;
/** Longer names are shortened, because the folder takes about half of the path. */
export const MAX_PATH_PART_LENGTH = 40;
/** The length of the digest at the end of a shortened name, in hexadecimal digits. */
export const DIGEST_LENGTH = 16;
/** The end of a socket's name, by the program that listens there. */
export const SUFFIXES = { computer: ".sock", server: ".server" } as const;

const isWindows = Deno.build.os === "windows";
/** What `-A` grants. */
const ALL_PERMISSIONS = ["read", "write", "net", "env", "sys", "run", "ffi"] as const;

export function isGranted(permission: Deno.PermissionDescriptor): boolean {
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Whether this is Windows, and this program may use its named pipes. Deno asks for all permissions there. */
export function mayUsePipes(): boolean {
  return isWindows && ALL_PERMISSIONS.every((name) => isGranted({ name }));
}

/** The folder of the sockets of this user's programs. */
export function socketFolder(): string {
  return chooseFolder(roots(), userName());
}

/** All folders where such sockets may be: programs that were started with other variables choose another root. */
export function socketFolders(): string[] {
  return roots().map((root) => folderIn(root, userName()));
}

function roots(): string[] {
  const usual = isWindows ? [readVariable("LOCALAPPDATA")] : [readVariable("TMPDIR"), "/tmp"];
  return [givenFolder("RUNTIME_DIRECTORY"), readVariable("XDG_RUNTIME_DIR"), ...usual].filter((root) =>
    root !== undefined
  )
    .filter(mayExist);
}

/** The name of this user, as the environment has it, else as the system has it. */
export function userName(): string {
  return readVariable(isWindows ? "USERNAME" : "USER") ?? readVariable("LOGNAME") ?? systemUser() ?? "user";
}

/** A service may be started without the variables that a shell sets. */
function systemUser(): string | undefined {
  if (!isGranted({ name: "sys" })) return undefined;
  try {
    return userInfo().username;
  } catch {
    return undefined;
  }
}

/** Who types a command, as far as it says: with `sudo`, the user before. */
export function typingUser(): string {
  return readVariable("SUDO_USER") ?? userName();
}

/** Whether a folder exists: `XDG_RUNTIME_DIR` may name one that does not. Without permission to look, `true`. */
function mayExist(path: string): boolean {
  if (!isGranted({ name: "read", path })) return true;
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** The folder in the first root that leaves enough room for the name of a socket; otherwise in the last root. */
export function chooseFolder(roots: readonly string[], user: string): string {
  const folders = roots.map((root) => folderIn(root, user));
  return folders.find((folder) => freeLengthIn(folder) >= DIGEST_LENGTH) ?? folders.at(-1) ??
    folderIn("", user);
}

function folderIn(root: string, user: string): string {
  return join(root, `a2c-smcp-${user.replaceAll(/[^\w.-]/g, "_").slice(0, MAX_PATH_PART_LENGTH)}`);
}

/** How long the name of a socket may be there, in bytes. */
export function freeLengthIn(folder: string): number {
  // The longest end of a name.
  return MAX_PATH_BYTES - new TextEncoder().encode(join(folder, SUFFIXES.server)).length;
}

/** The folders of our services that systemd has made in `root`, and of their sockets; none without the right to see them. */
export function serviceFolders(root: string): string[] {
  try {
    if (!isGranted({ name: "read", path: root })) return [];
    return [...Deno.readDirSync(root)].filter(({ name, isFile }) => !isFile && isOurs(name))
      .map(({ name }) => join(root, name));
  } catch {
    return [];
  }
}

/**
 * The folder that systemd gives this service, by the name of a variable. What another service starts inherits the variable:
 * that folder is none of ours.
 */
export function givenFolder(name: string): string | undefined {
  // Several folders stand between colons.
  const [folder = ""] = (readVariable(name) ?? "").split(":");
  return isOurs(basename(folder)) ? folder : undefined;
}

function isOurs(name: string): boolean {
  return name.startsWith("a2c-smcp");
}

/** A variable of this process; `undefined` without the permission to read it, which is not requested. */
export function readVariable(name: string): string | undefined {
  return isGranted({ name: "env", variable: name }) ? Deno.env.get(name) || undefined : undefined;
}
