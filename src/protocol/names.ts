/** Names of members and ids of offices. */

/** The longest name of a member, and the longest office id, in characters. */
export const MAX_NAME_LENGTH = 128;

// deno-lint-ignore no-control-regex -- control characters are what is refused
const CONTROL_CHARACTER = /[\u0000-\u001f\u007f-\u009f]/;

/** Whether `name` may name a member or an office: 1–128 characters, no control characters. */
export function isName(name: string): boolean {
  return name.length > 0 && name.length <= MAX_NAME_LENGTH && !CONTROL_CHARACTER.test(name);
}

/** Orders two names by Unicode code point: never by locale, and never by UTF-16 unit as `<` does. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left !== right) return codePointRank(left) - codePointRank(right);
  }
  return a.length - b.length;
}

/** Lifts surrogates over the rest of the basic plane, where the code points that they stand for belong. */
function codePointRank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
