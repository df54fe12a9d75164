/** Cells that reach over others, in tables whose files say so. */
import type { TableCell } from "@a2c-smcp/sdk";

/** What stands for a cell that the one on its left, or the one above it, covers. */
export const COVERED_FROM_LEFT: unique symbol = Symbol("covered from the left");
export const COVERED_FROM_ABOVE: unique symbol = Symbol("covered from above");

export type PlacedCell = TableCell | typeof COVERED_FROM_LEFT | typeof COVERED_FROM_ABOVE;

/** The ranges of cells that are one, such as `A1:C1`; A1 is the first cell of the first row. */
export function mergedRanges(rows: readonly (readonly PlacedCell[])[]): string[] {
  const ranges: string[] = [];
  for (const [row, cells] of rows.entries()) {
    for (const [column, cell] of cells.entries()) {
      if (typeof cell === "symbol") continue;
      let [right, below] = [column, row];
      while (cells[right + 1] === COVERED_FROM_LEFT) right++;
      while (rows[below + 1]?.[column] === COVERED_FROM_ABOVE) below++;
      if (right === column && below === row) continue;
      ranges.push(`${columnName(column)}${row + 1}:${columnName(right)}${below + 1}`);
    }
  }
  return ranges;
}

/** The letters of a column, by its number from 0. */
export function columnName(column: number): string {
  let name = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  }
  return name;
}
