/** Tables as text: CSV and TSV. */
// @ts-types="@types/papaparse"
import Papa from "papaparse";
import type { TableCell } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { decodeText } from "./decode_text.ts";
import { MAX_COLUMNS } from "./sections.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";

const ROWS_PER_PAGE = 500;
/** The characters from which on a page has no further row. */
const PAGE_LENGTH = 1024 * 1024;
/** How many characters of the file show its delimiter and the names of its columns. */
const SAMPLE_LENGTH = 64 * 1024;

/** Opens a table. A page is 500 of its rows, or fewer when they are long. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const decoded = decodeText(bytes);
  // A line for Excel that names the delimiter.
  const [line = "", delimiter] = /^"?sep=([^\n"])"?(?:\n|$)/i.exec(decoded.text) ?? [];
  const text = decoded.text.slice(line.length);
  const sample = Papa.parse<string[]>(text.slice(0, SAMPLE_LENGTH), {
    preview: 50,
    skipEmptyLines: true,
    delimiter,
  });
  const format = { delimiter: sample.meta.delimiter, newline: "\n", skipEmptyLines: true } as const;
  const headers = hasHeader(sample.data) ? sample.data[0] ?? [] : [];
  const { pages, rowCount, columnCount } = divide(text, { format, hasHeaders: headers.length > 0 });
  const losses = [...decoded.losses];
  if (columnCount > MAX_COLUMNS) losses.push(`Columns after the first ${MAX_COLUMNS} are not shown`);
  const titleOf = (index: number) => {
    const last = (pages[index + 1]?.firstRow ?? rowCount + 1) - 1;
    return pages.length === 1 ? fileName : `Rows ${pages[index]?.firstRow}–${last}`;
  };
  return {
    facts: {
      pageCount: pages.length,
      pageTitles: pages.map((_, index) => titleOf(index)),
      headings: headers.slice(0, 200),
      opening: "",
      losses,
    },
    page: (index) => {
      const page = pages[index] ?? { start: text.length, firstRow: rowCount + 1 };
      const { data } = Papa.parse<string[]>(text.slice(page.start, pages[index + 1]?.start), format);
      const table: DocumentElement = {
        category: "table",
        content: {
          headers: headers.slice(0, MAX_COLUMNS),
          rows: data.map((row) => row.slice(0, MAX_COLUMNS).map(toCell)),
          total_rows: rowCount,
          total_columns: columnCount,
          first_row: page.firstRow,
        },
      };
      return { title: titleOf(index), elements: [table] };
    },
  };
}

interface RowRange {
  /** Where it begins in the text. */
  readonly start: number;
  /** The number of its first row, from 1; the names of the columns are no row. */
  readonly firstRow: number;
}

/** Divides a table into pages, at the rows that the parser finds. Lines without a letter are no rows. */
function divide(
  text: string,
  { format, hasHeaders }: { readonly format: Papa.ParseConfig; readonly hasHeaders: boolean },
): { readonly pages: readonly RowRange[]; readonly rowCount: number; readonly columnCount: number } {
  const pages: RowRange[] = [];
  let rowCount = hasHeaders ? -1 : 0;
  let columnCount = 0;
  let end = 0;
  Papa.parse<string[]>(text, {
    ...format,
    // The other mode divides the whole text into lines first.
    fastMode: false,
    step: ({ data, meta }) => {
      const start = end;
      end = meta.cursor;
      columnCount = Math.max(columnCount, data.length);
      if (++rowCount === 0) return;
      const page = pages.at(-1);
      if (
        page === undefined || rowCount - page.firstRow >= ROWS_PER_PAGE || end - page.start > PAGE_LENGTH
      ) pages.push({ start, firstRow: rowCount });
    },
  });
  if (pages.length === 0) pages.push({ start: end, firstRow: 1 });
  return { pages, rowCount, columnCount };
}

/** The first line has the names of the columns when it has no numbers, and is unlike the others. */
function hasHeader(rows: readonly (readonly string[])[]): boolean {
  const [first, ...others] = rows;
  if (
    first === undefined || others.length === 0 || first.some((cell) => cell.trim() === "" || isNumber(cell))
  ) return false;
  return first.length > 1 || others.some((row) => row.some(isNumber));
}

function isNumber(text: string): boolean {
  return /^[-+]?\d{1,15}(?:\.\d{1,15})?$/.test(text.trim());
}

/** Numbers become numbers unless that would change how they are written, such as `007`. */
function toCell(text: string): TableCell {
  if (text === "") return null;
  const number = Number(text);
  return isNumber(text) && String(number) === text ? number : text;
}
