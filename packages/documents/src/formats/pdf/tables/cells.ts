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
