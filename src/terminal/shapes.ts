/** Text laid out for a terminal: columns, boxes and trees. */
import { cropToWidth, displayWidth, linesOf, padToWidth, wrapToWidth } from "./display_width.ts";
import { toSafeLine, withoutSequences } from "../text/safe_text.ts";
import type { Palette } from "./screen.ts";

type Row = readonly string[];
type Paint = (text: string) => string;

const GAP = "  ";
/** A flexible column is not cropped to less before the others shrink. */
const MIN_FLEXIBLE_WIDTH = 8;

export interface ColumnOptions {
  /** The longest row, in columns of the terminal; unlimited by default. */
  readonly width?: number | undefined;
  /** The index of the column that is cropped first when a row is too long; 0 by default. */
  readonly flexible?: number | undefined;
  /** The indexes of right-aligned columns; none by default. */
  readonly right?: readonly number[] | undefined;
  /** Decorates a padded cell, for example with a color; unchanged by default. */
  readonly paint?: ((cell: string, column: number) => string) | undefined;
}

/** Aligns rows in columns, two spaces apart. */
export function alignColumns(rows: readonly Row[], options: ColumnOptions = {}): string[] {
  const { right = [], paint = (cell) => cell, width = Infinity, flexible = 0 } = options;
  const natural = widestCells(rows);
  const free = width - GAP.length * Math.max(0, natural.length - 1);
  const widths = fitWidths(natural, free, flexible);
  return rows.map((row) => {
    // The last cell that is not empty needs no padding.
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

/** Aligns rows of untrusted text: each cell is made safe to print, each column has the color at its index. */
export function drawColumns(
  rows: readonly Row[],
  options: Pick<ColumnOptions, "right"> & { readonly paints: readonly (Paint | undefined)[] },
): string {
  const { paints, right } = options;
  const paint = (cell: string, column: number) => paints[column]?.(cell) ?? cell;
  return alignColumns(rows.map((row) => row.map(toSafeLine)), { right, paint }).join("\n");
}

function widestCells(rows: readonly Row[]): number[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, displayWidth(cell));
  }
  return widths;
}

/**
 * Shrinks columns until all of them together take at most `free`: first the flexible column, down to 8, then the
 * widest ones equally.
 */
function fitWidths(widths: readonly number[], free: number, flexible: number): number[] {
  const total = widths.reduce((sum, width) => sum + width, 0);
  if (total <= free) return [...widths];
  const fitted = widths.map((width, column) =>
    column === flexible ? Math.min(width, Math.max(MIN_FLEXIBLE_WIDTH, width - (total - free))) : width
  );
  let most = Math.min(Math.max(...fitted), Math.max(1, free));
  const sum = () => fitted.reduce((sum, width) => sum + Math.min(width, most), 0);
  while (most > 1 && sum() > free) most--;
  return fitted.map((width) => Math.min(width, most));
}

/** The columns that a box needs beside its lines: an edge and a space on each side. */
export const BOX_EDGES = 4;

/** A box. Its text must be safe to print; longer lines are cropped. */
export interface Box {
  readonly title: string;
  readonly lines: readonly string[];
  readonly footer?: string | undefined;
}

export function drawBox(
  { title, lines, footer = "" }: Box,
  { width, palette }: { readonly width: number; readonly palette: Palette },
): string {
  const inner = width - BOX_EDGES;
  const edge = palette.faint("│");
  return [
    drawEdge(title, { width, corners: "╭╮", paint: palette.strong, palette }),
    ...lines.map((line) => `${edge} ${padToWidth(cropToWidth(line, inner), inner)} ${edge}`),
    drawEdge(footer, { width, corners: "╰╯", paint: palette.faint, palette }),
  ].join("\n");
}

function drawEdge(
  text: string,
  options: {
    readonly width: number;
    readonly corners: string;
    readonly paint: Paint;
    readonly palette: Palette;
  },
): string {
  const { width, corners, paint, palette } = options;
  const [left = "", right = ""] = corners;
  if (text === "") return palette.faint(`${left}${"─".repeat(width - 2)}${right}`);
  const shown = cropToWidth(text, width - 6);
  const rest = "─".repeat(width - 5 - displayWidth(shown));
  return `${palette.faint(`${left}─`)} ${paint(shown)} ${palette.faint(`${rest}${right}`)}`;
}

/** How many columns each level of a tree is indented by. */
export const TREE_INDENT = 3;

/** A node of a tree. Its text must be safe to print. */
export interface Branch {
  readonly line: string;
  /** Lines below `line`, above the child branches. */
  readonly details?: readonly string[] | undefined;
  readonly branches?: readonly Branch[] | undefined;
}

/** Draws branches below each other, with lines that connect each of them to its parent. */
export function drawTree(branches: readonly Branch[], palette: Palette): string[] {
  return branches.flatMap(({ line, details = [], branches: below = [] }, i) => {
    const isLast = i === branches.length - 1;
    const trunk = isLast ? "   " : palette.faint("│  ");
    const joint = below.length === 0 ? "  " : palette.faint("│ ");
    return [
      `${palette.faint(isLast ? "└─" : "├─")} ${line}`,
      ...details.map((detail) => `${trunk}${joint}${detail}`),
      ...drawTree(below, palette).map((line) => `${trunk}${line}`),
    ];
  });
}

export interface QuoteOptions {
  readonly columns: number;
  /** The most lines; 40 by default. */
  readonly maxLines?: number | undefined;
}

/** The most lines of a quoted text, and the most characters that are looked at. */
const MAX_QUOTED_LINES = 40;
const MAX_QUOTED_LENGTH = 8_000;

/**
 * Indents untrusted text, so that it cannot pass for output of this program: each line of it begins with two spaces,
 * also where it is wrapped. A text with more lines ends with `…`.
 */
export function quoteText(text: string, { columns, maxLines = MAX_QUOTED_LINES }: QuoteOptions): string[] {
  const safe = withoutSequences(text.slice(0, MAX_QUOTED_LENGTH)).trim();
  const width = Math.max(1, columns - 1 - GAP.length);
  const lines: string[] = [];
  for (const line of linesOf(safe)) {
    lines.push(...wrapToWidth(line, width, { maxLines: maxLines - lines.length }));
    if (lines.length > maxLines) break;
  }
  const isCut = text.length > MAX_QUOTED_LENGTH || lines.length > maxLines;
  return [...lines.slice(0, maxLines), ...(isCut ? ["…"] : [])].map((line) => `${GAP}${line}`.trimEnd());
}
