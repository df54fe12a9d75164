/** The rows of a table on a page that writes each line through all of its cells. */
import { type CellText, Columns, type Row, sizeOf } from "./cells.ts";

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
