/** The files in which the Computers of this user keep what outlives them. */
import { dirname, join } from "@std/path";
import { readRegularFile, replaceFile } from "../../files.ts";
import { fileTokenStore } from "../../mcp/auth/token_file.ts";
import { memoryTokenStore, type TokenStore } from "../../mcp/auth/token_store.ts";
import type { EraStore } from "../../mcp/era_memory.ts";

/** The largest file of versions of MCP that is read, in bytes; a thousand servers take a tenth of it. */
const MAX_ERAS_BYTES = 1024 * 1024;

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

/** The sign-ins of this user; without permission to write them, those of this process. */
export function openTokens(): TokenStore {
  const file = stateFile("tokens.json");
  return file === undefined ? memoryTokenStore() : fileTokenStore(file);
}

/**
 * Which versions of MCP the MCP servers of this user speak, in a file that only this user can read; `undefined` without
 * permission to write it. A file that cannot be read or written costs no more than asking the servers again.
 */
export function openEras(file: string | undefined = stateFile("mcp_versions.json")): EraStore | undefined {
  if (file === undefined) return undefined;
  return {
    async read() {
      const reading = await readRegularFile(file, { maxBytes: MAX_ERAS_BYTES });
      return "text" in reading ? reading.text : undefined;
    },
    async write(text) {
      await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => {});
      await replaceFile(file, text, { mode: 0o600 }).catch(() => {});
    },
  };
}
