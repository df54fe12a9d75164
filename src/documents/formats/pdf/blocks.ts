/** Headings, paragraphs, lists and tables of a page that does not say where they are, by the look of its lines. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { joinLines, type Line, type Piece, textOf } from "./lines.ts";

/** How the running text of a document looks. */
export interface BodyLook {
  /** The height of its letters, in points. */
  readonly size: number;
  /** The sizes of headings, the largest first. */
  readonly headings: readonly number[];
  /** Whether a font is bold, by its name on the page. */
  readonly isBold: (font: string) => boolean;
}

/** The most characters of a heading. */
const MAX_HEADING = 200;
/** How much larger than the running text a heading is. */
const HEADING_SCALE = 1.12;
/** The distance of lines, in heights of letters, from which on a paragraph ends. */
const PARAGRAPH_GAP = 1.75;
/** The distance of the lines of a paragraph, in heights of letters. */
const LINE_GAP = 1.3;
const BULLET = /^(?:[•◦▪▫●○■□‣⁃–—*·\uf0b7\u2022-]|(\(?\d{1,3}[.)]|[a-z][.)]|\(?[ivx]{1,4}[.)]))\s+(?=\S)/u;

/** How the running text looks, judged by some lines. */
export function lookOf(lines: readonly Line[], isBold: BodyLook["isBold"]): BodyLook {
  const weights = new Map<number, number>();
  for (const line of lines) {
    const size = roundSize(line.size);
    weights.set(size, (weights.get(size) ?? 0) + textOf(line).length);
  }
  const [[size] = [10]] = [...weights].sort(([, a], [, b]) => b - a);
  const headings = [...weights.keys()].filter((each) => each > size * HEADING_SCALE).sort((a, b) => b - a);
  return { size, headings, isBold };
}

/** The elements of a page, in the order of its lines, without ids. */
export function toBlocks(lines: readonly Line[], look: BodyLook): DocumentElement[] {
  const elements: DocumentElement[] = [];
  for (let at = 0; at < lines.length;) {
    const table = tableAt(lines, at) ?? titledTableAt(lines, at);
    if (table !== undefined) {
      elements.push(table.element);
      at += table.length;
      continue;
    }
    const level = headingLevel(lines, at, look);
    const end = level === undefined ? blockEnd(lines, at, look) : headingEnd(lines, at, { level, look });
    const block = lines.slice(at, end);
    if (level !== undefined) {
      elements.push({ category: "heading", content: { level, text: joinLines(block) } });
    } else addBlock(elements, block);
    at = end;
  }
  return elements;
}

function addBlock(elements: DocumentElement[], block: readonly Line[]): void {
  const [first] = block;
  const bullet = first && BULLET.exec(textOf(first));
  if (!bullet) {
    elements.push({ category: "text", content: { text: joinLines(block) } });
    return;
  }
  const item = joinLines(block).replace(BULLET, "");
  const isOrdered = bullet[1] !== undefined;
  const before = elements.at(-1);
  if (before?.category === "list" && (before.content.ordered ?? false) === isOrdered) {
    elements[elements.length - 1] = {
      category: "list",
      content: { ...before.content, items: [...before.content.items, item] },
    };
    return;
  }
  const start = Number.parseInt(bullet[1]?.replace("(", "") ?? "1");
  const first1 = Number.isNaN(start) ? 1 : start;
  elements.push({
    category: "list",
    content: isOrdered
      ? { ordered: true, ...(first1 === 1 ? {} : { start: first1 }), items: [item] }
      : { items: [item] },
  });
}

/** The level of a heading by its size, or one below the sizes for a short bold line that stands alone. */
function headingLevel(lines: readonly Line[], at: number, look: BodyLook): number | undefined {
  const line = lines[at];
  if (line === undefined) return undefined;
  const text = textOf(line);
  if (text.length > MAX_HEADING || !/\p{L}/u.test(text)) return undefined;
  const bySize = look.headings.indexOf(roundSize(line.size));
  if (bySize >= 0) return Math.min(bySize + 1, 6);
  const isAlone = isBreak(lines[at - 1], line) &&
    (lines[at + 1] === undefined || !look.isBold(lines[at + 1]?.font ?? ""));
  const isBold = look.isBold(line.font) && roundSize(line.size) >= look.size && !/[.,;]$/.test(text);
  return isBold && isAlone && text.length <= MAX_HEADING / 2
    ? Math.min(look.headings.length + 1, 6)
    : undefined;
}

function headingEnd(
  lines: readonly Line[],
  start: number,
  { level, look }: { readonly level: number; readonly look: BodyLook },
): number {
  let end = start + 1;
  for (; end < lines.length; end++) {
    const [before, line] = [lines[end - 1], lines[end]];
    if (before === undefined || line === undefined || isBreak(before, line)) break;
    if (roundSize(line.size) !== roundSize(before.size) || headingLevel(lines, end, look) !== level) break;
  }
  return end;
}

function blockEnd(lines: readonly Line[], start: number, look: BodyLook): number {
  let end = start + 1;
  for (; end < lines.length; end++) {
    const [before, line] = [lines[end - 1], lines[end]];
    if (before === undefined || line === undefined) break;
    const isOther = roundSize(line.size) !== roundSize(before.size) && Math.abs(line.size - before.size) > 1;
    if (isBreak(before, line) || isOther || BULLET.test(textOf(line))) break;
    if (headingLevel(lines, end, look) !== undefined) break;
    if (tableAt(lines, end) !== undefined || titledTableAt(lines, end) !== undefined) break;
  }
  return end;
}

/** Whether a line begins a block: it is far from the line before, above it, or indented behind a short one. */
function isBreak(before: Line | undefined, line: Line): boolean {
  if (before === undefined) return true;
  const distance = before.y - line.y;
  if (distance < -line.size * 0.5 || distance > Math.max(before.size, line.size) * PARAGRAPH_GAP) return true;
  const [beforeStart, start] = [before.pieces[0]?.x ?? 0, line.pieces[0]?.x ?? 0];
  return start - beforeStart > line.size * 0.8 && /[.!?:]["')\]]?$/.test(textOf(before));
}

/**
 * A table: rows of two pieces and more, in columns that no piece of another column overlaps. A line that stands close below
 * a row, without a piece in the first column, continues its cells.
 */
function tableAt(
  lines: readonly Line[],
  start: number,
): { element: DocumentElement; length: number } | undefined {
  const columns = new Columns();
  const rows: Line[][] = [];
  let at = start;
  for (; at < lines.length; at++) {
    const [before, line] = [rows.at(-1)?.at(-1), lines[at]];
    if (line === undefined || (before !== undefined && !isBelow(before, line))) break;
    if (before !== undefined && isClose(before, line) && columns.continue(line.pieces)) {
      rows.at(-1)?.push(line);
      continue;
    }
    if (line.pieces.length < 2 || isItem(line) || !columns.fit(line.pieces)) break;
    rows.push([line]);
  }
  // Two lines with a gap may be a line of a heading.
  const isTable = rows.length >= 3 ||
    (rows.length === 2 && rows.every(([first]) => first !== undefined && first.pieces.length >= 3));
  if (!isTable) return undefined;
  const [headers = [], ...body] = rows.map((row) => columns.cellsOf(row));
  return {
    element: { category: "table", content: { headers, rows: body, total_rows: body.length } },
    length: at - start,
  };
}

/** A table below a line that has the names of its columns, which may stand in their middle. */
function titledTableAt(
  lines: readonly Line[],
  start: number,
): { element: DocumentElement; length: number } | undefined {
  const [title, next] = [lines[start], lines[start + 1]];
  if (title === undefined || next === undefined || title.pieces.length < 2 || isItem(title)) return undefined;
  const table = isBelow(title, next) ? tableAt(lines, start + 1) : undefined;
  if (table?.element.category !== "table") return undefined;
  const { headers, rows } = table.element.content;
  if (headers.length !== title.pieces.length) return undefined;
  const content = {
    headers: title.pieces.map(({ text }) => text.trim()),
    rows: [headers, ...rows],
    total_rows: rows.length + 1,
  };
  return { element: { category: "table", content }, length: table.length + 1 };
}

/** Whether a line stands below another one as a row of a table does: lines of many pieces may be farther away. */
function isBelow(before: Line, line: Line): boolean {
  const distance = before.y - line.y;
  const isRow = Math.min(before.pieces.length, line.pieces.length) >= 3;
  return distance > 0 && distance <= Math.max(before.size, line.size) * (isRow ? 5 : 3);
}

/** Whether a line is as near to the one above it as lines of a paragraph are. */
function isClose(before: Line, line: Line): boolean {
  return before.y - line.y <= Math.max(before.size, line.size) * LINE_GAP;
}

/** Whether a line is an item of a list, with its mark as a piece of its own. */
function isItem({ pieces: [first] }: Line): boolean {
  return first !== undefined && BULLET.test(`${first.text.trim()} x`) && first.text.trim().length <= 5;
}

/** The columns of a table, from left to right. */
class Columns {
  readonly #columns: { start: number; end: number }[] = [];

  /** Adds a row. `false`, and nothing is added, when a piece lies in two columns or two pieces in one. */
  fit(pieces: readonly Piece[]): boolean {
    const changed = this.#columns.map((column) => ({ ...column }));
    const taken = new Set<number>();
    for (const { x: start, end } of pieces) {
      const over = changed.flatMap((column, index) =>
        column.start < end && start < column.end ? [index] : []
      );
      const [index] = over;
      if (over.length > 1 || (index !== undefined && taken.has(index))) return false;
      const column = index === undefined ? undefined : changed[index];
      if (column === undefined) taken.add(changed.push({ start, end }) - 1);
      else {
        column.start = Math.min(column.start, start);
        column.end = Math.max(column.end, end);
        taken.add(changed.indexOf(column));
      }
    }
    // The first row makes the columns; later ones may add a few that it left empty.
    if (this.#columns.length > 0 && changed.length > this.#columns.length + 2) return false;
    this.#columns.splice(0, Infinity, ...changed);
    return true;
  }

  /** Whether pieces lie in columns, each in one, but none in the first; columns may become wider by them. */
  continue(pieces: readonly Piece[]): boolean {
    const isMissing = ({ x, end }: Piece) =>
      !this.#columns.some((column) => column.start < end && x < column.end);
    const firstEnd = this.#columns.reduce((least, { end }) => Math.min(least, end), Infinity);
    return !pieces.some((piece) => piece.x < firstEnd || isMissing(piece)) && this.fit(pieces);
  }

  /** The cells of a row, which may have several lines. */
  cellsOf(row: readonly Line[]): string[] {
    const columns = this.#columns.toSorted((a, b) => a.start - b.start);
    return columns.map(({ start, end }) =>
      row.flatMap(({ pieces }) => pieces.filter((piece) => piece.x < end && start < piece.end))
        .map(({ text }) => text.trim()).join(" ")
    );
  }
}

function roundSize(size: number): number {
  return Math.round(size * 2) / 2;
}
