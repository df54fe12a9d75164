/** Tables as pages show them, on phones one cell below the other where they have sentences; messages with an address. */

import type { Token } from "npm:markdown-it@15";
import { anchorOf, type Section } from "./pages.ts";

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

/** Gives the messages of a page their anchors: rows by their first cell, items of lists by what is bold in front. */
export function nameMessages(tokens: readonly Token[], number: (anchor: string) => string): Section[] {
  return tokens.flatMap((token, index) => {
    const message = readMessage(tokens, index);
    if (message === undefined) return [];
    const anchor = number(message.anchor);
    token.attrSet("id", anchor);
    return { ...message, anchor };
  });
}

function readMessage(tokens: readonly Token[], index: number): Section | undefined {
  const [open, inner, inline] = tokens.slice(index, index + 3);
  if (open?.type === "tr_open" && inner?.type === "td_open") {
    const title = shownText(inline);
    return { title, anchor: rowOf(title), level: 0, text: shownText(tokens[index + 5]) };
  }
  const [, bold] = open?.type === "list_item_open" ? /^\*\*(.+?)\*\*/.exec(inline?.content ?? "") ?? [] : [];
  if (bold === undefined) return undefined;
  const [title = "", ...text] = shownText(inline).split(": ");
  return { title, anchor: rowOf(bold), level: 0, text: text.join(": ") };
}

/** The anchor of the row of a message. */
export function rowOf(message: string): string {
  return anchorOf(message.replaceAll("…", "")).replaceAll(/[_-]+/g, "-");
}

/** The text of an inline token, without its marks. */
export function shownText(inline: Token | undefined): string {
  return (inline?.children ?? []).filter(({ type }) => type !== "html_inline" && type !== "image")
    .map(({ type, content }) => type === "softbreak" ? " " : content).join("");
}
