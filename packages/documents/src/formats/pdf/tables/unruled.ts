/** Tables without drawn lines. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import {
  type Cell,
  GAP_TOLERANCE,
  isLonely,
  joinLinesOfRows,
  leadingOf,
  leadingOfColumns,
  LINE_GAP,
  type Row,
  toTexts,
} from "./cells.ts";
import type { Line, Piece } from "../lines.ts";
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

/** By how much the distance of the lines of a cell varies. */
const BLOCK_TOLERANCE = 1.05;
/** The largest distance of the lines of a cell, in heights of letters. */
const MAX_BLOCK_GAP = 1.5;

/** Lines that follow each other, each close below the one before. */
interface Block {
  readonly lines: Line[];
  x: number;
  end: number;
}

/** The lines row by row, each cell after the other; `undefined` when they are in this order, or column by column. */
function orderByRows(lines: readonly Line[]): readonly Line[] | undefined {
  const blocks = toBlocks(lines.flatMap(toPieces));
  const rows = toRows(blocks);
  const rowOf = new Map(rows.flatMap((row, index) => row.map((block) => [block, index] as const)));
  const passes: Block[][] = [];
  let before = Infinity;
  for (const block of blocks) {
    const row = rowOf.get(block) ?? 0;
    if (row < before) passes.push([block]);
    else passes.at(-1)?.push(block);
    before = row;
  }
  const spans = passes.map((pass) => spanOf(pass));
  const isByColumn = spans.every(({ x }, index) => x >= (spans[index - 1]?.end ?? -Infinity));
  if (isByColumn) return undefined;
  return rows.flatMap((row) => row.toSorted((one, other) => one.x - other.x).flatMap(({ lines }) => lines));
}

/** A line for each piece. */
function toPieces({ pieces, ...look }: Line): Line[] {
  return pieces.map((piece) => ({ ...look, y: piece.y, pieces: [piece] }));
}

function toBlocks(lines: readonly Line[]): Block[] {
  const gaps = lines.flatMap((line, index) => gapBelow(lines[index - 1], line) ?? []).sort((a, b) => a - b);
  const most = (gaps[Math.floor(gaps.length / 2)] ?? 1) * BLOCK_TOLERANCE;
  const blocks: Block[] = [];
  for (const [index, line] of lines.entries()) {
    const gap = gapBelow(lines[index - 1], line);
    const { x, end } = pieceOf(line);
    const block = blocks.at(-1);
    if (block !== undefined && gap !== undefined && gap <= most) {
      block.lines.push(line);
      block.x = Math.min(block.x, x);
      block.end = Math.max(block.end, end);
    } else blocks.push({ lines: [line], x, end });
  }
  return blocks;
}

/** The distance of two lines of a cell, in heights of letters; `undefined` when they cannot be in one. */
function gapBelow(before: Line | undefined, line: Line): number | undefined {
  if (before === undefined) return undefined;
  const [one, other] = [pieceOf(before), pieceOf(line)];
  const gap = (before.y - line.y) / line.size;
  return gap > 0.5 && gap <= MAX_BLOCK_GAP && other.x < one.end && one.x < other.end ? gap : undefined;
}

function pieceOf({ pieces: [piece] }: Line): Pick<Piece, "x" | "end"> {
  return piece ?? { x: 0, end: 0 };
}

/** Blocks that stand beside each other, directly or beside the same one, from the top to the bottom. */
function toRows(blocks: readonly Block[]): readonly (readonly Block[])[] {
  const rows: Block[][] = [];
  let bottom = -Infinity;
  for (const block of blocks.toSorted((one, other) => topOf(other) - topOf(one))) {
    if (rows.length > 0 && topOf(block) > bottom) rows.at(-1)?.push(block);
    else rows.push([block]);
    bottom = rows.at(-1)?.length === 1 ? bottomOf(block) : Math.min(bottom, bottomOf(block));
  }
  return rows;
}

function topOf({ lines: [line] }: Block): number {
  return line === undefined ? 0 : line.y + line.size * 0.7;
}

function bottomOf({ lines }: Block): number {
  const line = lines.at(-1);
  return line === undefined ? 0 : line.y - line.size * 0.2;
}

function spanOf(blocks: readonly Block[]): Pick<Piece, "x" | "end"> {
  return {
    x: blocks.reduce((least, { x }) => Math.min(least, x), Infinity),
    end: blocks.reduce((most, { end }) => Math.max(most, end), -Infinity),
  };
}
