/** What of an element is searched: every text of its content. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { isRecord } from "../basics.ts";

const MAX_DEPTH = 12;
/** Members that are no text of the document. */
const SILENT = new Set(["url", "mime_type", "language", "chart_type", "style", "merged_ranges", "hidden"]);

/** The lines of an element: the rows of a table, the paragraphs of a text. Its summary counts where there is no text. */
export function linesOf({ content, summary }: DocumentElement): string[] {
  const lines: string[] = [];
  collect(content, lines, MAX_DEPTH);
  return lines.length === 0 && summary !== undefined ? [summary] : lines;
}

function collect(value: unknown, lines: string[], depth: number): void {
  if (typeof value === "string") lines.push(value);
  else if (typeof value === "number") lines.push(String(value));
  else if (depth === 0) return;
  else if (Array.isArray(value)) { for (const each of value) collect(each, lines, depth - 1); }
  else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === "headers" || name === "rows") lines.push(...rowsOf(name === "rows" ? member : [member]));
      else if (!SILENT.has(name)) collect(member, lines, depth - 1);
    }
  }
}

/** Each row of a table as one line. */
function rowsOf(rows: unknown): string[] {
  if (!Array.isArray(rows)) return [];
  return rows.map((cells) => Array.isArray(cells) ? cells.filter(hasText).join(" | ") : "");
}

function hasText(cell: unknown): boolean {
  return cell !== null && cell !== undefined && cell !== "";
}
