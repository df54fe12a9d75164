/**
 * Splits long texts into parts that can be read on their own: JSON stays JSON, and no character is cut. Parts of JSON are
 * cut out of the text as it is written, because parsing and writing it again would change numbers such as ids of 64 bits.
 */
import { parseJson } from "../../json/json.ts";

export interface Part {
  readonly text: string;
  /** Where the part is in a JSON text, such as `$.items[20..39]`; `undefined` in any other text. */
  readonly place?: string;
}

const MAX_DEPTH = 16;
/** The most characters of a key in a place. */
const MAX_KEY = 60;

/** Parts of at most `max` characters; a text that is not longer is one part. */
export function splitText(text: string, max: number): Part[] {
  if (text.length <= max) return [{ text }];
  return splitJson(text, max) ?? splitPlain(text, max).map((part) => ({ text: part }));
}

/** `undefined` for a text that is no list or object, or that holds something too long which cannot be split. */
function splitJson(text: string, max: number): Part[] | undefined {
  if (!/^\s*[[{]/.test(text) || parseJson(text) === undefined) return undefined;
  try {
    return splitValue(withoutSpaces(text), { place: "$", max, depth: 0 });
  } catch (error) {
    if (error instanceof UnsplittableError) return undefined;
    throw error;
  }
}

class UnsplittableError extends Error {
  override readonly name = "UnsplittableError";
}

interface Place {
  readonly place: string;
  readonly max: number;
  readonly depth: number;
}

/** What holds too much is split further, and its place says where it was. */
function splitValue(text: string, at: Place): Part[] {
  if (text.length <= at.max) return [{ text, place: at.place }];
  if (text.startsWith('"')) return splitString(text, at);
  if (at.depth < MAX_DEPTH && /^[[{]/.test(text)) return splitItems(text, at);
  throw new UnsplittableError(`Cannot split what is at "${at.place}": it is a number, or nested too deeply`);
}

/** The items of a list or the members of an object, as many in one part as fit. */
function splitItems(text: string, { place, max, depth }: Place): Part[] {
  const isList = text.startsWith("[");
  const parts: Part[] = [];
  let group: string[] = [];
  let size = 2;
  let start = 0;
  const flush = (end: number) => {
    const inner = group.join(",");
    const part = isList
      ? { text: `[${inner}]`, place: `${place}[${start}..${end - 1}]` }
      : { text: `{${inner}}`, place };
    if (group.length > 0) parts.push(part);
    [group, size, start] = [[], 2, end];
  };
  let index = 0;
  for (const item of itemsOf(text)) {
    if (size + item.length + 1 > max) flush(index);
    if (item.length + 2 <= max) {
      group.push(item);
      size += item.length + 1;
    } else {
      const { key, value } = isList ? { key: `[${index}]`, value: item } : memberOf(item);
      for (const part of splitValue(value, { place: place + key, max, depth: depth + 1 })) parts.push(part);
      start = index + 1;
    }
    index++;
  }
  flush(index);
  return parts;
}

/** A string is split between its characters, and each piece is a string. */
function splitString(text: string, { place, max }: Place): Part[] {
  const pieces: string[] = [];
  for (let rest: string = JSON.parse(text); rest !== "";) {
    const { piece, written } = pieceOf(rest, max);
    pieces.push(written);
    rest = rest.slice(piece.length);
  }
  return pieces.map((piece, index) => ({
    text: piece,
    place: `${place}, piece ${index + 1} of ${pieces.length}`,
  }));
}

/** As JSON, a character takes up to six. */
function pieceOf(text: string, max: number): { readonly piece: string; readonly written: string } {
  for (let size = max - 2;; size = Math.max(1, Math.floor(size / 2))) {
    const piece = text.slice(0, endOfPart(text, size));
    const written = JSON.stringify(piece);
    if (written.length <= max || size === 1) return { piece, written };
  }
}

function memberOf(member: string): { readonly key: string; readonly value: string } {
  const end = endOfString(member, 0);
  const name: string = JSON.parse(member.slice(0, end));
  const short = name.length > MAX_KEY ? `${name.slice(0, endOfPart(name, MAX_KEY))}…` : name;
  const key = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(short) ? `.${short}` : `[${JSON.stringify(short)}]`;
  return { key, value: member.slice(end + 1) };
}

const [QUOTE, COMMA, SPACE, BACKSLASH] = [0x22, 0x2c, 0x20, 0x5c];
/** `[` and `{`, or `]` and `}`, which differ in one bit. */
const [OPEN, CLOSE, BRACE_BIT] = [0x5b, 0x5d, 0x20];

/** What stands between the commas of a list or an object that is written without spaces. */
function* itemsOf(text: string): Generator<string> {
  let start = 1;
  let depth = 0;
  for (let index = 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index) - 1;
    else if ((code & ~BRACE_BIT) === OPEN) depth++;
    else if ((code & ~BRACE_BIT) === CLOSE) depth--;
    if (depth < 0 || (depth === 0 && code === COMMA)) {
      if (index > start) yield text.slice(start, index);
      start = index + 1;
    }
  }
}

function withoutSpaces(json: string): string {
  const texts: string[] = [];
  let start = 0;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code === QUOTE) index = endOfString(json, index) - 1;
    // In valid JSON, nothing else outside of strings has a lower code.
    if (code > SPACE) continue;
    if (index > start) texts.push(json.slice(start, index));
    start = index + 1;
  }
  return texts.join("") + json.slice(start);
}

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1);; end = json.indexOf('"', end + 1)) {
    let slashes = 0;
    while (json.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
}

/** At the last line that fits; in a line that is too long, between two characters. */
function splitPlain(text: string, max: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== "";) {
    const end = endOfPart(rest, max);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return parts;
}

/** The characters around the cut that are looked at for one that may not be cut. */
const LOOK_AROUND = 64;

/** Where the first part of a text ends that has at most `max` characters. */
function endOfPart(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const line = text.lastIndexOf("\n", max - 1) + 1;
  if (line > max / 2) return line;
  const from = Math.max(0, max - LOOK_AROUND);
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const starts = [...graphemes.segment(text.slice(from, max + LOOK_AROUND))].map(({ index }) => from + index);
  return starts.findLast((start) => start <= max && start > 0) ?? max;
}
