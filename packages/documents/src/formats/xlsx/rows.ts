/** Finds the rows of a sheet without parsing it: a range in the middle of a long one is read alone. */
import { type ParseLimits, unreadable } from "../format.ts";
import { at, childrenOf, parseXml, type XmlNode } from "../xml.ts";

export class SheetRows {
  readonly #bytes: Uint8Array;
  readonly #limits: ParseLimits;
  /** Where each row begins, and at the end where the last one ends. */
  readonly #starts: Float64Array;
  readonly #prefix: string;
  #blocks: Uint32Array | undefined;
  /** What is before the rows and behind them, as XML. */
  readonly around: XmlNode;

  /** Takes the part of a sheet, in UTF-8. Throws a DocumentError when it is no sheet. */
  constructor(bytes: Uint8Array, limits: ParseLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    const prefix = this.#prefix = prefixOf(bytes);
    const open = findTag(bytes, `<${prefix}sheetData`);
    const isEmpty = open < 0 || bytes[bytes.indexOf(TAG_END, open) - 1] === SLASH;
    const close = isEmpty ? -1 : findTag(bytes, `</${prefix}sheetData`, { from: open });
    if (!isEmpty && close < 0) throw unreadable("damaged", "a sheet of the workbook has no end");
    const starts: number[] = [];
    const nextRow = (from: number) => findTag(bytes, `<${prefix}row`, { from, end: close });
    for (let at = isEmpty ? -1 : nextRow(open); at >= 0; at = nextRow(at + 1)) starts.push(at);
    this.#starts = Float64Array.from([...starts, close]);
    const decoder = new TextDecoder();
    const before = decoder.decode(
      bytes.subarray(0, isEmpty ? bytes.length : bytes.indexOf(TAG_END, open) + 1),
    );
    const after = isEmpty ? "" : decoder.decode(bytes.subarray(close));
    this.around = parseXml(before + after, limits);
  }

  /** How many rows the file has; empty ones may be left out of it. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** The number of a row as the sheet shows it, from 1, by its position from 0. */
  numberOf(position: number): number {
    const start = this.#starts[position] ?? 0;
    const tag = new TextDecoder().decode(this.#bytes.subarray(start, start + TAG_BYTES));
    const [, number] = /^[^>]*?\sr=["'](\d{1,7})["']/.exec(tag) ?? [];
    return number === undefined ? position + 1 : Number(number);
  }

  /** Where the rows begin that stand below each other up to the one at a position, without an empty one between them. */
  blockStart(position: number): number {
    this.#blocks ??= this.#findBlocks();
    return this.#blocks.findLast((start) => start <= position) ?? 0;
  }

  #findBlocks(): Uint32Array {
    const starts: number[] = [];
    let before: number | undefined;
    for (let position = 0; position < this.count; position++) {
      const number = this.#hasCells(position) ? this.numberOf(position) : undefined;
      if (number !== undefined && (before === undefined || number > before + 1)) starts.push(position);
      before = number;
    }
    return Uint32Array.from(starts);
  }

  #hasCells(position: number): boolean {
    const row = this.#bytes.subarray(this.#starts[position], this.#starts[position + 1]);
    return ["v", "is", "f"].some((name) => findTag(row, `<${this.#prefix}${name}`) >= 0);
  }

  /** The rows of a range, by their position from 0. */
  read(start: number, count: number): XmlNode[] {
    const end = Math.min(start + count, this.count);
    if (end <= start) return [];
    const text = new TextDecoder().decode(this.#bytes.subarray(this.#starts[start], this.#starts[end]));
    return childrenOf(at(parseXml(`<rows>${text}</rows>`, this.#limits), "rows"), "row");
  }
}

/** How many bytes of a row are looked at for its number. */
const TAG_BYTES = 200;

/** The prefix of the names of a sheet, with its colon; mostly there is none. */
function prefixOf(bytes: Uint8Array): string {
  const beginning = new TextDecoder().decode(bytes.subarray(0, 2_000));
  const [, prefix = ""] = /<([\w.-]{1,40}:)worksheet[\s>]/.exec(beginning) ?? [];
  return prefix;
}

const SLASH = 0x2f;
const TAG_END = 0x3e;

/** The place of a word in bytes, from a place on; -1 when it is not there. */
function find(bytes: Uint8Array, word: string, from: number): number {
  const first = word.charCodeAt(0);
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    let length = 1;
    while (length < word.length && bytes[at + length] === word.charCodeAt(length)) length++;
    if (length === word.length) return at;
  }
  return -1;
}

/** The place of a tag, such as `<row`, from a place on and before an end; -1 when it is not there. */
function findTag(bytes: Uint8Array, tag: string, { from = 0, end = Infinity } = {}): number {
  for (let at = find(bytes, tag, from); at >= 0 && at < end; at = find(bytes, tag, at + 1)) {
    const next = bytes[at + tag.length];
    if (next !== undefined && ENDS_OF_NAMES.includes(next)) return at;
  }
  return -1;
}

/** What may come behind the name of a tag: white space, `/` or `>`. */
const ENDS_OF_NAMES: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, SLASH, TAG_END];
