/** The folder in which the programs of this user keep what outlives them. */
import { join } from "@std/path";
import { givenFolder, readVariable, serviceFolders } from "./user_sockets.ts";

/** The path of a file in the state folder; `undefined` without one, and without the permission to write the file. */
export function stateFile(name: string): string | undefined {
  const folder = stateFolder();
  return folder === undefined ? undefined : permitted("write", join(folder, name));
}

/**
 * The folder that systemd gives our service, else `$XDG_STATE_HOME/a2c-smcp` or `~/.local/state/a2c-smcp`, on Windows in
 * `%LOCALAPPDATA%`; `undefined` without a home.
 */
export function stateFolder(): string | undefined {
  const given = givenFolder("STATE_DIRECTORY");
  if (given !== undefined) return given;
  const home = readVariable("HOME");
  const local = Deno.build.os === "windows" ? readVariable("LOCALAPPDATA") : undefined;
  const state = readVariable("XDG_STATE_HOME") ?? local ??
    (home === undefined ? undefined : join(home, ".local", "state"));
  return state === undefined ? undefined : join(state, "a2c-smcp");
}

/** The files of this name that exist: that of this user, then those of services of systemd, which root sees. */
export function existingStateFiles(name: string): string[] {
  const services = serviceFolders("/var/lib").map((folder) => join(folder, name));
  return [stateFile(name), ...services].filter((path) => path !== undefined).filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** The path; `undefined` without the permission, which is not requested. */
export function permitted(name: "read" | "write", path: string): string | undefined {
  return Deno.permissions.querySync({ name, path }).state === "granted" ? path : undefined;
}
