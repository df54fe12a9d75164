/** What the readers of light markup share: indented blocks, items and tables. */
import type { ListContent, ListItem } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { joinLists, listOf, plainNumber } from "./list_builder.ts";
import { tableOf } from "./sections.ts";

/** Reads the blocks of lines. What is nested more deeply than `MAX_DEPTH` is code. */
export type ReadBlocks = (lines: readonly string[], depth: number) => Iterable<DocumentElement>;

/** The most levels of blocks in blocks. */
export const MAX_DEPTH = 40;

export function textOf(text: string): DocumentElement {
  return { category: "text", content: { text } };
}

export function codeOf(code: string, language = ""): DocumentElement {
  return { category: "code", content: { ...(language === "" ? {} : { language }), code } };
}

export function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** The lines from `start` on that are indented at least so far, or empty, without empty ones at the end. */
export function indentedLines(lines: readonly string[], start: number, indent: number): string[] {
  let end = start;
  for (let at = start; at < lines.length; at++) {
    const line = lines[at] ?? "";
    if (line.trim() === "") continue;
    if (indentOf(line) < indent) break;
    end = at + 1;
  }
  return lines.slice(start, end);
}

/** Lines without the indentation that all of them have. */
export function dedent(lines: readonly string[]): string[] {
  const indent = Math.min(...lines.slice(0, 10_000).filter((line) => line.trim() !== "").map(indentOf));
  return lines.map((line) => line.slice(Math.min(indent, indentOf(line))));
}

/** The list that begins at a line, what follows it, and the line after it. The marker has the label as its group. */
export function readList(
  lines: readonly string[],
  start: number,
  { marker, read, depth }: { readonly marker: RegExp; readonly read: ReadBlocks; readonly depth: number },
): { readonly elements: DocumentElement[]; readonly end: number } {
  const items: [label: string | undefined, ListItem][] = [];
  const others: DocumentElement[] = [];
  const indent = indentOf(lines[start] ?? "");
  let at = start;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    const found = indentOf(line) === indent ? marker.exec(line) : null;
    if (found === null) break;
    const before = items.at(-1)?.[0];
    const next = (plainNumber(before) ?? 0) + 1;
    const label = found[1]?.replace("#", String(next));
    const isOther = formOf(before) !== formOf(label) || (plainNumber(label) ?? next) !== next;
    if (items.length > 0 && isOther) break;
    const rest = indentedLines(lines, at + 1, indent + 1);
    const inner = [line.slice(found[0].length), ...dedent(rest)];
    items.push([label, itemOf(inner, others, { read, depth: depth + 1 })]);
    at += 1 + rest.length;
  }
  return { elements: [{ category: "list", content: listOf(items) }, ...others], end: at };
}

/** A label without its number or letters: lists of other forms are other lists. */
function formOf(label: string | undefined): string | undefined {
  return label?.replace(/\d+/, "1").replace(/[a-z]+|[A-Z]/, (letter) => letter < "a" ? "A" : "a");
}

/** An item: its paragraphs, the lists below it; other blocks follow the list. */
function itemOf(
  lines: readonly string[],
  others: DocumentElement[],
  { read, depth }: { readonly read: ReadBlocks; readonly depth: number },
): ListItem {
  const texts: string[] = [];
  const below: ListContent[] = [];
  for (const element of read(lines, depth)) {
    if (element.category === "text") texts.push(element.content.text);
    else if (element.category === "list") below.push(element.content);
    else others.push(element);
  }
  const text = texts.join("\n");
  return below.length === 0 ? text : { text, ...joinLists(below) };
}

const MAX_COLUMNS = 256;

/** A table whose columns are those of its border of equal signs; `undefined` for one of too many columns. */
export function ruledTable(
  lines: readonly string[],
  inline: (text: string) => string,
): DocumentElement | undefined {
  const starts = [...(lines[0] ?? "").matchAll(/=+/g).map(({ index }) => index)];
  if (starts.length > MAX_COLUMNS) return undefined;
  const rows: string[][] = [];
  let headers = 0;
  for (const [index, line] of lines.entries()) {
    if (/^=[= ]*$/.test(line)) {
      if (index > 0 && index < lines.length - 1) headers = rows.length;
    } else if (line.trim() !== "" && !/^-[- ]*$/.test(line)) {
      // Text across the edge of a column covers both.
      const isEdge = (at = 0) => at === 0 || (line[at - 1] ?? " ") === " ";
      const cells = starts.map((start, column) => {
        const end = starts.slice(column + 1).find(isEdge);
        return isEdge(start) ? inline(line.slice(start, end).trim()) : "";
      });
      const above = rows.at(-1);
      // A row without a first cell continues the one above.
      if (cells[0] !== "" || above === undefined || rows.length === headers) rows.push(cells);
      else for (const [at, cell] of cells.entries()) above[at] = `${above[at]}\n${cell}`.trim();
    }
  }
  return tableOf(rows, headers);
}

/** A table that is drawn by `+`, `-` and `|`; a cell may cover several columns and rows. */
export function drawnTable(
  lines: readonly string[],
  inline: (text: string) => string,
): DocumentElement | undefined {
  const places = lines.filter((line) => line.startsWith("+")).flatMap((
    line,
  ) => [...line.matchAll(/\+/g).map(({ index }) => index)]);
  const edges = [...new Set(places)].sort((a, b) => a - b);
  if (edges.length > MAX_COLUMNS) return undefined;
  const rows: (string | null)[][] = [];
  // The row that each column is in now.
  const current = edges.slice(1).map(() => -1);
  let headers = 0;
  for (const [index, line] of lines.entries()) {
    const pieces = edges.slice(1).map((right, column) => line.slice((edges[column] ?? 0) + 1, right));
    const isBorder = pieces.map((piece) => /^[-=+]+$/.test(piece));
    if (isBorder.includes(true) && index < lines.length - 1) {
      if (/^\+=[=+]*\+$/.test(line)) headers = rows.length;
      for (const [column, border] of isBorder.entries()) if (border) current[column] = rows.length;
      rows.push(current.map(() => null));
    }
    let cell = 0;
    for (const [column, piece] of pieces.entries()) {
      const sign = line[edges[column] ?? 0] ?? "";
      // Without a line at its left, the text belongs to the cell before.
      const isOwn = /[|+]/.test(sign);
      if (isOwn) cell = column;
      const row = rows[current[cell] ?? -1];
      if (!isBorder[column] && row !== undefined) {
        row[cell] = `${row[cell] ?? ""}${isOwn ? "\n" : sign}${piece}`;
      }
    }
  }
  const textOf = (cell: string) =>
    inline(cell.split("\n").map((each) => each.trim()).filter(Boolean).join("\n"));
  return tableOf(rows.map((row) => row.map((cell) => cell === null ? null : textOf(cell))), headers);
}
