/** Short codes that one person reads and another one types. */
import { randomInt } from "node:crypto";

/** How long a code is good, in milliseconds. */
export const CODE_MS: number = 10 * 60_000;
/** Letters and digits that nobody takes for others. */
const ALPHABET = "ABCDEFGHJKMNPQRSTVWXYZ23456789";
const LENGTH = 8;
const HALF = LENGTH / 2;
const FORM = new RegExp(`^[${ALPHABET}]{${HALF}}-[${ALPHABET}]{${HALF}}$`);

/** Makes a code, such as `BCDF-2345`. */
export function makeCode(): string {
  const signs = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
  return `${signs.slice(0, HALF)}-${signs.slice(HALF)}`;
}

/** The code as {@linkcode makeCode} writes it: people type codes in lower case, with spaces, or without the dash. */
export function parseCode(typed: string): string | undefined {
  const signs = typed.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const code = `${signs.slice(0, HALF)}-${signs.slice(HALF)}`;
  return FORM.test(code) ? code : undefined;
}
