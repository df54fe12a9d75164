/** Rows that are lines of running text, not of a table. */
import { type Cell, isLonely, type Row } from "./cells.ts";

/** The gap between words of a justified line, in heights of letters, at most. */
const MAX_WORD_GAP = 4;
/** How much the ends of justified lines differ, in points. */
const TOLERANCE = 1.5;

/** How much, in points, the edges of aligned cells differ: by chance, many edges are nearly below each other. */
const ALIGNED = 0.5;

/** Whether rows are justified lines, of which some have wide gaps between their words: only their ends are below each other. */
export function isJustified(all: readonly Row[]): boolean {
  // The last line of a paragraph may be short.
  const rows = all.filter((row) => !isLonely(row));
  const [start, end] = [edgeOf(rows, "x"), edgeOf(rows, "end")];
  const isFlush = rows.every(({ cells }) => {
    const [first, last] = [cells[0], cells.at(-1)];
    return first !== undefined && last !== undefined &&
      Math.abs(first.x - start) <= TOLERANCE && Math.abs(last.end - end) <= TOLERANCE &&
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
export function isNumbered(rows: readonly Row[]): boolean {
  const numbers = rows.map(({ cells: [first, , ...others] }) =>
    others.length === 0
      ? Number.parseInt(/^\d{1,3}$/.exec(first?.texts[0]?.text.trim() ?? "")?.[0] ?? "")
      : NaN
  );
  const [start = NaN] = numbers;
  return numbers.every((number, index) => number === start + index);
}
