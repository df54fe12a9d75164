/** The tables of some rows of a sheet: blocks that empty rows separate. */
import { MAX_COLUMNS } from "../sections.ts";
import type { TableCell } from "@a2c-smcp/sdk";
import { columnName } from "../merged_cells.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { type CellReader, type CellValue, parseCellName } from "./cells.ts";

export interface CellFormula {
  readonly name: string;
  readonly expression: string;
  readonly result: TableCell;
  /** The cells that it also fills, such as `B1:B9`. */
  readonly fills?: string | undefined;
}

export interface TableOptions {
  readonly cells: CellReader;
  /** The most characters of all cells; further rows are left out. */
  readonly maxBytes: number;
  /** The first table of the sheet, when the rows are those of a later page. */
  readonly continued?: SheetTable | undefined;
}

interface Row {
  /** Its number, from 0. */
  readonly row: number;
  readonly cells: ReadonlyMap<number, CellValue>;
  /** Whether it has more columns than are shown. */
  readonly isCut: boolean;
  readonly isHidden: boolean;
}

export interface SheetTables {
  readonly tables: readonly SheetTable[];
  /** The first row that is left out, from 0, since a page has no room for it; `undefined` when none is. */
  readonly leftOutFrom: number | undefined;
  /** The first column that is left out, such as `IW`; `undefined` when none is. */
  readonly leftOutColumn: string | undefined;
}

export function readTables(
  rows: readonly XmlNode[],
  { cells, maxBytes, continued }: TableOptions,
): SheetTables {
  const tables: SheetTable[] = [];
  let block: Row[] = [];
  let size = 0;
  let leftOutFrom: number | undefined;
  let leftOutColumn: string | undefined;
  const end = () => {
    const isContinued = tables.length === 0 && continued !== undefined;
    if (block.length > 0) {
      tables.push(new SheetTable(block, isContinued ? continued.headers : undefined));
    }
    block = [];
  };
  let next = 0;
  for (const node of rows) {
    const row = readRow(node, next, cells);
    next = row.row + 1;
    if (row.isCut) leftOutColumn = columnName(MAX_COLUMNS);
    if (row.cells.size === 0) {
      end();
      continue;
    }
    if (block.length > 0 && row.row > (block.at(-1)?.row ?? 0) + 1) end();
    for (const { shown } of row.cells.values()) size += typeof shown === "string" ? shown.length + 3 : 8;
    if (size > maxBytes / 2) {
      leftOutFrom = row.row;
      break;
    }
    block.push(row);
  }
  end();
  return { tables, leftOutFrom, leftOutColumn };
}

function readRow(node: XmlNode, next: number, reader: CellReader): Row {
  const given = Number(node.attributes["r"]);
  const row = Number.isSafeInteger(given) && given > 0 ? given - 1 : next;
  const cells = new Map<number, CellValue>();
  let isCut = false;
  let column = 0;
  for (const cell of childrenOf(node, "c")) {
    column = parseCellName(cell.attributes["r"] ?? "")?.column ?? column;
    const value = reader.read(cell);
    const isEmpty = value.shown === null && value.formula === undefined;
    if (!isEmpty && column < MAX_COLUMNS) cells.set(column, value);
    else if (!isEmpty) isCut = true;
    column++;
  }
  return { row, cells, isCut, isHidden: ["1", "true"].includes(node.attributes["hidden"] ?? "") };
}

/** The formulas of cells. Those that differ only in their place from the one above are filled in from there. */
function formulasOf(block: readonly Row[]): CellFormula[] {
  type Filled = { -readonly [Member in keyof CellFormula]: CellFormula[Member] };
  const formulas: CellFormula[] = [];
  const above = new Map<
    number,
    { readonly row: number; readonly relative: string; readonly first: Filled }
  >();
  for (const { row, cells } of block) {
    for (const [column, { formula, fills, shown }] of cells) {
      if (formula === undefined || formula === "") continue;
      const relative = relativeFormula(formula, row);
      const before = fills === undefined ? above.get(column) : undefined;
      const isSame = before?.row === row - 1 && before.relative === relative;
      const name = `${columnName(column)}${row + 1}`;
      const first: Filled = isSame ? before.first : { name, expression: formula, result: shown, fills };
      if (isSame) first.fills = `${first.name}:${name}`;
      else formulas.push(first);
      if (fills === undefined) above.set(column, { row, relative, first });
    }
  }
  return formulas;
}

/** A formula with the rows of its references counted from its own row, where they move with it. */
function relativeFormula(formula: string, row: number): string {
  return formula.replace(
    /"[^"]*"|'[^']*'|(?<![\w.])([A-Z]{1,3})(\d{1,7})(?![\w.(!])/g,
    (whole, letters?: string, digits?: string) =>
      letters === undefined ? whole : `${letters}[${Number(digits) - row}]`,
  );
}

export class SheetTable {
  /** The names of the columns; none when the table does not begin with them. */
  readonly headers: readonly string[];
  /** The rows below the names, as they are shown. */
  readonly rows: readonly (readonly TableCell[])[];
  /** The values of the rows where some differ from what is shown. */
  readonly rawRows: readonly (readonly TableCell[])[] | undefined;
  /** The formulas that are written in its cells. */
  readonly formulas: readonly CellFormula[];
  /** How many cells have a formula that is written in another cell, since it was filled in from there. */
  readonly filled: number;
  /** How many formulas have no result in the file. */
  readonly uncalculated: number;
  readonly columns: number;
  readonly totalRows: number;
  readonly #block: readonly Row[];
  readonly #first: number;
  readonly #last: number;

  /** @param headers the names of the columns, of a table that begins on a page before */
  constructor(block: readonly Row[], headers: readonly string[] | undefined) {
    this.#block = block;
    const used = block.flatMap(({ cells }) => [...cells.keys()]);
    this.#first = used.reduce((least, column) => Math.min(least, column), Infinity);
    this.#last = used.reduce((most, column) => Math.max(most, column), 0);
    this.columns = this.#last - this.#first + 1;
    const [first] = block;
    const hasHeaders = headers === undefined && first !== undefined && block.length > 1 &&
      this.#isHeader(first);
    this.headers = headers ??
      (hasHeaders ? this.#line(first, ({ shown }) => shown).map((cell) => String(cell ?? "")) : []);
    const body = hasHeaders ? block.slice(1) : block;
    this.rows = body.map((row) => this.#line(row, ({ shown }) => shown));
    const differs = body.some(({ cells }) => [...cells.values()].some(({ shown, raw }) => shown !== raw));
    this.rawRows = differs ? body.map((row) => this.#line(row, ({ raw }) => raw)) : undefined;
    this.totalRows = body.length;
    const values = block.flatMap(({ cells }) => [...cells.values()]);
    this.uncalculated = values.filter(({ isUncalculated }) => isUncalculated).length;
    const written = values.filter(({ formula }) => formula !== undefined).length;
    this.formulas = formulasOf(block);
    this.filled = written - this.formulas.length;
  }

  /** The cells that it covers, such as `A1:D12`. */
  get range(): string {
    const [start, end] = [this.#block[0]?.row ?? 0, this.#block.at(-1)?.row ?? 0];
    return `${columnName(this.#first)}${start + 1}:${columnName(this.#last)}${end + 1}`;
  }

  /** Whether it covers the cell, or the first cell of a range. */
  contains(name: string): boolean {
    const cell = parseCellName(name);
    const [start, end] = [this.#block[0]?.row ?? 0, this.#block.at(-1)?.row ?? 0];
    return cell !== undefined && cell.row >= start && cell.row <= end && cell.column >= this.#first &&
      cell.column <= this.#last;
  }

  /** The columns of a range that it has, from 0; the first is behind the last when it has none. */
  columnsWithin(first: number, last: number): [first: number, last: number] {
    return [Math.max(first, this.#first), Math.min(last, this.#last)];
  }

  /** The first and the last row, from 1, of each run of hidden ones. */
  get hiddenRows(): readonly (readonly [first: number, last: number])[] {
    const runs: [first: number, last: number][] = [];
    for (const { row, isHidden } of this.#block) {
      const run = runs.at(-1);
      if (isHidden && run?.[1] === row) run[1] = row + 1;
      else if (isHidden) runs.push([row + 1, row + 1]);
    }
    return runs;
  }

  textAt(name: string): string {
    const cell = parseCellName(name);
    const shown = this.#block.find(({ row }) => row === cell?.row)?.cells.get(cell?.column ?? -1)?.shown;
    return shown === undefined || shown === null ? "" : String(shown);
  }

  /** Names of columns are texts, one for each column or nearly so. */
  #isHeader({ cells }: Row): boolean {
    const values = [...cells.values()];
    const areTexts = values.every(({ shown, formula }) => typeof shown === "string" && formula === undefined);
    return areTexts && values.length >= Math.max(1, this.columns * 0.6) && this.columns > 1;
  }

  #line({ cells }: Row, read: (value: CellValue) => TableCell): TableCell[] {
    return Array.from({ length: this.columns }, (_, index) => {
      const value = cells.get(this.#first + index);
      return value === undefined ? null : read(value);
    });
  }
}

/** The hidden columns and rows of a table, such as `column C` or `rows 4–6`. */
export function hiddenWithin(sheet: XmlNode, table: SheetTable): string[] {
  const columns = childrenOf(at(sheet, "worksheet", "cols"), "col").flatMap(({ attributes }) => {
    const { hidden = "", min = "", max = "" } = attributes;
    const [first, last] = table.columnsWithin(Number(min) - 1, Number(max) - 1);
    return ["1", "true"].includes(hidden) && first <= last
      ? [[columnName(first), columnName(last)] as const]
      : [];
  });
  return [
    ...columns.map((run) => rangeText("column", run)),
    ...table.hiddenRows.map((run) => rangeText("row", run)),
  ];
}

function rangeText(noun: string, [first, last]: readonly [string | number, string | number]): string {
  return first === last ? `${noun} ${first}` : `${noun}s ${first}–${last}`;
}

/** The merged ranges of cells of a table, such as `A1:C1`. */
export function mergedWithin(sheet: XmlNode, table: SheetTable): string[] {
  return childrenOf(at(sheet, "worksheet", "mergeCells"), "mergeCell")
    .flatMap(({ attributes }) => attributes["ref"] ?? [])
    .filter((ref) => table.contains(ref));
}
