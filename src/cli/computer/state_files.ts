/** The files in which the Computers of this user keep what outlives them. */
import { join } from "@std/path";

/**
 * The path of a file in the state folder, `$XDG_STATE_HOME/a2c-smcp` or `~/.local/state/a2c-smcp`; `undefined` without
 * a home, and without the permission to write the file.
 */
export function stateFile(name: string): string | undefined {
  try {
    const home = Deno.env.get("HOME");
    const state = Deno.env.get("XDG_STATE_HOME") ??
      (home === undefined ? undefined : join(home, ".local", "state"));
    if (state === undefined) return undefined;
    const file = join(state, "a2c-smcp", name);
    return Deno.permissions.querySync({ name: "write", path: file }).state === "granted" ? file : undefined;
  } catch {
    return undefined;
  }
}
