/** Names of members and ids of offices. */

/** The longest name of a member, and the longest office id, in characters. */
export const MAX_NAME_LENGTH = 128;

/**
 * Invisible characters, and characters that change the direction of text. Without them, two names that look alike are
 * the same name, except for similar letters of different scripts. U+2800 is a symbol that looks like a space.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Returns why `name` is not a valid name of a member or office, or `undefined` when it is valid: 1–128 characters in
 * Unicode normalization form C, without control or invisible characters, and without spaces at its ends.
 */
export function nameProblem(name: string): string | undefined {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) return `must have 1–${MAX_NAME_LENGTH} characters`;
  if (name.trim() === "") return "must not be blank";
  if (name.trim() !== name) return "must not begin or end with a space";
  if (UNSEEN.test(name)) return "must not contain control, invisible or direction-changing characters";
  if (name.normalize("NFC") !== name) return "must be in Unicode normalization form C (NFC)";
  return undefined;
}

/** Compares two names by Unicode code point. Does not depend on the locale, or on UTF-16 units as `<` does. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Ranks surrogates above all other UTF-16 units, because their code points come after the basic plane. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
