/** Finds the rows of a sheet without parsing it: a range in the middle of a long one is read alone. */
import { type ParseLimits, unreadable } from "../format.ts";
import { at, childrenOf, parseXml, type XmlNode } from "../xml.ts";

/** The rows of a sheet. */
export class SheetRows {
  readonly #bytes: Uint8Array;
  readonly #limits: ParseLimits;
  /** Where each row begins, and at the end where the last one ends. */
  readonly #starts: Float64Array;
  /** What is before the rows and behind them, as XML. */
  readonly around: XmlNode;

  constructor(bytes: Uint8Array, limits: ParseLimits) {
    this.#bytes = bytes;
    this.#limits = limits;
    const buffer = new ByteText(bytes);
    const open = buffer.find("<sheetData", 0);
    const isEmpty = open < 0 || bytes[buffer.find(">", open) - 1] === SLASH;
    const close = isEmpty ? -1 : buffer.find("</sheetData", open);
    if (!isEmpty && close < 0) throw unreadable("damaged", "a sheet of the workbook has no end");
    const starts: number[] = [];
    for (
      let from = isEmpty ? -1 : buffer.findRow(open, close);
      from >= 0;
      from = buffer.findRow(from + 1, close)
    ) {
      starts.push(from);
    }
    this.#starts = Float64Array.from([...starts, close]);
    const decoder = new TextDecoder();
    const before = decoder.decode(bytes.subarray(0, isEmpty ? bytes.length : buffer.find(">", open) + 1));
    const after = isEmpty ? "" : decoder.decode(bytes.subarray(close));
    this.around = parseXml(before + after, limits);
  }

  /** How many rows have cells. */
  get count(): number {
    return this.#starts.length - 1;
  }

  /** The rows of a range, by their position from 0. */
  read(start: number, count: number): XmlNode[] {
    const end = Math.min(start + count, this.count);
    if (end <= start) return [];
    const text = new TextDecoder().decode(this.#bytes.subarray(this.#starts[start], this.#starts[end]));
    return childrenOf(at(parseXml(`<rows>${text}</rows>`, this.#limits), "rows"), "row");
  }
}

const SLASH = 0x2f;

/** Looks for words in bytes. */
class ByteText {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The place of a word from a place on; -1 when it is not there. */
  find(word: string, from: number): number {
    const bytes = this.#bytes;
    const first = word.charCodeAt(0);
    for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
      let length = 1;
      while (length < word.length && bytes[at + length] === word.charCodeAt(length)) length++;
      if (length === word.length) return at;
    }
    return -1;
  }

  /** The place of the next row before `end`. */
  findRow(from: number, end: number): number {
    for (let at = this.find("<row", from); at >= 0 && at < end; at = this.find("<row", at + 1)) {
      const next = this.#bytes[at + 4];
      if (
        next === 0x20 || next === 0x3e || next === SLASH || next === 0x0a || next === 0x0d || next === 0x09
      ) return at;
    }
    return -1;
  }
}
