/** The files in which the Computers of this user keep what outlives them. */
import { digestOfText } from "../../json/digest.ts";
import { dirname, join, resolve } from "@std/path";
import type { ApprovalStore } from "../../computer/tools/approved_tools.ts";
import { openKeychain, type SignInPlace } from "./keychain.ts";
import { permitted, stateFile, stateFolder } from "../../files/state_folder.ts";
import { readRegularFile, replacePrivateFile } from "../../files/files.ts";
import { fileTokenStore } from "../../computer/sign_ins.ts";
import { memoryTokenStore, type TokenStore } from "../../mcp/auth/token_store.ts";

/** The largest file of allowed tools that is read, in bytes. */
const MAX_APPROVALS_BYTES = 64 * 1024 * 1024;
const MAX_MACHINE_BYTES = 1024;

/** The file of the sign-ins of this user; `undefined` when this process may not keep any. */
export function tokenFile(): string | undefined {
  const folder = stateFolder();
  // Its lock files stand beside it.
  if (folder === undefined || permitted("write", folder) === undefined) return undefined;
  return permitted("read", folder) === undefined ? undefined : join(folder, "tokens.json");
}

/** The sign-ins of this user; without the permissions to keep them, those of this process. */
export function openTokens(place: SignInPlace = "file"): TokenStore {
  const file = tokenFile();
  return file === undefined ? memoryTokenStore() : fileTokenStore(file, openKeychain(place));
}

/**
 * What tells a Computer of this user from those of other machines, whatever its name: a random value in a file, and the place
 * of its configuration. `undefined` where nothing can be kept.
 */
export async function machineClaim(config = ""): Promise<string | undefined> {
  const file = stateFile("machine");
  if (file === undefined || permitted("read", file) === undefined) return undefined;
  let place: string;
  try {
    place = config && resolve(config);
    await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await Deno.writeTextFile(file, crypto.randomUUID(), { createNew: true, mode: 0o600 }).catch((error) => {
      if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    });
  } catch {
    return undefined;
  }
  const reading = await readRegularFile(file, { maxBytes: MAX_MACHINE_BYTES });
  return "text" in reading && reading.text !== "" ? digestOfText(`${reading.text} ${place}`) : undefined;
}

/** The tools that the owner of this Computer has allowed, as they were then, in a file that only this user can read. */
export function openApprovals(computer: string): ApprovalStore | undefined {
  const file = stateFile(`allowed_tools-${digestName(computer)}.json`);
  return file === undefined ? undefined : {
    async read() {
      const reading = await readRegularFile(file, { maxBytes: MAX_APPROVALS_BYTES });
      return "text" in reading ? reading.text : undefined;
    },
    write: (text) => replacePrivateFile(file, text),
  };
}

/** Whether a Computer is paused, over its restarts: an empty file says so. */
export class PauseMark {
  readonly #file: string | undefined;

  /** Of the Computer that its owner starts so: with a Server, a name and an office. */
  constructor(...started: readonly (string | undefined)[]) {
    const file = stateFile(`paused-${digestName(JSON.stringify(started))}`);
    this.#file = file === undefined ? undefined : permitted("read", file);
  }

  /** @throws {Error} when that cannot be found out. */
  isSet(): boolean {
    if (this.#file === undefined) return false;
    try {
      Deno.statSync(this.#file);
      return true;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
      throw error;
    }
  }

  /** @throws {Error} when the file cannot be written or removed. */
  set(isPaused: boolean): void {
    if (this.isSet() === isPaused) return;
    if (this.#file === undefined) throw new TypeError("Cannot use the state folder: permissions are missing");
    if (!isPaused) return Deno.removeSync(this.#file);
    Deno.mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(this.#file, "", { mode: 0o600 });
  }
}

/** A part of a file's name, for a text that may have what no name of a file can. */
function digestName(text: string): string {
  return digestOfText(text).slice(0, 16);
}
