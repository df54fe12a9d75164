/**
 * The rows of a table without drawn lines, by the order in which a page writes its texts: one cell after the other, each
 * with all its lines, from left to right, and then the next row. A page that writes line by line has a row for each line.
 */
import { hasLeader, type Line } from "../lines.ts";
import { isItemMark } from "../list_items.ts";
import { type Cell, type CellText, Columns, isLonely, type Row, sizeOf } from "./cells.ts";

/** Rows that fit below each other. */
export interface RowRun {
  readonly rows: readonly Row[];
  /** The number of the line of the page after the last row. */
  readonly end: number;
  /** Whether a cell began above the end of the cell before it, so that the page writes cell by cell. */
  readonly isByCell: boolean;
  /** The number of the line with which the next rows may begin if these are no table. */
  readonly next: number;
  /** How many texts were looked at. */
  readonly steps: number;
}

/** With more lines in a cell, or more cells in a row, texts are columns of prose or a drawing. */
const MAX_CELL_LINES = 30;
const MAX_CELLS = 100;
/** With more rows of one cell that follow each other, a table has ended. */
const MAX_LONELY_ROWS = 2;
/** The distance of two rows, in heights of letters, at most: of two cells, and of more. */
const MAX_ROW_GAPS = [3, 5] as const;
/** A row with letters so much larger than those of the row before is a heading. */
const HEADING_SCALE = 1.15;
/** How far from its number the sign of a currency stands at most, in heights of letters. */
const MAX_SIGN_GAP = 6;
/** How far, in points, texts of neighboring columns may overlap. */
const OVERLAP = 1;

/**
 * Reads rows from a line of a page on, as far as they fit below each other.
 *
 * @param lineGap the distance of the lines of a cell, in heights of letters, at most
 */
export function readRows(lines: readonly Line[], start: number, lineGap: number): RowRun {
  const reader = new RowReader(start, lineGap);
  let at = start;
  for (; at < lines.length; at++) {
    const { pieces = [], size = 0, font = "" } = lines[at] ?? {};
    const misfit = pieces.findIndex((piece) => !reader.add({ ...piece, size, font }, at));
    if (misfit === 0) return reader.end(at);
    if (misfit > 0) return reader.endWithoutRow();
  }
  return reader.end(at);
}

class RowReader {
  readonly #lineGap: number;
  readonly #columns = new Columns();
  readonly #rows: Row[] = [];
  /** The row that is being read. */
  #row: Row | undefined;
  #isByCell = false;
  #next: number;
  #steps = 0;

  constructor(start: number, lineGap: number) {
    this.#next = start + 1;
    this.#lineGap = lineGap;
  }

  /** `false` when a text cannot belong to the table. */
  add(text: CellText, at: number): boolean {
    this.#steps++;
    const row = this.#row;
    const cell = row?.cells.at(-1);
    if (row === undefined || cell === undefined) return this.#begin(text, at);
    if (this.#continues(cell, text)) return this.#extend(row, cell, text);
    const isRight = text.x >= cell.end - OVERLAP;
    const below = (row.bottom - text.y) / text.size;
    if (below > (isRight ? 0.8 : 0.5)) {
      // Each of the lines of a paragraph would begin the same paragraph.
      if (this.#rows.length === 0 && isLonely(row)) this.#next = Math.max(this.#next, at);
      return this.#commit() && this.#begin(text, at);
    }
    return isRight && this.#addCell(text);
  }

  /** The rows, with the last one if it fits, before a line of the page. */
  end(at: number): RowRun {
    const last = this.#row;
    if (last !== undefined && !this.#commit()) return this.endWithoutRow();
    return this.#run(at);
  }

  endWithoutRow(): RowRun {
    return this.#run(this.#row?.start ?? 0);
  }

  #run(end: number): RowRun {
    return { rows: this.#rows, end, isByCell: this.#isByCell, next: this.#next, steps: this.#steps };
  }

  #begin(text: CellText, start: number): boolean {
    this.#row = { cells: [cellOf(text)], start, top: text.y, bottom: text.y };
    return true;
  }

  /** Whether a text is the next line of a cell. */
  #continues({ texts, x, end }: Cell, text: CellText): boolean {
    const last = texts.at(-1);
    if (last === undefined || text.x >= end || text.end <= x) return false;
    // What stands above the head of a table has another look.
    if (this.#rows.length === 0 && (last.font !== text.font || last.size !== text.size)) return false;
    const distance = (last.y - text.y) / Math.max(last.size, text.size);
    return distance > 0.5 && distance <= this.#lineGap;
  }

  #extend(row: Row, cell: Cell, text: CellText): boolean {
    if (cell.texts.length >= MAX_CELL_LINES) return false;
    cell.texts.push(text);
    cell.x = Math.min(cell.x, text.x);
    cell.end = Math.max(cell.end, text.end);
    row.bottom = Math.min(row.bottom, text.y);
    return true;
  }

  /** Adds a cell to the right of the last one. */
  #addCell(text: CellText): boolean {
    // A text at the top of the next column stands beside all rows, and must not change them.
    if (!this.#canUnite(text)) return false;
    while (this.#isBeside(this.#rows.at(-1), text)) {
      if (!this.#uniteWithRowBefore()) return false;
    }
    const row = this.#row;
    const above = row?.cells.at(-1)?.texts.at(-1);
    const cell = row?.cells.at(-1);
    if (row === undefined || cell === undefined || above === undefined || row.cells.length >= MAX_CELLS) {
      return false;
    }
    if (isAmount(above, text)) {
      cell.texts.splice(-1, 1, { ...above, text: `${above.text.trim()} ${text.text}`, end: text.end });
      cell.end = text.end;
      return true;
    }
    if (text.y > above.y + text.size * 0.3) this.#isByCell = true;
    row.cells.push(cellOf(text));
    row.top = Math.max(row.top, text.y);
    row.bottom = Math.min(row.bottom, text.y);
    return true;
  }

  #isBeside(row: Row | undefined, text: CellText): boolean {
    return row !== undefined && text.y > row.bottom - text.size * 0.5;
  }

  /** Whether all rows beside which a text stands are paragraphs of one cell, but the first of them. */
  #canUnite(text: CellText): boolean {
    const first = this.#rows.findLastIndex((row) => !this.#isBeside(row, text)) + 1;
    return [...this.#rows.slice(first + 1), ...(this.#row ? [this.#row] : [])].every((row) =>
      first >= this.#rows.length || isLonely(row)
    );
  }

  /** Paragraphs of a cell look like rows until the next cell begins beside the first of them. */
  #uniteWithRowBefore(): boolean {
    const [before, row] = [this.#rows.at(-1), this.#row];
    const [cell, paragraph, ...others] = [before?.cells.at(-1), ...row?.cells ?? []];
    if (before === undefined || row === undefined || cell === undefined || paragraph === undefined) {
      return false;
    }
    if (others.length > 0 || paragraph.x >= cell.end || paragraph.end <= cell.x) return false;
    this.#rows.pop();
    this.#row = before;
    return paragraph.texts.every((text) => this.#extend(before, cell, text));
  }

  /** Ends the row that is being read. `false` when it does not fit below the others. */
  #commit(): boolean {
    const [before, row] = [this.#rows.at(-1), this.#row];
    if (row === undefined || !isRow(row)) return false;
    if (before === undefined && row.cells.length < 2) return false;
    if (before !== undefined && !isBelow(before, row)) return false;
    if (isLonely(row) && this.#rows.slice(-MAX_LONELY_ROWS).every(isLonely)) return false;
    if (!this.#columns.fit(row.cells)) return false;
    this.#rows.push(row);
    this.#row = undefined;
    return true;
  }
}

/** Whether a sign of a currency, which some tables set in line below each other, belongs to a number after it. */
function isAmount(sign: CellText, { text, x, y, size }: CellText): boolean {
  return /^\s*[$€£¥]\s*$/u.test(sign.text) && /^\s*[(−–-]?\s?[\d.]/u.test(text) &&
    x - sign.end <= size * MAX_SIGN_GAP &&
    Math.abs(y - sign.y) <= size * 0.3;
}

function cellOf(text: CellText): Cell {
  return { texts: [text], x: text.x, end: text.end };
}

/** Whether a row is neither an item of a list nor an entry of a table of contents or a form. */
function isRow({ cells }: Row): boolean {
  const isItem = cells.length === 2 && isItemMark(cells[0]?.texts[0]?.text ?? "");
  return !isItem && !cells.some(({ texts }) => texts.some(({ text }) => hasLeader(text)));
}

/** Whether a row is so near below another one as rows of a table are. */
function isBelow(before: Row, row: Row): boolean {
  const [sizeBefore, size] = [sizeOf(before), sizeOf(row)];
  const [narrow, wide] = MAX_ROW_GAPS;
  const most = Math.min(before.cells.length, row.cells.length) >= 3 ? wide : narrow;
  return size <= sizeBefore * HEADING_SCALE && before.bottom - row.top <= Math.max(sizeBefore, size) * most;
}
