/** Paragraphs, lists and tables of a Rich Text file as HTML. */
import { MAX_COLUMNS } from "../sections.ts";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { escapeHtml, itemHtml, PlacedElements, tableHtml } from "../html/writer.ts";

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

/** Paragraphs, lists and tables as HTML, as they end one after the other. */
export class RtfBlocks {
  readonly placed = new PlacedElements();
  /** The mark of the item that is read, where it stands apart. */
  mark: string | undefined;
  #html = "";
  #text = "";
  /** What follows the paragraph. */
  #after = "";
  /** The items that have not ended, each in the one before. */
  #items: { readonly level: number; readonly close: string }[] = [];
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

  link({ url, place }: { readonly url: string; readonly place: number } = { url: "", place: 0 }): void {
    if (url === "") return;
    this.#text = `${this.#text.slice(0, place)}<a href="${escapeHtml(url)}">${this.#text.slice(place)}</a>`;
  }

  /** Ends a paragraph. The mark of an item stands apart in the file, or is written in its text. */
  endParagraph({ heading, isInTable, level, indent = 0 }: ParagraphForm): void {
    const [text, after, mark] = [this.#text, this.#after, this.mark];
    this.#text = this.#after = "";
    this.mark = undefined;
    const isItem = mark === undefined && (level !== undefined || indent > 0);
    const [before = "", written] = isItem ? WRITTEN_MARK.exec(text) ?? [] : [];
    const label = mark ?? written;
    const number = label === undefined ? "" : `${escapeHtml(label)} `;
    const inner = `<p>${text.slice(before.length)}</p>${after}`;
    if (isInTable) return void (this.#cell += `<p>${number}${inner.slice(3)}`);
    this.#endTable();
    if (text.trim() + after === "") return;
    if (heading === undefined && label !== undefined) {
      const depth = level ?? Math.max(Math.round(indent / LIST_INDENT) - 1, 0);
      const isNumber = /[\p{L}\p{N}]/u.test(label) && label.length > 1;
      return this.#addItem(Math.min(depth, MAX_LEVELS), itemHtml(isNumber ? label : undefined, inner));
    }
    this.#endItems(0);
    this.#html += heading === undefined ? inner : `<h${heading}>${number}${text}</h${heading}>${after}`;
  }

  endCell(form: ParagraphForm): void {
    this.endParagraph({ ...form, isInTable: true });
    if (this.#cells.length < MAX_COLUMNS) this.#cells.push(`<td>${this.#cell}</td>`);
    this.#cell = "";
  }

  endRow(): void {
    if (this.#cells.length === 0) return;
    this.#endItems(0);
    this.#rows.push(this.#cells);
    this.#cells = [];
  }

  breakPage(): void {
    this.#html = this.toHtml() + this.placed.place("page");
  }

  /** Ends what is open. */
  toHtml(): string {
    this.endParagraph({});
    if (this.#cell !== "") this.endCell({});
    this.endRow();
    this.#endTable();
    this.#endItems(0);
    return this.#html;
  }

  #endTable(): void {
    const rows = this.#rows.splice(0);
    if (rows.length > 0) this.#html += tableHtml(rows);
  }

  /** What is deeper belongs to the item before it. */
  #addItem(level: number, [open, close]: readonly [open: string, close: string]): void {
    this.#endItems(level);
    this.#items.push({ level, close });
    this.#html += open;
  }

  #endItems(level: number): void {
    while ((this.#items.at(-1)?.level ?? -1) >= level) this.#html += this.#items.pop()?.close ?? "";
  }
}
