/** Tables as pages show them: rows that have an address, and on phones one below the other where cells have sentences. */

import type { Token } from "npm:markdown-it@15";
import { anchorOf } from "./pages.ts";

/** From so many characters on, a cell is read and not compared with those below it. */
const PROSE_CHARS = 32;

/** Marks tables of sentences, and gives their cells the title of their column. */
export function shapeTables(tokens: readonly Token[]): void {
  tokens.forEach((open, start) => {
    if (open.type !== "table_open") return;
    const end = tokens.findIndex(({ type }, index) => index > start && type === "table_close");
    const table = tokens.slice(start, end);
    const cells = table.filter((_, index) => table[index - 1]?.type === "td_open");
    if (cells.every((cell) => shownText(cell).length < PROSE_CHARS)) return;
    open.attrSet("class", "prose");
    labelCells(table);
  });
}

function labelCells(table: readonly Token[]): void {
  const titles = table.filter((_, index) => table[index - 1]?.type === "th_open").map(shownText);
  if (titles.length < 3) return;
  let column = 0;
  for (const token of table) {
    if (token.type === "tr_open") column = 0;
    if (token.type !== "td_open") continue;
    const title = titles[column];
    if (column > 0 && title !== undefined && title !== "") token.attrSet("data-label", title);
    column += 1;
  }
}

/** Gives each row that begins with a message the anchor of that message. */
export function nameRows(tokens: readonly Token[]): void {
  tokens.forEach((token, index) => {
    const message = token.type === "tr_open" ? messageOf(tokens[index + 2]) : undefined;
    if (message !== undefined) token.attrSet("id", rowOf(message));
  });
}

/** The anchor of the row of a message. */
export function rowOf(message: string): string {
  return anchorOf(message.replaceAll("…", "")).replaceAll(/[_-]+/g, "-");
}

function messageOf(cell: Token | undefined): string | undefined {
  const [first, ...rest] = cell?.children ?? [];
  return first?.type === "code_inline" && rest.length === 0 ? first.content : undefined;
}

function shownText(cell: Token): string {
  return (cell.children ?? []).filter(({ type }) => type === "text" || type === "code_inline")
    .map(({ content }) => content).join("");
}
