/** A table with lines between its cells. */
import { cropToWidth, displayWidth, padToWidth } from "./display_width.ts";
import type { Palette } from "./palette.ts";

/** A column is not cropped to less; columns that find no room for it are left out. */
const MIN_CELL_WIDTH = 3;
/** An edge and a space on each side. */
const CELL_EDGES = 3;
/** Digits with points, commas and spaces between them. */
const NUMBER = /^[-+]?[\d.,\s]*%?$/;
/** What is longer is no number that anybody would read, in characters. */
const MAX_NUMBER_LENGTH = 64;

/** What a table shows; all of it is safe to print, each cell on one line. */
export interface Grid {
  readonly headers: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Draws a table of at most `width` columns of the terminal. Columns of numbers stand at their right edge. */
export function drawGrid(
  grid: Grid,
  { width, palette }: { readonly width: number; readonly palette: Palette },
): string[] {
  const count = grid.rows.reduce((most, row) => Math.max(most, row.length), grid.headers.length);
  const fitting = Math.max(1, Math.min(count, Math.floor((width - 1) / (MIN_CELL_WIDTH + CELL_EDGES))));
  const columns = Array.from({ length: fitting }, (_, i) => columnOf(grid, i));
  const widths = fitWidths(columns.map(widestOf), width - 1 - CELL_EDGES * fitting);
  const isNumeric = columns.map(([, ...cells]) => cells.length > 0 && cells.every(isNumber));
  const bar = palette.faint("│");
  const drawRow = (row: readonly string[], paint: (text: string) => string) => {
    const cells = widths.map((width, i) =>
      paint(padToWidth(cropToWidth(row[i] ?? "", width), width, isNumeric[i] ? "right" : "left"))
    );
    return `${bar} ${cells.join(` ${bar} `)} ${bar}`;
  };
  const rule = (left: string, middle: string, right: string) =>
    palette.faint(`${left}${widths.map((width) => "─".repeat(width + 2)).join(middle)}${right}`);
  const lines = [
    rule("┌", "┬", "┐"),
    drawRow(grid.headers, palette.strong),
    rule("├", "┼", "┤"),
    ...grid.rows.map((row) => drawRow(row, (text) => text)),
    rule("└", "┴", "┘"),
  ];
  return fitting === count ? lines : [...lines, palette.faint(`… ${count - fitting} more columns`)];
}

function columnOf({ headers, rows }: Grid, i: number): string[] {
  return [headers[i] ?? "", ...rows.map((row) => row[i] ?? "")];
}

function widestOf(cells: readonly string[]): number {
  return cells.reduce((widest, cell) => Math.max(widest, displayWidth(cell)), 1);
}

function isNumber(cell: string): boolean {
  return cell === "" || cell.length <= MAX_NUMBER_LENGTH && NUMBER.test(cell) && /\d/.test(cell);
}

/** The widest columns give first, until all of them find room. */
function fitWidths(widths: readonly number[], room: number): number[] {
  let most = Math.max(...widths);
  const sum = () => widths.reduce((total, width) => total + Math.min(width, most), 0);
  while (most > MIN_CELL_WIDTH && sum() > room) most--;
  return widths.map((width) => Math.min(width, most));
}
