/**
 * The order of pages that write the cells of a table neither row by row nor column by column. Spreadsheet programs print
 * all cells of one line first, and then those of several lines.
 */
import type { Line, Piece } from "../lines.ts";

/** By how much the distance of the lines of a cell varies. */
const GAP_TOLERANCE = 1.05;
/** The largest distance of the lines of a cell, in heights of letters. */
const MAX_LINE_GAP = 1.5;

/** Lines that follow each other, each close below the one before. */
interface Block {
  readonly lines: Line[];
  x: number;
  end: number;
}

/** The lines row by row, each cell after the other; `undefined` when they are in this order, or column by column. */
export function orderByRows(lines: readonly Line[]): readonly Line[] | undefined {
  const blocks = toBlocks(lines.flatMap(divide));
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
function divide({ pieces, ...look }: Line): Line[] {
  return pieces.map((piece) => ({ ...look, y: piece.y, pieces: [piece] }));
}

function toBlocks(lines: readonly Line[]): Block[] {
  const gaps = lines.flatMap((line, index) => gapBelow(lines[index - 1], line) ?? []).sort((a, b) => a - b);
  const most = (gaps[Math.floor(gaps.length / 2)] ?? 1) * GAP_TOLERANCE;
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
  return gap > 0.5 && gap <= MAX_LINE_GAP && other.x < one.end && one.x < other.end ? gap : undefined;
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
