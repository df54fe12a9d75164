/** Where the sockets of this user's programs are: a folder that only this user can access. */
import { join } from "@std/path";
import {
  DIGEST_LENGTH,
  freeLengthIn,
  isGranted,
  MAX_PATH_PART_LENGTH,
  mayUsePipes,
  socketFolder,
  SUFFIXES,
} from "../files/user_sockets.ts";
import { quoteWord } from "../terminal/words.ts";
import { connectLocally } from "./local_socket.ts";
import { makePrivateFolder } from "./private_folder.ts";

/** The programs that take commands of other processes. */
export type ControlledProgram = keyof typeof SUFFIXES;

/**
 * The folder, which is created if it does not exist; `undefined` when {@linkcode missingFlags} are missing.
 *
 * @param name The program that is used; all programs of this user without it.
 * @throws {TypeError} when the path is not a folder, or the folder belongs to another user.
 */
export async function controlFolder(name?: string, program?: ControlledProgram): Promise<string | undefined> {
  if ((await missingFlags(name, program)).length > 0) return undefined;
  const folder = socketFolder();
  await makePrivateFolder(folder);
  return folder;
}

/**
 * The flags of `deno run` that are missing to use the folder, such as `--allow-write=/run/user/1000/a2c-smcp-ada`. They
 * are queried and not requested: Deno would ask at the terminal, for a feature that a program can do without.
 *
 * @param name The program that is used; all programs of this user without it.
 */
export async function missingFlags(name?: string, program?: ControlledProgram): Promise<string[]> {
  if (Deno.build.os === "windows") return mayUsePipes() ? [] : ["-A"];
  const folder = socketFolder();
  const socket = name === undefined ? undefined : `unix:${await controlPath(folder, name, program)}`;
  const wanted: readonly (readonly [Deno.PermissionDescriptor, string])[] = [
    [{ name: "read", path: folder }, `--allow-read=${folder}`],
    [{ name: "write", path: folder }, `--allow-write=${folder}`],
    socket === undefined
      ? [{ name: "net" }, "--allow-net"]
      : [{ name: "net", host: socket }, `--allow-net=${socket}`],
  ];
  return wanted.filter(([permission]) => !isGranted(permission))
    .map(([, flag]) => quoteWord(flag));
}

/** The socket of a program. Names that differ only in case get different sockets, on every file system. */
export async function controlPath(
  folder: string,
  name: string,
  program: ControlledProgram = "computer",
): Promise<string> {
  const suffix = SUFFIXES[program];
  const file = encodeURIComponent(name.toWellFormed());
  const free = Math.min(MAX_PATH_PART_LENGTH, freeLengthIn(folder));
  if (file.length <= free && /^[a-z0-9._-]+$/.test(file)) return join(folder, `${file}${suffix}`);
  const bytes = new TextEncoder().encode(name);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex().slice(0, DIGEST_LENGTH);
  const start = file.slice(0, Math.max(0, free - DIGEST_LENGTH - 1));
  return join(folder, `${start === "" ? "" : `${start}-`}${digest}${suffix}`);
}

/** The sockets of all such programs that run; killed programs leave theirs. */
export async function controlPaths(
  folder: string,
  program: ControlledProgram = "computer",
): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.endsWith(SUFFIXES[program])) paths.push(join(folder, name));
  }
  return await listening(paths.sort());
}

/** Those at which a program listens. */
export async function listening(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => await isListening(path) ? [path] : []));
  return found.flat();
}

export async function isListening(path: string): Promise<boolean> {
  try {
    (await connectLocally(path)).close();
    return true;
  } catch {
    return false;
  }
}
