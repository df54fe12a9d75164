/** The folder in which the programs of this user keep what outlives them. */
import { join } from "@std/path";

/**
 * The path of a file in the state folder, `$XDG_STATE_HOME/a2c-smcp` or `~/.local/state/a2c-smcp`, on Windows in
 * `%LOCALAPPDATA%`; `undefined` without a home, and without the permission to write the file.
 */
export function stateFile(name: string): string | undefined {
  const folder = stateFolder();
  return folder === undefined ? undefined : permitted("write", join(folder, name));
}

/** The folder; `undefined` without a home. */
export function stateFolder(): string | undefined {
  try {
    const home = Deno.env.get("HOME");
    const local = Deno.build.os === "windows" ? Deno.env.get("LOCALAPPDATA") : undefined;
    const state = Deno.env.get("XDG_STATE_HOME") ?? local ??
      (home === undefined ? undefined : join(home, ".local", "state"));
    return state === undefined ? undefined : join(state, "a2c-smcp");
  } catch {
    return undefined;
  }
}

/** The path; `undefined` without the permission, which is not requested. */
export function permitted(name: "read" | "write", path: string): string | undefined {
  return Deno.permissions.querySync({ name, path }).state === "granted" ? path : undefined;
}
