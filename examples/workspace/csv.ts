/** Reads CSV files: a table with fifty rows per page. */
// @ts-types="@types/papaparse"
import Papa from "papaparse";
import type { DocumentPage } from "../../src/provider/mod.ts";
import type { FileContent } from "./page.ts";

const ROWS_PER_PAGE = 50;

/** Reads a CSV file whose first line names the columns. */
export function readCsv(text: string, name: string): FileContent {
  const [headers = [], ...rows] = Papa.parse<string[]>(text, { skipEmptyLines: true }).data;
  const pages: DocumentPage[] = [];
  for (let start = 0; start < Math.max(1, rows.length); start += ROWS_PER_PAGE) {
    const part = rows.slice(start, start + ROWS_PER_PAGE);
    const summary = `${headers.join(", ")} (${part.length} rows)`;
    pages.push({
      title: `Rows ${start + 1} to ${start + part.length}`,
      elements: [{ category: "table", summary, content: { headers, rows: part, total_rows: rows.length } }],
    });
  }
  return { title: name, keywords: headers, summary: `A table of ${rows.length} rows`, pages };
}
