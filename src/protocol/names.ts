/** Names of members and ids of offices. */

/** The longest name of a member, and the longest office id, in characters. */
export const MAX_MEMBER_NAME_LENGTH = 128;

/** Invisible characters, and characters that change the direction of text. U+2800 is a symbol that looks like a space. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Spaces and dashes that look like those of ASCII. */
const SPACE_OR_DASH = /[[\p{Z}\p{Dash}]--[ \-]]/v;

/**
 * Returns why `name` is not a valid name of a member or office, or `undefined` when it is valid: 1–128 characters in
 * Unicode normalization form KC, without control or invisible characters, with U+0020 and `-` as the only space and dash,
 * and without spaces at its ends. Letters that look alike are compared by `skeletonOf`.
 */
export function nameProblem(name: string): string | undefined {
  if (name.length === 0 || name.length > MAX_MEMBER_NAME_LENGTH) {
    return `must have 1–${MAX_MEMBER_NAME_LENGTH} characters`;
  }
  if (name.trim() === "") return "must not be blank";
  if (/[\n\v\f\r\x85\u2028\u2029]/.test(name)) return "must not contain line breaks";
  if (name.trim() !== name) return "must not begin or end with a space";
  if (UNSEEN.test(name)) return "must not contain control, invisible or direction-changing characters";
  if (SPACE_OR_DASH.test(name)) return 'must not contain spaces or dashes other than " " and "-"';
  if (name.normalize("NFKC") !== name) return "must be in Unicode normalization form KC (NFKC)";
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
