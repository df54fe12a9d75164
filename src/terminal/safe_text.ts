/** Makes untrusted text safe to print: it can neither control the terminal nor deceive the reader. */

/** C0 control characters except tab and line feed, DEL, and C1, which 8-bit terminals treat as escape sequences. */
// deno-lint-ignore no-control-regex -- matches control characters to replace them
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters that reorder the text of a line. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
/**
 * CSI sequences such as colors and cursor movements; OSC, DCS, SOS, PM and APC strings of at most 4,096 characters;
 * other escape sequences. The body of a string cannot contain an introducer, so that matching takes linear time.
 * A string without an end does not match: its introducer and its text are shown.
 */
const SEQUENCE =
  // deno-lint-ignore no-control-regex -- matches escape sequences to remove them
  /(?:\u001b\[|\u009b)[\u0020-\u003f]*[\u0040-\u007e]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b(?:[\u0020-\u002f]+[\u0030-\u007e]|[\u0030-\u004f\u0051-\u0057\u0059\u005a\u005c\u0060-\u007e])/g;
/** Characters that JSON may contain unescaped and that can control a terminal. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
/**
 * Characters that are invisible or look like others: control and format characters, text direction marks, ignorable
 * code points, white space other than the space, blank letters, lone surrogates, unassigned code points.
 */
const UNSEEN =
  /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[ ]]/gv;
/** Enough spaces to push text to the next line, where it would look like output of this program. */
const LONG_GAP = / {17,}/g;
/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+/gu;
/** An invisible mark after which a terminal with bidirectional text continues from left to right. */
const LEFT_TO_RIGHT_MARK = "\u200e";

/** The text with `�` for each control character, except tab and line feed, and for each character that reorders text. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, "�").replace(REORDERING, "�").toWellFormed();
}

/** Like {@linkcode printable}, on one line. Tabs are kept. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\u2028\u2029]+/g, " ");
}

/**
 * The text without whole escape sequences and without characters that reorder text. Each remaining control character
 * becomes `�`.
 */
export function withoutSequences(text: string): string {
  return printable(text.replace(SEQUENCE, "").replace(REORDERING, "")).replace(/[\u2028\u2029]/g, "\n");
}

/** Like {@linkcode withoutSequences}, on one line and with single spaces. */
export function toSafeLine(text: string): string {
  return withoutSequences(text).replace(/\s+/g, " ").trim();
}

/** JSON that is safe to print: control characters are escaped, and its value is the same. */
export function toSafeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? "null";
  return json.replace(UNESCAPED_IN_JSON, toUnicodeEscape);
}

/**
 * A value as JSON in which all characters are visible: control characters, invisible characters and characters that
 * reorder text are escaped. Two different values never look the same.
 */
export function toSeenJson(value: unknown): string {
  return escapeUnseen(JSON.stringify(value) ?? "null");
}

/** Like {@linkcode toSeenJson}, for a piece of JSON, which may be cut anywhere. */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, escapeUnits).replace(LONG_GAP, escapeUnits);
}

/**
 * Adds marks around each right-to-left word, so that a terminal with bidirectional text does not reorder the text
 * beside it. For the result of {@linkcode toSeenJson}.
 */
export function inWrittenOrder(json: string): string {
  return json.replace(RIGHT_TO_LEFT, (word) => `${LEFT_TO_RIGHT_MARK}${word}${LEFT_TO_RIGHT_MARK}`);
}

function escapeUnits(text: string): string {
  return text.split("").map(toUnicodeEscape).join("");
}

function toUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
