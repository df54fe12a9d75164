/**
 * Finds in a JSON text what is valid but no reader has to accept: too many levels, integers of very many digits, and numbers
 * beyond the range of a double.
 * The text is searched and not the parsed value: of two members with the same name, the value has only the last.
 */

/** Too many levels of lists and objects, or else a number that is too long, or that `JSON.parse` reads as infinite. */
export type JsonFlaw = "depth" | "number";

const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
/** `{` and `}` differ from `[` and `]` by this bit, as do small letters from capital ones. */
const CASE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;
const EXPONENT = 0x65;
/** To search for the quote and to look for a backslash before it is slower for strings with escapes. */
const STRING_CONTENT = /[^"\\]*(?:\\.[^"\\]*)*/y;
/** The shortest number that is infinite as a double is `1e309`. */
const MIN_INFINITE_LENGTH = 5;
/** The Socket.IO client of Python drops a packet with a longer integer. `JSON.stringify` writes it with an exponent. */
const MAX_INTEGER_LENGTH = 100;
/** A number without an exponent and with fewer characters is not too large. */
const MIN_LARGE_LENGTH = 309;

/** Returns the worst flaw of a valid JSON text, or `undefined`. */
export function findJsonFlaw(json: string, maxLevels: number): JsonFlaw | undefined {
  let levels = 0;
  let flaw: JsonFlaw | undefined;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index + 1);
    else if ((code | CASE_BIT) === OPENING) {
      if (++levels > maxLevels) return "depth";
    } else if ((code | CASE_BIT) === CLOSING) levels--;
    else if (code === MINUS || isDigit(code)) {
      const end = endOfNumber(json, index);
      if (isTooLarge(json, index, end)) flaw = "number";
      index = end - 1;
    }
  }
  return flaw;
}

function endOfString(json: string, start: number): number {
  STRING_CONTENT.lastIndex = start;
  STRING_CONTENT.test(json);
  return STRING_CONTENT.lastIndex;
}

function endOfNumber(json: string, start: number): number {
  let end = start + 1;
  while (isInNumber(json.charCodeAt(end))) end++;
  return end;
}

/** Digits, `.`, `+`, `-` and the letter of the exponent. Other characters cannot follow a number directly. */
function isInNumber(code: number): boolean {
  return isDigit(code) || (code | CASE_BIT) === EXPONENT || code === POINT || code === PLUS || code === MINUS;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

function isTooLarge(json: string, start: number, end: number): boolean {
  if (end - start < MIN_INFINITE_LENGTH) return false;
  const text = json.slice(start, end);
  if (text.length > MAX_INTEGER_LENGTH && !/[.e]/i.test(text)) return true;
  if (text.length < MIN_LARGE_LENGTH && !/e/i.test(text)) return false;
  return !Number.isFinite(Number(text));
}
