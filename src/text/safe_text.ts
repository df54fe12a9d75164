/**
 * Makes foreign text safe to print: it can neither control a terminal nor deceive its reader. This is the only way of a
 * name or a text of somebody else to a terminal, a log, an MCP client, a model or its system message.
 */

import { countOf, describeError, shorten } from "./text.ts";

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
/**
 * Characters that are invisible or look like others: control and format characters, text direction marks, ignorable
 * code points, white space other than the space, blank letters, lone surrogates, unassigned code points.
 */
const UNSEEN =
  /[[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[ ]]/gv;
/** The same without line breaks and tabs, as a group. */
const UNSEEN_RUN = new RegExp(String.raw`([${UNSEEN.source}--[\n\t]]+)`, "v");
/** Enough spaces to push text to the next line, where it would look like output of this program. */
const LONG_GAP = / {17,}/g;
/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT_LETTER = String
  .raw`[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]`;
/** Letters and marks of scripts whose letters join: a joiner between two of them changes how they look. */
const JOINED =
  String.raw`[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}` +
  String.raw`\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}]`;
/**
 * What is invisible or deceives in a text that is read rather than compared, and, outside of the group, what stays of
 * it: the invisible parts of emoji, joiners within words, and the marks of {@linkcode inWrittenOrder}. Combining marks
 * are visible, unless they are piled up.
 */
const UNREADABLE = new RegExp(
  [
    String.raw`\p{RGI_Emoji_Tag_Sequence}`,
    String.raw`(?<=[\p{Emoji}--[#*0-9]])[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)`,
    String.raw`(?<=\p{Extended_Pictographic}[\p{Emoji_Modifier}\ufe0f]?)\u200d(?=\p{Extended_Pictographic})`,
    String.raw`(?<=${JOINED}\p{M}?)[\u200c\u200d](?=${JOINED})`,
    `(?<=${RIGHT_TO_LEFT_LETTER})\u200e|\u200e(?=${RIGHT_TO_LEFT_LETTER})`,
    String.raw`([[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}` +
    String.raw`\u2800\u{13441}\u{13442}\u{16fe4}\u{1d159}]--[\t\n]]|(?<=\p{M}{4})\p{M})`,
  ].join("|"),
  "gv",
);
const RIGHT_TO_LEFT = new RegExp(`\u200e?(${RIGHT_TO_LEFT_LETTER}+)\u200e?`, "gv");
/** An invisible mark after which a terminal with bidirectional text continues from left to right. */
const LEFT_TO_RIGHT_MARK = "\u200e";

/** The text with `�` for each character that is invisible, controls a terminal or reorders text. */
export function printable(text: string): string {
  return replaceUnreadable(text, () => "�");
}

/** Like {@linkcode printable}, with escapes such as `\\u202e` in place of `�`. */
export function escapeUnreadable(text: string): string {
  return replaceUnreadable(text, escapeUnits);
}

function replaceUnreadable(text: string, replace: (found: string) => string): string {
  return text.toWellFormed().replaceAll("\r\n", "\n").replace(
    UNREADABLE,
    (found: string, bad: string | undefined) => bad === undefined ? found : replace(bad),
  );
}

/** Like {@linkcode printable}, on one line. Tabs are kept. */
export function printableLine(text: string): string {
  return printable(text.replace(/[\n\u2028\u2029]+/g, " "));
}

/**
 * The text without whole escape sequences and without characters that reorder text. Each remaining control character
 * becomes `�`.
 */
export function withoutSequences(text: string): string {
  return printable(text.replace(SEQUENCE, "").replace(REORDERING, "").replace(/[\u2028\u2029]/g, "\n"));
}

/** Like {@linkcode withoutSequences}, on one line and with single spaces. */
export function toSafeLine(text: string): string {
  return withoutSequences(text).replace(/\s+/g, " ").trim();
}

/** JSON that is safe to print, with the same value. */
export function toSafeJson(value: unknown, indent?: number): string {
  return escapeUnreadable(JSON.stringify(value, null, indent) ?? "null");
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

/** A part of a text: as it was, or the escapes of what is invisible in it. */
export interface SeenPart {
  readonly text: string;
  readonly isEscape: boolean;
}

/** The parts of a text with all characters visible, for a page, which can mark escapes. Line breaks and tabs are kept. */
export function toSeenParts(text: string): SeenPart[] {
  return text.split(UNSEEN_RUN).map((part, index) => {
    const isEscape = index % 2 === 1;
    return { text: isEscape ? escapeUnits(part) : part, isEscape };
  }).filter((part) => part.text !== "");
}

/** The longest name that is shown, and the longest other line of somebody else, in characters. */
const MAX_SEEN_NAME_LENGTH = 128;
const MAX_LINE_LENGTH = 1_000;

/** A name in quotes, all of its characters visible; a long name is cut and followed by the number of hidden characters. */
export function toSeenName(name: string): string {
  return cut(name, { maxLength: MAX_SEEN_NAME_LENGTH, toShown: toSeenJson });
}

/** A text that is read, such as a title or an error, as one line in quotes; it is cut as a name is. */
export function toSeenLine(text: string, maxLength = MAX_LINE_LENGTH): string {
  return cut(toSingleSpaces(text), { maxLength, toShown: toSafeJson });
}

/** What an error says, as one line in quotes. Names in it stand in quotes of another kind. */
export function toSeenError(error: unknown): string {
  return toSeenLine(describeError(error).replaceAll('"', "'"));
}

/** Like {@linkcode toSeenLine} without quotes, for what stands alone, such as a title in a list. */
export function toBareLine(text: string, maxLength = MAX_LINE_LENGTH): string {
  return escapeUnreadable(shorten(toSingleSpaces(text), maxLength));
}

/** Like {@linkcode toSeenLine}, without quotes when the text is one plain word. */
export function toSeenWord(text: string): string {
  return /^[\w.:/@+-]{1,128}$/.test(text) ? text : toSeenLine(text);
}

function toSingleSpaces(text: string): string {
  return text.toWellFormed().replace(/[\s\p{Zs}]+/gu, " ").trim();
}

function cut(
  text: string,
  { maxLength, toShown }: { readonly maxLength: number; readonly toShown: (text: string) => string },
): string {
  const rest = text.length - maxLength;
  return rest <= 0
    ? toShown(text)
    : `${toShown(`${text.slice(0, maxLength)}…`)} (${countOf(rest, "more character")})`;
}

/** A URI without quotes: what could end it, or is invisible, is percent-encoded, so that it leads to the same place. */
export function toSeenUri(uri: string): string {
  return uri.toWellFormed().replace(
    /[[^\p{L}\p{M}\p{N}\p{P}\p{S}]\p{Default_Ignorable_Code_Point}\u2800"<>`\\]/gv,
    encodeURIComponent,
  );
}

/** A path in quotes when it has spaces, and otherwise as {@linkcode toSeenUri} shows it. */
export function toSeenPath(path: string): string {
  const shown = path.split(" ").map(toSeenUri).join(" ");
  return shown.includes(" ") ? `"${shown}"` : shown;
}

/** A text in a fence that it cannot end, with invisible characters escaped. Nothing, when there is no text. */
export function toFence(text: string): string {
  const shown = escapeUnreadable(text);
  const fence = fenceOf(shown);
  return shown === "" ? "" : `${fence}\n${shown}\n${fence}`;
}

/** Returns a code fence that is longer than any run of backticks in the code. */
export function fenceOf(code: string): string {
  const runs = code.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length + 1), 3));
}

/**
 * Adds marks around each right-to-left word, so that a terminal with bidirectional text does not reorder the text
 * beside it. For the result of {@linkcode toSeenJson} or {@linkcode toSeenName}; twice does no harm.
 */
export function inWrittenOrder(json: string): string {
  return json.replace(RIGHT_TO_LEFT, (_, word) => `${LEFT_TO_RIGHT_MARK}${word}${LEFT_TO_RIGHT_MARK}`);
}

const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

function escapeUnits(text: string): string {
  return text.split("").map(toUnicodeEscape).join("");
}

function toUnicodeEscape(unit: string): string {
  return SHORT_ESCAPES.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The text in a page of HTML, or in an attribute with quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) => `&#${character.codePointAt(0)};`);
}
