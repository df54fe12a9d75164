/** Rows of cells in columns of equal width. */
import { cropToWidth, displayWidth, padToWidth } from "./display_width.ts";
import { toSafeLine } from "./safe_text.ts";

/** Between two columns. */
const GAP = "  ";
/** A column is not cropped to less. */
const MIN_COLUMN_WIDTH = 8;

/** How rows are set. */
export interface ColumnOptions {
  /** The columns of the terminal that a row may take; as many as it needs by default. */
  readonly width?: number | undefined;
  /** Which column is cropped when a row would take more; the first by default. */
  readonly flexible?: number | undefined;
  /** Columns whose cells stand at their right edge; none by default. */
  readonly right?: readonly number[] | undefined;
  /** Wraps a padded cell, in colours for one; leaves it by default. */
  readonly paint?: ((cell: string, column: number) => string) | undefined;
}

/** Sets rows in columns of equal width, two spaces apart. */
export function alignColumns(rows: readonly (readonly string[])[], options: ColumnOptions = {}): string[] {
  const { right = [], paint = (cell) => cell } = options;
  const widths = fitWidths(widthsOf(rows), options);
  return rows.map((row) => {
    // A row that ends early has nothing to fill up behind it
    const last = row.findLastIndex((cell) => cell !== "");
    return row.slice(0, last + 1).map((cell, column) => {
      const width = widths[column] ?? 0;
      const isRight = right.includes(column);
      const cropped = cropToWidth(cell, width);
      const padded = column === last && !isRight
        ? cropped
        : padToWidth(cropped, width, isRight ? "right" : "left");
      return paint(padded, column);
    }).join(GAP);
  });
}

/** Rows of strangers' words for a terminal: made safe, and each column in the colour of its place. */
export function drawColumns(
  rows: readonly (readonly string[])[],
  options: Pick<ColumnOptions, "right"> & {
    readonly paints: readonly (((cell: string) => string) | undefined)[];
  },
): string {
  const { paints, right } = options;
  const paint = (cell: string, column: number) => paints[column]?.(cell) ?? cell;
  return alignColumns(rows.map((row) => row.map(toSafeLine)), { right, paint }).join("\n");
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell));
  }
  return widths;
}

/** Takes what is too much from the flexible column, and what is still too much from the widest. */
function fitWidths(widths: readonly number[], { width = Infinity, flexible = 0 }: ColumnOptions): number[] {
  const fitted = [...widths];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  const excess = () => fitted.reduce((sum, each) => sum + each, gaps) - width;
  const shrink = (column: number, least: number) => {
    const current = fitted[column] ?? 0;
    fitted[column] = Math.min(current, Math.max(least, current - Math.max(0, excess())));
  };
  shrink(flexible, MIN_COLUMN_WIDTH);
  const widestFirst = [...fitted.keys()].sort((a, b) => (fitted[b] ?? 0) - (fitted[a] ?? 0));
  for (const least of [MIN_COLUMN_WIDTH, 1]) {
    for (const column of widestFirst) shrink(column, least);
  }
  return fitted;
}
