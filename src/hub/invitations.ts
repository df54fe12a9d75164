/** Invitations: short codes by which a person proves the right to connect a client. */
import { randomInt } from "node:crypto";
import { isRecord, isTexts, parseJson } from "../json/json.ts";
import { secretDigest, type StateFile } from "./state_file.ts";

/** How long a code is good, in milliseconds. */
export const INVITATION_MS = 10 * 60_000;
/** Letters and digits that nobody takes for others. */
const ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;
const HALF = LENGTH / 2;
const KIND = "Invitation";
/** The most codes that are good at once; the oldest one ends. */
const MAX_INVITATIONS = 100;

export interface Invitation {
  /** Whom it is for: the grant says that this person has consented. */
  readonly name: string;
  readonly offices: readonly string[];
}

export class Invitations {
  readonly #file: StateFile;
  readonly #now: () => number;

  constructor(file: StateFile, now: () => number = () => Date.now()) {
    this.#file = file;
    this.#now = now;
  }

  /** Makes a code that is good once. Only its digest is kept. */
  add({ name, offices }: Invitation): { readonly code: string; readonly expiresAt: number } {
    const signs = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
    const expiresAt = this.#now() + INVITATION_MS;
    this.#file.transact(() => {
      this.#file.run(
        `INSERT INTO artifacts (digest, kind, payload, expires_at) VALUES (?, '${KIND}', ?, ?)`,
        secretDigest(KIND, signs),
        JSON.stringify({ name, offices }),
        expiresAt,
      );
      this.#file.run(
        `DELETE FROM artifacts WHERE kind = '${KIND}' AND digest NOT IN (SELECT digest FROM artifacts ` +
          `WHERE kind = '${KIND}' ORDER BY expires_at DESC LIMIT ${MAX_INVITATIONS})`,
      );
    });
    return { code: `${signs.slice(0, HALF)}-${signs.slice(HALF)}`, expiresAt };
  }

  /** Finds the invitation of a code that is good; it stays so. */
  find(code: string): Invitation | undefined {
    const row = this.#file.get(
      "SELECT payload FROM artifacts WHERE digest = ? AND expires_at > ?",
      secretDigest(KIND, signsOf(code)),
      this.#now(),
    );
    const payload = parseJson(String(row?.["payload"] ?? ""));
    const { name, offices } = isRecord(payload) ? payload : {};
    return typeof name === "string" && isTexts(offices) ? { name, offices } : undefined;
  }

  /** Uses a code up; `false` when it is not good any more. */
  take(code: string): boolean {
    const taken = "DELETE FROM artifacts WHERE digest = ? AND expires_at > ?";
    return this.#file.run(taken, secretDigest(KIND, signsOf(code)), this.#now()) > 0;
  }
}

/** People type codes in lower case, with spaces, or without the dash. */
function signsOf(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, "");
}
