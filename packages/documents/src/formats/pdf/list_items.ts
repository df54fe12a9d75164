/** The items of lists, by the marks with which they begin. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { edgesOf, type Line, textOf } from "./lines.ts";

/** Bullets and dashes, or numbers and letters, which are captured. */
const MARK = /^(?:[•◦▪▫●○■□‣⁃–—*·\uf0b7\u2022-]|(\(?\d{1,3}[.)]|[a-z][.)]|\(?[ivx]{1,4}[.)]))\s+(?=\S)/u;
/** How many lines before and after an item show how wide its lines may be. */
const NEAR = 8;

/** An item without its mark. */
interface Item {
  readonly text: string;
  readonly isOrdered: boolean;
  /** The number of an ordered item. */
  readonly number: number;
}

/** Makes lists of the texts that begin with marks and follow each other. */
export function withLists(elements: Iterable<DocumentElement>): DocumentElement[] {
  const all: DocumentElement[] = [];
  let items: Item[] = [];
  const endList = () => {
    if (items.length > 0) all.push(toList(items));
    items = [];
  };
  for (const element of elements) {
    const item = element.category === "text" ? itemOf(element.content.text) : undefined;
    if (item?.isOrdered !== items[0]?.isOrdered) endList();
    if (item === undefined) all.push(element);
    else items.push(item);
  }
  endList();
  return all;
}

/** The item that a text is; `undefined` when it does not begin with a mark. */
function itemOf(text: string): Item | undefined {
  const mark = MARK.exec(text);
  if (!mark) return undefined;
  const number = Number.parseInt(mark[1]?.replace("(", "") ?? "1");
  return {
    text: text.replace(MARK, ""),
    isOrdered: mark[1] !== undefined,
    number: Number.isNaN(number) ? 1 : number,
  };
}

/** Whether a line begins an item. */
export function isItem(line: Line): boolean {
  return MARK.test(textOf(line));
}

/** Whether a text is the mark of an item without its text. */
export function isItemMark(text: string): boolean {
  return text.trim().length <= 5 && MARK.test(`${text.trim()} x`);
}

/** A list of items. */
function toList(items: readonly Item[]): DocumentElement {
  const [{ isOrdered, number } = { isOrdered: false, number: 1 }] = items;
  const texts = items.map(({ text }) => text);
  if (!isOrdered) return { category: "list", content: { items: texts } };
  return {
    category: "list",
    content: { ordered: true, ...(number === 1 ? {} : { start: number }), items: texts },
  };
}

/**
 * Whether a line begins a paragraph after an item, though it stands as close as a line of it: it begins below the mark or
 * to the left of it, while the lines of items begin to the right, or its first word has room at the end of the item.
 */
export function leavesItem(lines: readonly Line[], start: number, at: number): boolean {
  const [first, before, line] = [lines[start], lines[at - 1], lines[at]];
  if (first === undefined || before === undefined || line === undefined) return false;
  const [mark, tolerance] = [startOf(first), line.size * 0.5];
  if (Math.abs(startOf(line) - mark) > tolerance) return startOf(line) < mark;
  const near = [
    ...lines.slice(Math.max(0, start - NEAR), start + NEAR),
    ...lines.slice(Math.max(start + NEAR, at - NEAR), at + NEAR),
  ];
  const isHanging = (other: Line) => {
    const [piece, text] = first.pieces;
    const isBelowText = piece !== undefined && text !== undefined && isItemMark(piece.text) &&
      Math.abs(startOf(other) - text.x) <= tolerance;
    return isBelowText && !isItem(other);
  };
  const isLater = lines.slice(start + 1, Math.min(start + NEAR, at)).some((other) =>
    startOf(other) > mark + tolerance
  );
  return isLater || near.some(isHanging) || hasRoom(before, line, near);
}

/**
 * Whether the first word of a line would fit at the end of the line before it, which thus was ended on purpose. A small letter
 * goes on with a sentence all the same.
 */
function hasRoom(before: Line, line: Line, near: readonly Line[]): boolean {
  if (/^\p{Ll}/u.test(textOf(line))) return false;
  const end = endOf(before);
  const right = Math.max(...near.filter((other) => startOf(other) < end).map(endOf));
  const text = textOf(line);
  const [word = ""] = text.split(" ", 1);
  const width = (endOf(line) - startOf(line)) * (word.length + 1) / text.length;
  return end + width < right - line.size;
}

function startOf(line: Line): number {
  return edgesOf(line)[0];
}

function endOf(line: Line): number {
  return edgesOf(line)[1];
}
