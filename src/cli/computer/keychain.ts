/** Where the key of the sign-ins is kept: the keychain of the system, or `pass`, by their commands. */
import type { TokenKeychain } from "../../mcp/auth/token_store.ts";
import { printableLine } from "../../text/safe_text.ts";
import { UsageError } from "../outcome.ts";
import { runTool, type ToolOutcome } from "../system_tool.ts";

export const SIGN_IN_PLACES = ["file", "keychain", "pass"] as const;
export type SignInPlace = typeof SIGN_IN_PLACES[number];

const NAME = ["a2c-smcp", "sign-ins"] as const;
const LABEL = "A2C-SMCP sign-ins";
const PASS_NAME = NAME.join("/");

/** How long a person may take to unlock the keychain, in milliseconds. */
const UNLOCK_MS = 120_000;

interface KeychainCommands {
  readonly title: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** What `write` reads: no other process may see the key among the words of a command. */
  readonly input: (key: string) => string;
  /** Whether `read` says that there is no key. */
  readonly isMissing: (code: number, problem: string) => boolean;
}

const SECRET_SERVICE: KeychainCommands = {
  title: "the keychain",
  read: ["secret-tool", "lookup", "service", NAME[0], "account", NAME[1]],
  write: ["secret-tool", "store", `--label=${LABEL}`, "service", NAME[0], "account", NAME[1]],
  input: (key) => key,
  isMissing: (code, problem) => code === 1 && problem === "",
};

const MACOS: KeychainCommands = {
  title: "the keychain",
  read: ["security", "find-generic-password", "-s", NAME[0], "-a", NAME[1], "-w"],
  write: ["security", "-i"],
  input: (key) => `add-generic-password -U -s ${NAME[0]} -a ${NAME[1]} -l "${LABEL}" -w "${key}"\n`,
  // errSecItemNotFound
  isMissing: (code) => code === 44,
};

const PASS: KeychainCommands = {
  title: "pass",
  read: ["pass", "show", PASS_NAME],
  write: ["pass", "insert", "--multiline", "--force", PASS_NAME],
  input: (key) => `${key}\n`,
  isMissing: (code, problem) => code === 1 && problem.includes("is not in the password store"),
};

/** The keychain of a place; `undefined` for the file alone. */
export function openKeychain(place: SignInPlace): TokenKeychain | undefined {
  if (place === "file") return undefined;
  if (Deno.build.os === "windows") {
    throw new UsageError(
      `Cannot keep sign-ins in "${place}": Windows has no command that gives a secret back; leave out --sign-ins`,
    );
  }
  return keychainOf(place === "pass" ? PASS : Deno.build.os === "darwin" ? MACOS : SECRET_SERVICE);
}

function keychainOf({ title, read, write, input, isMissing }: KeychainCommands): TokenKeychain {
  return {
    title,
    async read() {
      const { code, text, problem } = await run(read);
      if (code === 0) return text;
      if (isMissing(code, problem)) return undefined;
      throw failed(`read the key of the sign-ins from ${title}`, { code, problem });
    },
    async write(key) {
      const { code, problem } = await run(write, input(key));
      if (code !== 0) throw failed(`keep the key of the sign-ins in ${title}`, { code, problem });
    },
  };
}

async function run([command = "", ...args]: readonly string[], input?: string): Promise<ToolOutcome> {
  return await runTool(command, args, { input, signal: AbortSignal.timeout(UNLOCK_MS) });
}

function failed(what: string, { code, problem }: Pick<ToolOutcome, "code" | "problem">): TypeError {
  return new TypeError(`Cannot ${what}: ${printableLine(problem) || `exit code ${code}`}`);
}
