/** Text of strangers, made harmless to a terminal and to whoever reads it there. */

/** Tab and line feed are left; C1 is what 8-bit terminals read as the beginning of a command. */
// deno-lint-ignore no-control-regex -- control characters are what is taken out
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** What reorders the characters of a line, so that it reads as something else than it is. */
const REORDERING = /[\u202a-\u202e\u2066-\u2069]/g;
/**
 * CSI sequences such as colours and movements; OSC, DCS, SOS, PM and APC strings of at most 4,096 characters; other
 * escapes. No body holds an introducer, so no two attempts read the same characters: the time is linear in the text.
 * A string without an end is none: its introducer and its words are shown.
 */
const SEQUENCE =
  // deno-lint-ignore no-control-regex -- escape sequences are what is taken out
  /(?:\u001b\[|\u009b)[\u0020-\u003f]*[\u0040-\u007e]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]{0,4096}(?:\u0007|\u001b\\|\u009c)|\u001b(?:[\u0020-\u002f]+[\u0030-\u007e]|[\u0030-\u004f\u0051-\u0057\u0059\u005a\u005c\u0060-\u007e])/g;
/** What a terminal may obey, and JSON need not escape. */
const UNESCAPED_IN_JSON = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;
/**
 * Whatever a person cannot see, or sees as something else: control and format characters, the directions of text,
 * what is ignored by default, spaces and line ends other than the space, letters without ink, half a surrogate pair,
 * what has no meaning.
 */
const UNSEEN =
  /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[ ]]/gv;
/** So many spaces fill a line, behind which anything would look like a line of the program's own. */
const LONG_GAP = / {17,}/g;
/** Letters of the scripts that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+/gu;
/** Nobody sees it; a terminal that knows directions goes on from left to right behind it. */
const LEFT_TO_RIGHT_MARK = "\u200e";

/** The text with each control character but tab and line feed shown as `�`. Nothing else changes. */
export function printable(text: string): string {
  return text.replaceAll("\r\n", "\n").replace(CONTROL, "�").replace(REORDERING, "�").toWellFormed();
}

/** The same, on one line; tabs are left. */
export function printableLine(text: string): string {
  return printable(text).replace(/[\n\u2028\u2029]+/g, " ");
}

/**
 * The text as a picture shows it: whole escape sequences, which are meant for terminals and not for readers, are
 * gone; a control character that remains is `�`, and what reorders is gone.
 */
export function withoutSequences(text: string): string {
  return printable(text.replace(SEQUENCE, "").replace(REORDERING, "")).replace(/[\u2028\u2029]/g, "\n");
}

/** The same, on one line, with single spaces. */
export function toSafeLine(text: string): string {
  return withoutSequences(text).replace(/\s+/g, " ").trim();
}

/** JSON that a terminal can show; what it means is the same. */
export function toSafeJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? "null";
  return json.replace(UNESCAPED_IN_JSON, toUnicodeEscape);
}

/**
 * A value as JSON in which everything can be seen: what {@linkcode printable} would replace, and what nobody sees or
 * reads as something else, is escaped. Nothing is left out, so that two values never look the same.
 */
export function toSeenJson(value: unknown): string {
  return escapeUnseen(JSON.stringify(value) ?? "null");
}

/** The same for a part of JSON that is written already, wherever it was cut. */
export function escapeUnseen(json: string): string {
  return json.replace(UNSEEN, escapeUnits).replace(LONG_GAP, escapeUnits);
}

/**
 * JSON that was escaped so, for a terminal that knows directions: a word that is written from right to left stands
 * between marks that keep it from reordering what is beside it.
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
