/** Workbooks of Excel and others (XLSX). Formulas are shown, never run. */
import type { DocumentElement, DocumentPage, OutlineSection } from "@a2c-smcp/sdk/provider";
import {
  type DocumentFacts,
  type ParsedDocument,
  type ParseInput,
  type ParseLimits,
  unreadable,
  UnreadParts,
} from "../format.ts";
import { OfficePackage } from "../ooxml.ts";
import { PAGE_PICTURE_BYTES } from "../picture.ts";
import { notice } from "../sections.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { CellReader, parseCellName, readSharedTexts } from "./cells.ts";
import { readComments } from "./comments.ts";
import { SheetRows } from "./rows.ts";
import { hiddenWithin, mergedWithin, readTables, type SheetTable, type SheetTables } from "./tables.ts";

/** How many rows a page has; a longer sheet has several pages. */
const ROWS_PER_PAGE = 500;
/** How many rows are looked at for the names of columns. */
const HEADER_ROWS = 20;
/** The most formulas of a page that become elements of their own. */
const MAX_FORMULAS = 50;

/** Opens a workbook. A page is a sheet, or 500 rows of a long one. */
export function open({ bytes, limits }: ParseInput): ParsedDocument {
  const workbook = new Workbook(new OfficePackage(bytes, limits), limits);
  return { facts: workbook.facts(), page: (index) => workbook.page(index) };
}

interface Sheet {
  readonly name: string;
  readonly part: string;
  readonly isHidden: boolean;
  readonly rows: SheetRows;
  /** How many pages the sheets before it have. */
  readonly firstPage: number;
}

class Workbook {
  readonly #office: OfficePackage;
  readonly #limits: ParseLimits;
  readonly #cells: CellReader;
  /** The part that names the people who wrote threads. */
  readonly #people: string;
  readonly #sheets: readonly Sheet[];
  /** The names of the sheets that have no cells, or whose parts are missing. */
  readonly #leftOut: readonly string[];

  constructor(office: OfficePackage, limits: ParseLimits) {
    this.#office = office;
    this.#limits = limits;
    const { part, root } = office.main("workbook");
    const related = office.relationships(part);
    const partOf = (type: string) => office.related(part, type)[0] ?? "";
    this.#people = partOf("person");
    this.#cells = new CellReader({
      styles: office.xml(partOf("styles")),
      sharedTexts: readSharedTexts(office.xml(partOf("sharedStrings"))),
      is1904: ["1", "true"].includes(at(root, "workbookPr")?.attributes["date1904"] ?? ""),
    });
    let firstPage = 0;
    const leftOut: string[] = [];
    this.#sheets = childrenOf(at(root, "sheets"), "sheet").flatMap(({ attributes }): Sheet[] => {
      const { name = "", id = "", state = "visible" } = attributes;
      const part = related.get(id)?.target;
      const isWorksheet = related.get(id)?.type === "worksheet";
      const content = part === undefined || !isWorksheet ? undefined : office.utf8(part);
      if (part === undefined || content === undefined) {
        leftOut.push(name);
        return [];
      }
      const sheet = {
        name,
        part,
        isHidden: state !== "visible",
        rows: new SheetRows(content, limits),
        firstPage,
      };
      firstPage += pagesOf(sheet);
      return [sheet];
    });
    this.#leftOut = leftOut;
    if (this.#sheets.length === 0) throw unreadable("damaged", "the workbook has no sheets");
  }

  facts(): DocumentFacts {
    const { title, subject = "", keywords, about } = this.#office.properties();
    const pageTitles = this.#sheets.flatMap((sheet) =>
      Array.from({ length: pagesOf(sheet) }, (_, page) => titleOf(sheet, page))
    );
    const columns = this.#sheets.slice(0, 20).flatMap(({ rows }) =>
      this.#read(rows.read(0, HEADER_ROWS)).tables.flatMap(({ headers }) => headers)
    );
    return {
      title,
      pageCount: pageTitles.length,
      pageTitles,
      headings: [...this.#sheets.map(({ name }) => name), ...columns].filter((text) => text !== "").slice(
        0,
        200,
      ),
      keywords,
      about,
      outline: this.#outline(),
      opening: subject,
      losses: this.#losses(),
    };
  }

  /** The sheets, and the parts of long ones. */
  #outline(): OutlineSection[] {
    return this.#sheets.flatMap((sheet): OutlineSection[] => {
      const { firstPage } = sheet;
      const parts = Array.from({ length: pagesOf(sheet) }, (_, part) => part);
      return [
        { title: nameOf(sheet), level: 1, page: firstPage },
        ...parts.length === 1
          ? []
          : parts.map((part) => ({ title: rowsOf(sheet, part), level: 2, page: firstPage + part })),
      ];
    });
  }

  page(index: number): DocumentPage {
    const sheet = this.#sheets.findLast(({ firstPage }) => firstPage <= index);
    if (sheet === undefined) throw unreadable("damaged", `there is no page ${index}`);
    const part = index - sheet.firstPage;
    const start = part * ROWS_PER_PAGE;
    const rows = sheet.rows.read(start, ROWS_PER_PAGE);
    const block = sheet.rows.blockStart(start);
    const header = block >= start ? undefined : this.#read(sheet.rows.read(block, HEADER_ROWS)).tables[0];
    const { tables, leftOutFrom, leftOutColumn } = this.#read(rows, header);
    const title = titleOf(sheet, part);
    const elements: DocumentElement[] = [
      { category: "heading", content: { level: 2, text: title } },
      ...tables.flatMap((table) => this.#elementsOf(table, sheet)),
      ...(leftOutFrom === undefined ? [] : [
        notice(
          `The rows from ${leftOutFrom + 1} on are left out: they have more text than a page may have`,
        ),
      ]),
      ...(leftOutColumn === undefined
        ? []
        : [notice(`The columns from ${leftOutColumn} on are left out: a page has no room for more`)]),
      ...(part === 0 ? this.#drawings(sheet) : []),
      ...this.#notes(sheet, { tables, isHere: cellsOf(sheet, part) }),
    ];
    return { title, elements };
  }

  #read(rows: readonly XmlNode[], continued?: SheetTable): SheetTables {
    return readTables(rows, { cells: this.#cells, maxBytes: this.#limits.maxPageBytes, continued });
  }

  #elementsOf(table: SheetTable, { part, rows }: Sheet): DocumentElement[] {
    const { headers, range, formulas, columns } = table;
    const formulaElements = formulas.slice(0, MAX_FORMULAS).map((
      { name, expression, result, fills },
    ): DocumentElement => ({
      category: "formula",
      summary: fills === undefined ? `Cell ${name}` : `Cell ${name}; filled into ${fills}`,
      content: {
        expression: `=${expression}`,
        result,
        cell: name,
        ...(fills === undefined ? {} : { cells: fills }),
      },
    }));
    const merged = mergedWithin(rows.around, table);
    const hidden = hiddenWithin(rows.around, table);
    const notes = [
      ...(merged.length === 0 ? [] : [`Merged cells: ${listed(merged)}`]),
      ...(hidden.length === 0 ? [] : [`Hidden: ${listed(hidden)}`]),
    ];
    return [
      {
        category: "table",
        summary: [summaryOf(table), ...this.#namesWithin(table, part)].join("; "),
        content: {
          headers,
          rows: table.rows,
          total_rows: table.totalRows,
          total_columns: columns,
          source_range: range,
          has_formulas: formulas.length + table.filled > 0,
          ...(table.rawRows === undefined ? {} : { raw_rows: table.rawRows }),
          ...(merged.length === 0 ? {} : { merged_ranges: merged }),
          ...(hidden.length === 0 ? {} : { hidden }),
        },
      },
      ...notes.map(notice),
      ...formulaElements,
    ];
  }

  /** The tables that its author named, such as `the table "Sales" is A1:C10`. */
  #namesWithin(table: SheetTable, part: string): string[] {
    return this.#office.related(part, "table").flatMap((target) => {
      const named = at(this.#office.xml(target), "table");
      const { displayName: name = "", ref = "" } = named?.attributes ?? {};
      return name !== "" && table.contains(ref) ? [`the table "${name}" is ${ref}`] : [];
    });
  }

  /** Charts and pictures, which lie above the cells. */
  #drawings(sheet: Sheet): DocumentElement[] {
    const elements: DocumentElement[] = [];
    this.#office.pictures.leftBytes = PAGE_PICTURE_BYTES;
    for (const { type, target } of this.#office.relationships(sheet.part).values()) {
      if (type === "pivotTable") elements.push(...this.#pivot(target));
      if (type !== "drawing") continue;
      elements.push(...this.#office.drawn(this.#office.xml(target), this.#office.relationships(target)));
    }
    return elements;
  }

  #pivot(part: string): DocumentElement[] {
    const definition = at(this.#office.xml(part), "pivotTableDefinition");
    const [cache = ""] = this.#office.related(part, "pivotCacheDefinition");
    const fields = childrenOf(
      at(this.#office.xml(cache), "pivotCacheDefinition", "cacheFields"),
      "cacheField",
    )
      .map(({ attributes }) => attributes["name"] ?? "");
    const named = (list: string) =>
      childrenOf(at(definition, list), "field").flatMap(({ attributes }) =>
        fields[Number(attributes["x"])] ?? []
      );
    const values = childrenOf(at(definition, "dataFields"), "dataField").map(({ attributes }) =>
      attributes["name"] ?? ""
    );
    return [{
      category: "pivot_table",
      summary: `Pivot table ${definition?.attributes["name"] ?? ""}; its cells are those of the sheet`.trim(),
      content: {
        headers: [],
        rows: [],
        row_fields: named("rowFields"),
        column_fields: named("colFields"),
        value_fields: values,
        source_range: at(definition, "location")?.attributes["ref"] ?? "",
      },
    }];
  }

  /** Links and comments of the cells of a page. */
  #notes(
    { part, rows }: Sheet,
    { tables, isHere }: {
      readonly tables: readonly SheetTable[];
      readonly isHere: (cell: string) => boolean;
    },
  ): DocumentElement[] {
    const related = this.#office.relationships(part);
    const links = childrenOf(at(rows.around, "worksheet", "hyperlinks"), "hyperlink").flatMap(
      ({ attributes }): DocumentElement[] => {
        const { ref = "", id, location, display = "" } = attributes;
        const url = id === undefined ? location && `#${location}` : related.get(id)?.target;
        if (url === undefined || !isHere(ref)) return [];
        const text = display || tables.map((table) => table.textAt(ref)).find((text) => text !== "") || url;
        return [{ category: "link", content: { text, url, cell: ref } }];
      },
    );
    const comments = readComments(this.#office, { sheet: part, people: this.#people, isHere });
    return [...links, ...comments];
  }

  #losses(): string[] {
    const { names, losses } = this.#office;
    if (names.some((name) => name.startsWith("xl/externallinks/"))) {
      losses.push("Linked workbooks are not read");
    }
    if (names.some((name) => name.startsWith("xl/embeddings/"))) {
      losses.push("Embedded objects are not shown");
    }
    const unread = new UnreadParts();
    for (const { part } of this.#sheets) {
      for (const { type } of this.#office.relationships(part).values()) {
        if (!READ_PARTS.has(type)) unread.add(type);
      }
    }
    losses.push(...unread.losses);
    if (this.#leftOut.length > 0) {
      losses.push(
        `Sheets without cells, or whose cells are missing, are not shown: ${this.#leftOut.join(", ")}`,
      );
    }
    return losses;
  }
}

/** The parts of sheets that are read, that repeat others, or that have no content. */
const READ_PARTS: ReadonlySet<string> = new Set([
  ..."drawing comments threadedComment hyperlink table pivotTable".split(" "),
  // Objects are named with the workbook; comments and controls are drawn in VML once more.
  ..."oleObject package vmlDrawing printerSettings customProperty tableSingleCells".split(" "),
]);
const MAX_RANGES = 50;

function pagesOf({ rows }: Pick<Sheet, "rows">): number {
  return Math.max(1, Math.ceil(rows.count / ROWS_PER_PAGE));
}

/** Tells whether a cell, or the first cell of a range, is on a page, whether it has a value or not. */
function cellsOf({ rows }: Sheet, part: number): (name: string) => boolean {
  const [start, next] = [part * ROWS_PER_PAGE, (part + 1) * ROWS_PER_PAGE];
  const first = part === 0 ? 1 : rows.numberOf(start);
  const last = next < rows.count ? rows.numberOf(next) - 1 : Infinity;
  return (name) => {
    const cell = parseCellName(name);
    return cell !== undefined && cell.row + 1 >= first && cell.row + 1 <= last;
  };
}

function titleOf(sheet: Sheet, part: number): string {
  return pagesOf(sheet) === 1 ? nameOf(sheet) : `${nameOf(sheet)}, ${rowsOf(sheet, part)}`;
}

function nameOf({ name, isHidden }: Sheet): string {
  return isHidden ? `${name} (hidden)` : name;
}

/** The rows of a page of a sheet, by their numbers. */
function rowsOf({ rows }: Sheet, part: number): string {
  const start = part * ROWS_PER_PAGE;
  const end = Math.min(start + ROWS_PER_PAGE, rows.count) - 1;
  return `rows ${rows.numberOf(start)}–${rows.numberOf(end)}`;
}

function summaryOf({ range, rows, columns, formulas, filled, uncalculated }: SheetTable): string {
  return [
    `${range}: ${counted(rows.length, "row")} and ${counted(columns, "column")}`,
    ...(formulas.length > MAX_FORMULAS
      ? [`${MAX_FORMULAS} of its ${formulas.length} formulas are listed`]
      : []),
    ...(filled === 0 ? [] : [`${counted(filled, "formula")} filled in from other cells`]),
    ...(uncalculated === 0
      ? []
      : [`${counted(uncalculated, "formula")} without a result, because no program has calculated the file`]),
  ].join("; ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function listed(ranges: readonly string[]): string {
  const more = ranges.length - MAX_RANGES;
  return ranges.slice(0, MAX_RANGES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
