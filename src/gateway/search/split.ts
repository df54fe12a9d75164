/** Splits long texts into parts that can be read on their own: JSON stays JSON, and no character is cut. */
import { isRecord, parseJson } from "../../json.ts";

/** A part of a text. */
export interface Part {
  readonly text: string;
  /** Where the part is in a JSON text, such as `$.items[20..39]`; `undefined` in any other text. */
  readonly place?: string;
}

/** Parts of at most `max` characters; a text that is not longer is one part. */
export function splitText(text: string, max: number): Part[] {
  if (text.length <= max) return [{ text }];
  const value = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  const parts = value === undefined ? undefined : splitIfShallow(value, max);
  return parts ?? splitPlain(text, max).map((part) => ({ text: part }));
}

/** `undefined` for JSON that is nested too deeply to be written. */
function splitIfShallow(value: unknown, max: number): Part[] | undefined {
  try {
    return splitJson(value, { place: "$", max });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** At the last line that fits; in a line that is too long, between two characters as a reader sees them. */
function splitPlain(text: string, max: number): string[] {
  const parts: string[] = [];
  for (let rest = text; rest !== "";) {
    const end = rest.length <= max ? rest.length : endOfPart(rest, max);
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return parts;
}

/** The characters before the cut that are looked at for one that may not be cut. */
const LOOK_BACK = 64;

function endOfPart(text: string, max: number): number {
  const line = text.lastIndexOf("\n", max - 1) + 1;
  if (line > max / 2) return line;
  const from = Math.max(0, max - LOOK_BACK);
  const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
  const starts = [...graphemes.segment(text.slice(from, max + LOOK_BACK))].map(({ index }) => from + index);
  return starts.findLast((start) => start <= max && start > 0) ?? max;
}

interface Place {
  readonly place: string;
  readonly max: number;
}

/** Each part is JSON. What holds too much is split further, and its place says where it was. */
function splitJson(value: unknown, { place, max }: Place): Part[] {
  const text = JSON.stringify(value);
  if (text.length <= max) return [{ text, place }];
  if (Array.isArray(value)) return splitList(value, { place, max });
  if (isRecord(value)) return splitMembers(value, { place, max });
  // A text in JSON takes up to six characters for one.
  const pieces = splitPlain(String(value), Math.max(1, Math.floor(max / 6)));
  return pieces.map((piece, index) => ({
    text: JSON.stringify(piece),
    place: `${place}, piece ${index + 1} of ${pieces.length}`,
  }));
}

function splitList(list: readonly unknown[], { place, max }: Place): Part[] {
  const parts: Part[] = [];
  let start = 0;
  let texts: string[] = [];
  let size = 2;
  const flush = (end: number) => {
    if (texts.length > 0) {
      parts.push({ text: `[${texts.join(",")}]`, place: `${place}[${start}..${end - 1}]` });
    }
    [start, texts, size] = [end, [], 2];
  };
  for (const [index, item] of list.entries()) {
    const text = JSON.stringify(item) ?? "null";
    if (size + text.length + 1 > max) flush(index);
    if (text.length + 2 > max) {
      parts.push(...splitJson(item, { place: `${place}[${index}]`, max }));
      start = index + 1;
      continue;
    }
    texts.push(text);
    size += text.length + 1;
  }
  flush(list.length);
  return parts;
}

function splitMembers(object: Readonly<Record<string, unknown>>, { place, max }: Place): Part[] {
  const parts: Part[] = [];
  let texts: string[] = [];
  let size = 2;
  const flush = () => {
    if (texts.length > 0) parts.push({ text: `{${texts.join(",")}}`, place });
    [texts, size] = [[], 2];
  };
  for (const [name, value] of Object.entries(object)) {
    const text = `${JSON.stringify(name)}:${JSON.stringify(value) ?? "null"}`;
    if (size + text.length + 1 > max) flush();
    if (text.length + 2 > max) {
      parts.push(...splitJson(value, { place: `${place}.${name}`, max }));
      continue;
    }
    texts.push(text);
    size += text.length + 1;
  }
  flush();
  return parts;
}
