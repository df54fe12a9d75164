/** Tables as text: CSV and TSV. */
// @ts-types="@types/papaparse"
import Papa from "papaparse";
import type { TableCell } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";
import { decodeText } from "./decode_text.ts";
import type { ParsedDocument, ParseInput } from "./format.ts";
import { withIds } from "./sections.ts";

/** How many lines a page has. */
const LINES_PER_PAGE = 500;
/** How many characters of the file show its delimiter and the names of its columns. */
const SAMPLE_LENGTH = 64 * 1024;
/** The most columns of a table. */
const MAX_COLUMNS = 256;

/** Opens a table. A page is 500 of its rows. */
export function open({ bytes, fileName }: ParseInput): ParsedDocument {
  const { text, encoding, isGuess } = decodeText(bytes);
  const sample = Papa.parse<string[]>(text.slice(0, SAMPLE_LENGTH), { preview: 50, skipEmptyLines: true });
  const { delimiter } = sample.meta;
  const headers = hasHeader(sample.data) ? (sample.data[0] ?? []).slice(0, MAX_COLUMNS) : [];
  const starts = pageStarts(text);
  const losses: string[] = [];
  if (isGuess) losses.push(`The encoding "${encoding}" is a guess; some characters may be wrong`);
  if (sample.data.some((row) => row.length > MAX_COLUMNS)) {
    losses.push(`Columns after the first ${MAX_COLUMNS} are not shown`);
  }
  const titleOf = (index: number) =>
    starts.length === 1 ? fileName : `Rows ${index * LINES_PER_PAGE + 1}–${(index + 1) * LINES_PER_PAGE}`;
  return {
    facts: {
      pageCount: starts.length,
      pageTitles: starts.map((_, index) => titleOf(index)),
      headings: headers.slice(0, 200),
      opening: "",
      losses,
    },
    page: (index) => {
      const rows = Papa.parse<string[]>(text.slice(starts[index], starts[index + 1]), {
        delimiter,
        skipEmptyLines: true,
      });
      const body = index === 0 && headers.length > 0 ? rows.data.slice(1) : rows.data;
      const table: DocumentElement = {
        category: "table",
        content: {
          headers,
          rows: body.map((row) => row.slice(0, MAX_COLUMNS).map(toCell)),
          total_rows: body.length,
          first_row: index * LINES_PER_PAGE + 1,
        },
      };
      return { title: titleOf(index), elements: withIds([table], index) };
    },
  };
}

/** Where each page begins: at a line that is not within quotes. */
function pageStarts(text: string): number[] {
  const starts = [0];
  let lines = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isQuoted = !isQuoted;
    if (code !== LINE_FEED || isQuoted || ++lines % LINES_PER_PAGE !== 0) continue;
    if (at + 1 < text.length) starts.push(at + 1);
  }
  return starts;
}

const QUOTE = 0x22;
const LINE_FEED = 0x0a;

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
