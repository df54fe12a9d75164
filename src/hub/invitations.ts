/** Invitations: short codes by which a person proves the right to connect a client. */
import { randomInt } from "node:crypto";
import { isTexts, parseJson } from "../json/json.ts";
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
      this.#file.run("DELETE FROM invitations WHERE expires_at <= ?", this.#now());
      this.#file.run(
        "INSERT INTO invitations (digest, name, offices, expires_at) VALUES (?, ?, ?, ?)",
        secretDigest(KIND, signs),
        name,
        JSON.stringify(offices),
        expiresAt,
      );
      this.#file.run(
        "DELETE FROM invitations WHERE digest NOT IN " +
          `(SELECT digest FROM invitations ORDER BY expires_at DESC LIMIT ${MAX_INVITATIONS})`,
      );
    });
    return { code: `${signs.slice(0, HALF)}-${signs.slice(HALF)}`, expiresAt };
  }

  /** Finds the invitation of a code that is good; it stays so. */
  find(code: string): Invitation | undefined {
    const row = this.#file.get(
      "SELECT name, offices FROM invitations WHERE digest = ? AND expires_at > ?",
      secretDigest(KIND, signsOf(code)),
      this.#now(),
    );
    const offices = parseJson(String(row?.["offices"] ?? ""));
    return row === undefined || !isTexts(offices) ? undefined : { name: String(row["name"]), offices };
  }

  /** Uses a code up; `false` when it is not good any more. */
  take(code: string): boolean {
    const taken = "DELETE FROM invitations WHERE digest = ? AND expires_at > ?";
    return this.#file.run(taken, secretDigest(KIND, signsOf(code)), this.#now()) > 0;
  }
}

/** People type codes in lower case, with spaces, or without the dash. */
function signsOf(code: string): string {
  return code.toUpperCase().replace(/[^A-Z0-9]/g, "");
}
