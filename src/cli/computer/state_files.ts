/** The files in which the Computers of this user keep what outlives them. */
import { digestOfText } from "../../json/digest.ts";
import { dirname, join } from "@std/path";
import type { ApprovalStore } from "../../computer/tools/approved_tools.ts";
import { permitted, stateFile, stateFolder } from "../state_folder.ts";
import { readRegularFile, replaceFile } from "../../files/files.ts";
import { fileTokenStore } from "../../computer/sign_ins.ts";
import { memoryTokenStore, type TokenStore } from "../../mcp/auth/token_store.ts";

/** The largest file of allowed tools that is read, in bytes. */
const MAX_APPROVALS_BYTES = 64 * 1024 * 1024;

/** The file of the sign-ins of this user; `undefined` when this process may not keep any. */
export function tokenFile(): string | undefined {
  const folder = stateFolder();
  // Its lock files stand beside it.
  if (folder === undefined || permitted("write", folder) === undefined) return undefined;
  return permitted("read", folder) === undefined ? undefined : join(folder, "tokens.json");
}

/** The sign-ins of this user; without the permissions to keep them, those of this process. */
export function openTokens(): TokenStore {
  const file = tokenFile();
  return file === undefined ? memoryTokenStore() : fileTokenStore(file);
}

/** The tools that the owner of this Computer has allowed, as they were then, in a file that only this user can read. */
export function openApprovals(computer: string): ApprovalStore | undefined {
  // A name may hold what no file name can.
  const name = digestOfText(computer).slice(0, 16);
  const file = stateFile(`allowed_tools-${name}.json`);
  return file === undefined ? undefined : {
    async read() {
      const reading = await readRegularFile(file, { maxBytes: MAX_APPROVALS_BYTES });
      return "text" in reading ? reading.text : undefined;
    },
    async write(text) {
      await Deno.mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch(() => {});
      await replaceFile(file, text, { mode: 0o600 });
    },
  };
}
