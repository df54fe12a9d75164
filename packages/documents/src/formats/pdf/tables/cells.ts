/** The cells of a table without drawn lines, and the columns in which they are. */
import { joinTexts } from "../lines.ts";

/** A text of a cell: a piece of a line, with the look of that line. */
export interface CellText {
  readonly text: string;
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly size: number;
  readonly font: string;
}

/** A cell: its texts from the top to the bottom, and from where to where they reach. */
export interface Cell {
  readonly texts: CellText[];
  x: number;
  end: number;
}

/** A row: its cells from left to right, and its highest and lowest base line. */
export interface Row {
  readonly cells: Cell[];
  /** The number of the line of the page with which it begins. */
  readonly start: number;
  top: number;
  bottom: number;
}

/** Whether a row has one cell. */
export function isLonely({ cells }: Row): boolean {
  return cells.length === 1;
}

/** The height of the first letters of a row. */
export function sizeOf({ cells }: Row): number {
  return cells[0]?.texts[0]?.size ?? 0;
}

/** From where to where a column reaches, in points. */
interface Span {
  readonly x: number;
  readonly end: number;
}

/** The most columns that a row may add to those of the rows above it. */
const MAX_NEW = 2;
/** How far, in points, texts of neighboring columns may overlap. */
const OVERLAP = 1;

/** Columns that become wider, and more, with each row. */
export class Columns {
  #spans: readonly Span[] = [];
  #rows = 0;

  /** The columns of rows that fit below each other. */
  static of(rows: readonly Row[]): Columns {
    const columns = new Columns();
    columns.#spans = united(rows.flatMap(({ cells }) => cells));
    return columns;
  }

  get count(): number {
    return this.#spans.length;
  }

  /** Adds a row. `false`, and nothing is added, when a cell lies in two columns or two cells in one. */
  fit(cells: readonly Cell[]): boolean {
    const spans = united([...this.#spans, ...cells]);
    const isApart = (parts: readonly Span[]) =>
      new Set(parts.map((part) => indexIn(spans, part))).size === parts.length;
    // The second row has the columns that the names above them, in their middle, do not reach.
    const most = this.#rows < 2 ? Infinity : this.#spans.length + MAX_NEW;
    if (spans.length > most || !isApart(this.#spans) || !isApart(cells)) return false;
    this.#spans = spans;
    this.#rows++;
    return true;
  }

  /** The number of the column in which a cell lies, from the left. */
  indexOf(cell: Cell): number {
    return indexIn(this.#spans, cell);
  }

  /** The text of each cell of a row, and an empty one for each column without a cell. */
  textsOf({ cells }: Row): string[] {
    const texts = this.#spans.map(() => "");
    for (const cell of cells) texts[this.indexOf(cell)] = textOf(cell);
    return texts;
  }
}

/**
 * The texts of a table: those of its first row, and those of the others. Names above columns may stand beside all that is
 * in them; they are told by their order.
 */
export function toTexts(rows: readonly Row[]): { readonly headers: string[]; readonly body: string[][] } {
  const [head, ...others] = rows;
  const columns = Columns.of(others);
  const all = Columns.of(rows);
  if (head?.cells.length === columns.count && all.count !== columns.count) {
    return { headers: head.cells.map(textOf), body: others.map((row) => columns.textsOf(row)) };
  }
  const [headers = [], ...body] = rows.map((row) => all.textsOf(row));
  return { headers, body };
}

function textOf({ texts }: Cell): string {
  return joinTexts(texts.map(({ text }) => text));
}

/** Spans from left to right, of which those that overlap are one. */
function united(spans: readonly Span[]): Span[] {
  const merged: { x: number; end: number }[] = [];
  for (const { x, end } of spans.toSorted((one, other) => one.x - other.x)) {
    const last = merged.at(-1);
    if (last === undefined || x >= last.end - OVERLAP) merged.push({ x, end });
    else last.end = Math.max(last.end, end);
  }
  return merged;
}

function indexIn(spans: readonly Span[], { x, end }: Span): number {
  return spans.findLastIndex((span) => span.x <= (x + end) / 2);
}

/** The distance of the lines of a cell, in heights of letters, where a table does not show it. */
export const LINE_GAP = 1.24;
/** By how much the distance of lines in a cell varies. */
export const GAP_TOLERANCE = 1.06;
/** How much of rows of several lines their cells fill at most. */
const MAX_FILL = 0.8;

/** Joins the lines of the same row. */
export function joinLinesOfRows(rows: readonly Row[]): readonly Row[] {
  const columns = Columns.of(rows);
  return joinByGaps(rows, columns) ?? joinByFirstColumn(rows, columns);
}

/** Rows by the gaps between them; `undefined` when their lines have no such gaps, or not the look of cells of several lines. */
function joinByGaps(rows: readonly Row[], columns: Columns): readonly Row[] | undefined {
  const leading = leadingOfColumns(rows) * GAP_TOLERANCE;
  const joined = joinRows(rows, columns, (before, row) => before.bottom - row.top <= leading * sizeOf(row));
  const isWhole = joined.every(({ cells }) =>
    cells.every(({ texts }) => gapsOf(texts).every((gap) => gap <= leading))
  );
  return isWhole && joined.length >= 3 && fillOf(joined) <= MAX_FILL ? joined : undefined;
}

/** How much of their rows cells of several lines fill: nearly all in rows that are joined though they are single ones. */
function fillOf(rows: readonly Row[]): number {
  let [lines, places] = [0, 0];
  for (const { cells } of rows) {
    const counts = cells.map(({ texts }) => texts.length);
    const most = Math.max(...counts);
    if (most < 2 || counts.length < 2) continue;
    lines += counts.reduce((sum, count) => sum + count, 0);
    places += most * counts.length;
  }
  return places === 0 ? 0 : lines / places;
}

/** Rows by their first column: a line that stands close below a row, without a text in that column, continues its cells. */
function joinByFirstColumn(rows: readonly Row[], columns: Columns): readonly Row[] {
  return joinRows(rows, columns, (before, row) => {
    const [first] = row.cells;
    const isFirst = first === undefined || columns.indexOf(first) === 0;
    return !isFirst && before.bottom - row.top <= sizeOf(row) * LINE_GAP * GAP_TOLERANCE;
  });
}

/** Joins each row that continues the one before it to that one. */
function joinRows(
  rows: readonly Row[],
  columns: Columns,
  continues: (before: Row, row: Row) => boolean,
): readonly Row[] {
  const groups: Row[][] = [];
  for (const row of rows) {
    const before = groups.at(-1)?.at(-1);
    if (before !== undefined && continues(before, row)) groups.at(-1)?.push(row);
    else groups.push([row]);
  }
  return groups.map((group) => join(group, columns));
}

/** Joins rows to one; the texts of each of its cells go from the top to the bottom. */
function join(rows: readonly Row[], columns: Columns): Row {
  const cells = Map.groupBy(rows.flatMap(({ cells }) => cells), (cell) => columns.indexOf(cell));
  const [{ start } = { start: 0 }] = rows;
  return {
    start,
    cells: [...cells].sort(([one], [other]) => one - other).map(([, parts]) => ({
      texts: parts.flatMap(({ texts }) => texts).sort((one, other) => other.y - one.y),
      x: parts.reduce((least, { x }) => Math.min(least, x), Infinity),
      end: parts.reduce((most, { end }) => Math.max(most, end), -Infinity),
    })),
    top: rows.reduce((most, { top }) => Math.max(most, top), -Infinity),
    bottom: rows.reduce((least, { bottom }) => Math.min(least, bottom), Infinity),
  };
}

/** The usual distance of the lines of a cell, in heights of letters: of all distances, that at a share of them. */
export function leadingOf(rows: readonly Row[], share: number): number {
  const gaps = rows.flatMap(({ cells }) => cells.flatMap(({ texts }) => gapsOf(texts))).sort((a, b) => a - b);
  return gaps[Math.floor(gaps.length * share)] ?? LINE_GAP;
}

/** The same, where the lines of a row are not known yet: it is one of the smallest distances in the columns. */
export function leadingOfColumns(rows: readonly Row[]): number {
  return leadingOf([join(rows, Columns.of(rows))], 0.05);
}

function gapsOf(texts: readonly CellText[]): number[] {
  return texts.flatMap(({ y, size }, index) => {
    const before = texts[index - 1];
    return before === undefined ? [] : [(before.y - y) / Math.max(before.size, size)];
  });
}
