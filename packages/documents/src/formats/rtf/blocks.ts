/** Paragraphs, lists and tables of a Rich Text file as HTML, as they end one after the other. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { escapeHtml, type ItemHtml, listHtml, PlacedElements, tableHtml } from "../html/writer.ts";

const MAX_COLUMNS = 256;
const MAX_LEVELS = 30;
/** The indentation of a level of a list, in twentieths of a point, where nothing else tells it. */
const LIST_INDENT = 360;
/** A mark that is written in the text of an item, up to a tab. */
const WRITTEN_MARK = /^\s*([•·◦▪‣–§]|\(?[\da-zA-Z]{1,4}[.)])[ \t]*\t[ \t]*/;

/** What is said of a paragraph. */
export interface ParagraphForm {
  /** From 1; `undefined` for a paragraph that is no heading. */
  readonly heading?: number | undefined;
  readonly isInTable?: boolean;
  /** The level of a list, from 0; `undefined` where the file does not say. */
  readonly level?: number;
  /** In twentieths of a point. */
  readonly indent?: number;
}

interface LevelItem extends ItemHtml {
  readonly level: number;
}

export class RtfBlocks {
  readonly placed = new PlacedElements();
  readonly #html: string[] = [];
  #text = "";
  /** What follows the paragraph. */
  #after = "";
  #items: LevelItem[] = [];
  /** The paragraphs of the cell, the cells of the row, and the rows of the table so far. */
  #cell = "";
  #cells: string[] = [];
  #rows: string[][] = [];

  /** @param tags the form of the letters, such as `sup` */
  add(text: string, tags: readonly string[]): void {
    const html = escapeHtml(text).replaceAll("\n", "<br>");
    this.#text += tags.reduce((inner, tag) => `<${tag}>${inner}</${tag}>`, html);
  }

  addOther(element: DocumentElement): void {
    this.#after += this.placed.place(element);
  }

  /** Where the text is now; a link begins there. */
  get place(): number {
    return this.#text.length;
  }

  link(url: string, place: number): void {
    this.#text = `${this.#text.slice(0, place)}<a href="${escapeHtml(url)}">${this.#text.slice(place)}</a>`;
  }

  /** Ends a paragraph. The mark of an item stands apart in the file, or is written in its text. */
  endParagraph({ heading, isInTable, level, indent = 0 }: ParagraphForm, mark?: string): void {
    const [text, after] = [this.#text, this.#after];
    this.#text = this.#after = "";
    const written = mark === undefined && (level !== undefined || indent > 0)
      ? WRITTEN_MARK.exec(text)
      : null;
    const label = mark ?? written?.[1];
    const inner = `<p>${text.slice(written?.[0].length ?? 0)}</p>${after}`;
    const number = label === undefined ? "" : `${escapeHtml(label)} `;
    if (isInTable) this.#cell += `<p>${number}</p>`.replace("</p>", () => inner.slice(3));
    else if (text.trim() + after === "") this.#endTable();
    else if (heading === undefined && label !== undefined) {
      this.#endTable();
      const depth = level ?? Math.max(Math.round(indent / LIST_INDENT) - 1, 0);
      const isNumber = /[\p{L}\p{N}]/u.test(label) && label.length > 1;
      this.#items.push({ level: Math.min(depth, MAX_LEVELS), label: isNumber ? label : undefined, inner });
    } else {
      this.#endTable();
      this.#endList();
      this.#html.push(heading === undefined ? inner : `<h${heading}>${number}${text}</h${heading}>${after}`);
    }
  }

  endCell(form: ParagraphForm, mark?: string): void {
    this.endParagraph({ ...form, isInTable: true }, mark);
    if (this.#cells.length < MAX_COLUMNS) this.#cells.push(`<td>${this.#cell}</td>`);
    this.#cell = "";
  }

  endRow(): void {
    if (this.#cells.length === 0) return;
    this.#endList();
    this.#rows.push(this.#cells);
    this.#cells = [];
  }

  breakPage(): void {
    this.#html.push(this.toHtml(), this.placed.place("page"));
  }

  /** Ends what is open; what has ended since the last time. */
  toHtml(): string {
    this.endParagraph({});
    if (this.#cell !== "") this.endCell({});
    this.endRow();
    this.#endTable();
    this.#endList();
    return this.#html.splice(0).join("");
  }

  #endTable(): void {
    const rows = this.#rows.splice(0);
    if (rows.length > 0) this.#html.push(tableHtml(rows));
  }

  #endList(): void {
    const items = this.#items.splice(0);
    if (items.length > 0) this.#html.push(nestedHtml(items));
  }
}

/** Items of several levels; what is deeper belongs to the item before it. */
function nestedHtml(items: readonly LevelItem[]): string {
  const lists: LevelItem[][] = [];
  const levelOf = (list: readonly LevelItem[] | undefined) => list?.[0]?.level ?? -1;
  const close = (): string => {
    const inner = listHtml(lists.pop() ?? []);
    const last = lists.at(-1)?.pop();
    if (last !== undefined) lists.at(-1)?.push({ ...last, inner: last.inner + inner });
    return inner;
  };
  for (const item of items) {
    while (lists.length > 1 && levelOf(lists.at(-1)) > item.level) close();
    if (item.level > levelOf(lists.at(-1))) lists.push([]);
    lists.at(-1)?.push(item);
  }
  while (lists.length > 1) close();
  return close();
}
