/** Tables without drawn lines. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { GAP_TOLERANCE, joinLinesOfRows, leadingOf, leadingOfColumns, LINE_GAP } from "./rows_by_line.ts";
import type { Line } from "../lines.ts";
import { orderByRows } from "./reading_order.ts";
import { type Cell, isLonely, type Row, toTexts } from "./cells.ts";
import { readRows, type RowRun } from "./rows.ts";

/** The lines of a page in reading order, and the tables in them. */
export interface LinesWithTables {
  readonly lines: readonly Line[];
  readonly tables: readonly UnruledTable[];
}

/** A table and the lines that it takes. */
export interface UnruledTable {
  readonly element: DocumentElement;
  readonly start: number;
  /** The number of the line after it. */
  readonly end: number;
}

/** The largest distance of the lines of a cell, in heights of letters. */
const MAX_LINE_GAP = 1.75;
/** Lines that a page writes one after the other, and that are farther apart, are rows. */
const MAX_LEADING = 1.4;
/** The share of the lines of a page that are in its tables, at least, when they are put in another order. */
const MIN_INSIDE = 0.85;
/** How many texts are looked at for each line of a page, on average, before the search ends. */
const STEPS_PER_LINE = 40;

/** The gap between words of a justified line, in heights of letters, at most. */
const MAX_WORD_GAP = 4;
/** How much the ends of justified lines differ, in points. */
const MAX_RAGGED = 1.5;

/** How much, in points, the edges of aligned cells differ: by chance, many edges are nearly below each other. */
const ALIGNED = 0.5;

/** Finds the tables of a page. Another order than that of the lines is for a page that is nearly all tables in that order. */
export function findTables(lines: readonly Line[]): LinesWithTables {
  const written = tablesIn(lines);
  const byRow = orderByRows(lines);
  if (byRow === undefined) return written;
  const ordered = tablesIn(byRow);
  const share = shareInTables(ordered);
  return share >= MIN_INSIDE && share > shareInTables(written) ? ordered : written;
}

/** The share of the lines of a page that are in its tables. */
function shareInTables({ lines, tables }: LinesWithTables): number {
  return tables.reduce((sum, { start, end }) => sum + end - start, 0) / lines.length;
}

/** Finds the tables among lines. The work grows with the number of lines, whatever they are. */
function tablesIn(lines: readonly Line[]): LinesWithTables {
  const tables: UnruledTable[] = [];
  let steps = lines.length * STEPS_PER_LINE;
  for (let start = 0; start < lines.length;) {
    const run = steps > 0 ? readTable(lines, start) : undefined;
    steps -= run?.steps ?? 0;
    const found = run && understand(run);
    const end = found?.end ?? run?.next ?? start + 1;
    if (found?.element !== undefined) tables.push({ element: found.element, start, end });
    start = end;
  }
  return { lines, tables };
}

/** Reads rows a second time when the first one has shown how far the lines of a cell are from each other. */
function readTable(lines: readonly Line[], start: number): RowRun {
  const trial = readRows(lines, start, MAX_LINE_GAP);
  if (trial.rows.length < 2) return trial;
  const leading = trial.isByCell ? leadingOf(trial.rows, 0.5) : leadingOfColumns(trial.rows);
  // A larger distance of lines written one after the other is that of rows.
  const isRows = !trial.isByCell && leading > MAX_LEADING;
  const run = readRows(lines, start, (isRows ? LINE_GAP : leading) * GAP_TOLERANCE);
  return { ...run, steps: trial.steps + run.steps };
}

/** What rows are, up to the line `end`: a table, or text. `undefined` when they may be anything. */
function understand({ rows, end, isByCell }: RowRun): Understood | undefined {
  if (!isTable(rows)) return undefined;
  if (isNumbered(rows)) return { end };
  if (isByCell) return toTable(rows, end);
  if (isJustified(rows)) return { end };
  return toTable(joinLinesOfRows(rows), end);
}

interface Understood {
  readonly end: number;
  readonly element?: DocumentElement;
}

/** The table without rows of one cell at its end, which are rather the text that follows it. */
function toTable(all: readonly Row[], end: number): Understood | undefined {
  const rows = all.slice(0, all.findLastIndex((row) => !isLonely(row)) + 1);
  if (!isTable(rows)) return undefined;
  const { headers, body } = toTexts(rows);
  return {
    element: { category: "table", content: { headers, rows: body, total_rows: body.length } },
    end: all[rows.length]?.start ?? end,
  };
}

/** Two lines with a gap may be a line of a heading. */
function isTable(rows: readonly Row[]): boolean {
  const wide = rows.filter(({ cells }) => cells.length >= 2);
  return wide.length >= 3 || (wide.length === 2 && wide.every(({ cells }) => cells.length >= 3));
}

/** Whether rows are justified lines, of which some have wide gaps between their words: only their ends are below each other. */
function isJustified(all: readonly Row[]): boolean {
  // The last line of a paragraph may be short.
  const rows = all.filter((row) => !isLonely(row));
  const [start, end] = [edgeOf(rows, "x"), edgeOf(rows, "end")];
  const isFlush = rows.every(({ cells }) => {
    const [first, last] = [cells[0], cells.at(-1)];
    return first !== undefined && last !== undefined &&
      Math.abs(first.x - start) <= MAX_RAGGED && Math.abs(last.end - end) <= MAX_RAGGED &&
      cells.every((cell, index) => index === 0 || gapBetween(cells[index - 1], cell) <= MAX_WORD_GAP);
  });
  return isFlush && !rows.every(({ cells }) => isAligned(rows[0]?.cells ?? [], cells));
}

/** Whether cells stand below others, by their left edges, their right ones, or their middles. */
function isAligned(above: readonly Cell[], cells: readonly Cell[]): boolean {
  return cells.every(({ x, end }, index) => {
    const { x: aboveX = Infinity, end: aboveEnd = Infinity } = above[index] ?? {};
    const [left, right] = [x - aboveX, end - aboveEnd];
    return [left, right, (left + right) / 2].some((distance) => Math.abs(distance) <= ALIGNED);
  });
}

function edgeOf(rows: readonly Row[], edge: "x" | "end"): number {
  const [first] = rows;
  return (edge === "x" ? first?.cells[0]?.x : first?.cells.at(-1)?.end) ?? 0;
}

function gapBetween(before: Cell | undefined, cell: Cell): number {
  return (cell.x - (before?.end ?? 0)) / (cell.texts[0]?.size ?? 1);
}

/** Whether rows are the notes or steps 1, 2, 3 …, each with its number to the left. */
function isNumbered(rows: readonly Row[]): boolean {
  const numbers = rows.map(({ cells: [first, , ...others] }) =>
    others.length === 0
      ? Number.parseInt(/^\d{1,3}$/.exec(first?.texts[0]?.text.trim() ?? "")?.[0] ?? "")
      : NaN
  );
  const [start = NaN] = numbers;
  return numbers.every((number, index) => number === start + index);
}
