/** Invitations: short codes by which a person proves the right to connect a client. */
import { CODE_MS, makeCode, parseCode } from "../http/codes.ts";
import { isRecord, isTexts, parseJson } from "../json/json.ts";
import { ACCESS_RIGHTS, type AccessRights } from "../protocol/rights.ts";
import { secretDigest, type StateFile } from "./state_file.ts";

const KIND = "Invitation";
/** The most codes that are good at once; the oldest one ends. */
const MAX_INVITATIONS = 100;

export interface Invitation {
  /** Whom it is for: the grant says that this person has consented. Nobody by name when absent. */
  readonly name?: string | undefined;
  readonly offices: readonly string[];
  /** The most that the person may allow; everything when absent. */
  readonly rights?: AccessRights | undefined;
  /** All Computers when absent. */
  readonly computers?: readonly string[] | undefined;
}

export class Invitations {
  readonly #file: StateFile;
  readonly #now: () => number;

  constructor(file: StateFile, now: () => number = () => Date.now()) {
    this.#file = file;
    this.#now = now;
  }

  /** Makes a code that is good once. Only its digest is kept. */
  add(invitation: Invitation): { readonly code: string; readonly expiresAt: number } {
    const code = makeCode();
    const expiresAt = this.#now() + CODE_MS;
    this.#file.transact(() => {
      this.#file.run(
        `INSERT INTO artifacts (digest, kind, payload, expires_at) VALUES (?, '${KIND}', ?, ?)`,
        digestOf(code),
        JSON.stringify(invitation),
        expiresAt,
      );
      this.#file.run(
        `DELETE FROM artifacts WHERE kind = '${KIND}' AND digest NOT IN (SELECT digest FROM artifacts ` +
          `WHERE kind = '${KIND}' ORDER BY expires_at DESC LIMIT ${MAX_INVITATIONS})`,
      );
    });
    return { code, expiresAt };
  }

  /** Finds the invitation of a code that is good; it stays so. */
  find(code: string): Invitation | undefined {
    const row = this.#file.get(
      "SELECT payload FROM artifacts WHERE digest = ? AND expires_at > ?",
      digestOf(code),
      this.#now(),
    );
    return toInvitation(parseJson(String(row?.["payload"] ?? "")));
  }

  /** Uses a code up; `false` when it is not good any more. */
  take(code: string): boolean {
    const taken = "DELETE FROM artifacts WHERE digest = ? AND expires_at > ?";
    return this.#file.run(taken, digestOf(code), this.#now()) > 0;
  }
}

/** What cannot be read gives no rights. */
function toInvitation(payload: unknown): Invitation | undefined {
  const { name, offices, rights: most, computers } = isRecord(payload) ? payload : {};
  const rights = ACCESS_RIGHTS.find((each) => each === most);
  const isWhole = rights === most && (computers === undefined || isTexts(computers));
  if ((name !== undefined && typeof name !== "string") || !isTexts(offices) || !isWhole) return undefined;
  return { name, offices, rights, computers };
}

function digestOf(code: string): string {
  return secretDigest(KIND, parseCode(code) ?? "");
}
