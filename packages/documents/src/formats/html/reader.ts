/** The elements of HTML, in reading order. */
import { oneLine } from "../../basics.ts";
import type { FormField, ListContent, ListItem } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { unreadable, UnreadParts } from "../format.ts";
import { joinLists, listOf } from "../list_builder.ts";
import { COVERED_FROM_ABOVE, COVERED_FROM_LEFT, type PlacedCell } from "../merged_cells.ts";
import { joinText, type TextForm } from "../raised_text.ts";
import { tableOf } from "../sections.ts";
import {
  attribute,
  BLOCKS,
  collapseLines,
  type Element,
  elementsBelow,
  isHidden,
  isLayout,
  isSkipped,
  link,
  LOST,
  type Node,
  spaces,
  spanOf,
} from "./dom.ts";
import { HtmlHead } from "./head.ts";
import { mathmlText } from "./mathml.ts";
import { fieldOf, formOf, mediaOf, numberingOf, valueText } from "./parts.ts";

/** The most columns that one cell of a table may cover. */
const MAX_SPAN = 100;
/** The most rows that one cell of a table may cover. */
const MAX_ROW_SPAN = 65_534;
/** The most places in all tables that cells of rows above cover. */
const MAX_COVERED = 1_000_000;
/** Links of items, cells and headings that are shown: those to other sites and to files beside; others are of menus. */
const OUTSIDE = /^(?:(?:https?|mailto|ftp):|[^\s/#?:]+(?:[/#?]|$))/i;

/** How the text within a heading, a cell, an item or the like is read. Lists, tables and code of an item are no part of it. */
interface InnerText {
  /** Whether spaces and line ends of the file stay as they are. */
  readonly keepsSpaces?: boolean;
  /** Takes the lists of an item. */
  readonly onList?: (list: Element, depth: number) => void;
}

export class HtmlReader {
  /** In reading order, without ids. */
  readonly elements: DocumentElement[] = [];
  readonly head: HtmlHead = new HtmlHead();
  readonly #maxDepth: number;
  readonly #unread = new UnreadParts();
  #covered = 0;
  #text: (TextForm & { readonly text: string })[] = [];
  #form: TextForm = {};
  /** What follows the paragraph: its links. */
  #links: DocumentElement[] = [];
  /** What follows the list, the table or the heading: links and pictures in it, tables and code in items. */
  #others: DocumentElement[] = [];
  #formula: { readonly expression: string; readonly text: string } | undefined;

  constructor(maxDepth: number) {
    this.#maxDepth = maxDepth;
  }

  get losses(): string[] {
    return this.#unread.losses;
  }

  read(document: Node): void {
    this.#visit(document, 0);
    this.#endText();
  }

  /** Reads a node as blocks, or as the text within one. */
  #visit(node: Node, depth: number, inner?: InnerText): void {
    if (depth > this.#maxDepth) {
      throw unreadable("too_large", `it is nested deeper than ${this.#maxDepth} levels`);
    }
    if (node.nodeName === "#text" && "value" in node) {
      this.#add(inner?.keepsSpaces ? node.value : spaces(node.value));
    } else if ("tagName" in node) this.#visitElement(node, depth, inner);
    else this.#visitChildren(node, depth, inner);
  }

  #visitChildren(node: Node, depth: number, inner?: InnerText): void {
    if (!("childNodes" in node)) return;
    for (const child of node.childNodes) this.#visit(child, depth + 1, inner);
  }

  #visitElement(element: Element, depth: number, inner?: InnerText): void {
    const { tagName } = element;
    if (tagName === "head") return this.head.read(element);
    if (tagName === "html") this.head.said.language ??= attribute(element, "lang");
    if (isSkipped(element)) return;
    const lost = LOST[tagName] ?? (attribute(element, "srcdoc") === undefined ? undefined : "embedded page");
    if (lost !== undefined) this.#unread.add(lost);
    if (tagName === "br") return this.#endLine();
    if (tagName === "math") return this.#math(element, depth, inner);
    const made = inner === undefined ? this.#make(element, depth) : this.#makeWithin(element, depth, inner);
    if (made !== undefined) {
      if (inner === undefined) this.#endText();
      const target = inner === undefined ? this.elements : this.#others;
      for (const each of made) target.push(each);
      return;
    }
    const end = () => inner === undefined ? this.#endText() : this.#endLine();
    const isBlock = BLOCKS.has(tagName);
    if (isBlock) end();
    this.#visitText(element, depth, tagName === "pre" ? { ...inner, keepsSpaces: true } : inner);
    if (isBlock) end();
  }

  /** Reads the text of an element, in the form that the element gives it. */
  #visitText(element: Element, depth: number, inner?: InnerText): void {
    const { tagName } = element;
    const start = this.#text.length;
    const outer = this.#form;
    this.#form = formOf(element, outer);
    // Text that was put in the place of other text is apart from it.
    if (tagName === "ins" && this.#text.at(-1)?.isStruck) this.#add(" ");
    const isReading = tagName === "rt";
    const isPower = outer.position !== undefined && this.#form !== outer && /^su[bp]$/.test(tagName);
    if (isReading || isPower) this.#add(isReading ? "(" : tagName === "sup" ? "^(" : "_(");
    this.#visitChildren(element, depth, inner);
    if (isReading || isPower) this.#add(")");
    this.#form = outer;
    if (tagName === "a") this.#addLink(element, joinText(this.#text.slice(start)), inner);
    const isMark = tagName === "sup" && this.#text.length < start + 9 &&
      /^\s*\[[^\]]*\]\s*$/.test(this.#text.slice(start).map(({ text }) => text).join(""));
    // The mark of a note is no power.
    if (isMark) this.#text.push(...this.#text.splice(start).map(({ text }) => ({ ...outer, text })));
  }

  #add(text: string): void {
    this.#text.push({ ...this.#form, text });
  }

  #endLine(): void {
    this.#text.push({ text: "\n" });
  }

  /** The elements of a node that is a unit; `undefined` for one that contains others. */
  #make(element: Element, depth: number): DocumentElement[] | undefined {
    const { tagName } = element;
    const level = /^h([1-6])$/.exec(tagName)?.[1];
    if (level !== undefined) return this.#heading(element, depth, Number(level));
    switch (tagName) {
      case "ul":
      case "ol":
      case "menu":
        return this.#list(element, depth);
      case "table":
        return isLayout(element) ? undefined : this.#table(element, depth);
      case "pre":
      case "listing":
        return [this.#code(element, depth)];
      case "svg": {
        const description = oneLine(this.#textOf(element, depth));
        if (description !== "") return [{ category: "image", content: { description } }];
        if (attribute(element, "aria-hidden") !== "true") this.#unread.add("drawing");
        return [];
      }
      case "hr":
        return [{ category: "separator", content: { style: "line" } }];
      case "input":
      case "select":
      case "textarea":
        return this.#field(element, depth).map((field) => ({
          category: "form",
          content: { fields: [field] },
        }));
      default:
        return mediaOf(element, (node) => this.#textOf(node, depth));
    }
  }

  /** What follows the block that the node is in, instead of being a part of its text. */
  #makeWithin(element: Element, depth: number, inner: InnerText): DocumentElement[] | undefined {
    const { tagName } = element;
    if (inner.onList !== undefined && /^[uo]l$/.test(tagName)) {
      inner.onList(element, depth);
      this.#endLine();
      return [];
    }
    if (inner.onList !== undefined && (tagName === "pre" || tagName === "table" && !isLayout(element))) {
      return this.#make(element, depth);
    }
    if (tagName === "table") {
      for (const { cells } of this.#rows(element, depth)) {
        this.#endLine();
        this.#text.push({ text: cells.filter((cell) => typeof cell === "string").join(" | ") });
      }
      this.#endLine();
      return [];
    }
    if (/^(?:input|select|textarea)$/.test(tagName)) {
      for (const field of this.#field(element, depth)) this.#add(` ${valueText(field)} `);
      return [];
    }
    if (tagName === "img" && attribute(element, "alt") === "") return [];
    return mediaOf(element, (node) => this.#textOf(node, depth));
  }

  #endText(): void {
    const text = collapseLines(joinText(this.#text));
    const links = this.#links;
    const formula = this.#formula;
    this.#text = [];
    this.#links = [];
    this.#formula = undefined;
    if (formula?.text === text) {
      this.elements.push({ category: "formula", content: { expression: formula.expression } });
      return;
    }
    const [only] = links;
    // A paragraph that is nothing but a link.
    if (links.length === 1 && only?.category === "link" && only.content.text === text) {
      this.elements.push(only);
      return;
    }
    if (text !== "") this.elements.push({ category: "text", content: { text } });
    for (const link of links) this.elements.push(link);
  }

  #addLink(element: Element, words: string, inner?: InnerText): void {
    const url = attribute(element, "href") ?? "";
    if (inner !== undefined) {
      if (OUTSIDE.test(url)) this.#others.push(link(element, "href", collapseLines(words)));
    } else if (url !== "" && !url.startsWith("#") && !/^\s*javascript:/i.test(url)) {
      this.#links.push(link(element, "href", collapseLines(words)));
    }
  }

  /** A formula is a part of its paragraph, unless it stands alone. */
  #math(element: Element, depth: number, inner?: InnerText): void {
    const text = oneLine(mathmlText(element, this.#maxDepth - depth));
    const isBlock = attribute(element, "display") === "block" && inner === undefined;
    if (isBlock) this.#endText();
    this.#add(text);
    this.#formula = { expression: attribute(element, "alttext") ?? text, text };
    if (isBlock) this.#endText();
  }

  #heading(element: Element, depth: number, level: number): DocumentElement[] {
    return this.#withOthers(() => {
      const text = oneLine(this.#textOf(element, depth));
      // Links of headings to a place in a page are signs that lead to them.
      this.#others = this.#others.filter(({ category, content }) =>
        category !== "link" || !content.url.includes("#")
      );
      return text === "" ? [] : [{ category: "heading", content: { level, text } }];
    });
  }

  #code(element: Element, depth: number): DocumentElement {
    const inner = elementsBelow(element).find(({ tagName }) => tagName === "code");
    const classes = `${attribute(element, "class") ?? ""} ${inner && attribute(inner, "class") || ""}`;
    const language = /(?:^|\s)lang(?:uage)?-(\S+)/.exec(classes)?.[1];
    const othersBefore = this.#others.length;
    const code = this.#textOf(element, depth, { keepsSpaces: true }).replace(/\n$/, "");
    this.#others.length = othersBefore;
    if (language === "mermaid") {
      return { category: "diagram", content: { diagram_type: language, source: code } };
    }
    return { category: "code", content: { ...(language === undefined ? {} : { language }), code } };
  }

  /** What is made, and then what belongs after it. */
  #withOthers(make: () => DocumentElement[]): DocumentElement[] {
    const outer = this.#others;
    this.#others = [];
    const elements = [...make(), ...this.#others];
    this.#others = outer;
    return elements;
  }

  #list(element: Element, depth: number): DocumentElement[] {
    return this.#withOthers(() => {
      const content = this.#listContent(element, depth);
      return content.items.length === 0 ? [] : [{ category: "list", content }];
    });
  }

  #listContent(element: Element, depth: number): ListContent {
    const items: [label: string | undefined, ListItem][] = [];
    const numberOf = numberingOf(element);
    for (const node of element.childNodes) {
      if ("tagName" in node && isSkipped(node)) continue;
      const lists: ListContent[] = [];
      const onList = (list: Element, inner: number) => lists.push(this.#listContent(list, inner));
      const isList = /^[uo]l$/.test(node.nodeName);
      if (isList) onList(node as Element, depth + 1);
      const text = isList ? "" : collapseLines(this.#textOf(node, depth + 1, { onList }));
      const below = joinLists(lists);
      const last = items.at(-1);
      if (below.items.length === 0) {
        if (text !== "") items.push([numberOf(node), text]);
        // A list between two items belongs to the one before.
      } else if (isList && typeof last?.[1] === "string") last[1] = { text: last[1], ...below };
      else items.push([numberOf(node), { text, ...below }]);
    }
    return listOf(items);
  }

  #table(element: Element, depth: number): DocumentElement[] {
    return this.#withOthers(() => {
      const rows = [...this.#rows(element, depth)];
      const caption = elementsBelow(element).find(({ tagName }) => tagName === "caption");
      const title = caption === undefined ? "" : oneLine(this.#textOf(caption, depth));
      const elements: DocumentElement[] = title === ""
        ? []
        : [{ category: "text", content: { text: title } }];
      const [first] = rows;
      if (
        first === undefined ||
        rows.every(({ cells }) => cells.every((cell) => typeof cell !== "string" || cell === ""))
      ) return elements;
      elements.push(tableOf(rows.map(({ cells }) => cells), first.isHeader ? 1 : 0));
      return elements;
    });
  }

  *#rows(
    element: Element,
    depth: number,
    spans: number[] = [],
  ): Generator<{ readonly cells: PlacedCell[]; readonly isHeader: boolean }> {
    for (const node of elementsBelow(element)) {
      if (isHidden(node)) continue;
      // A cell does not reach beyond its group of rows.
      if (["thead", "tbody", "tfoot"].includes(node.tagName)) yield* this.#rows(node, depth + 1);
      if (node.tagName !== "tr") continue;
      const cells = elementsBelow(node).filter((cell) => /^t[dh]$/.test(cell.tagName) && !isHidden(cell));
      yield {
        cells: this.#cells(cells, depth, spans),
        isHeader: cells.length > 0 && cells.every(({ tagName }) => tagName === "th"),
      };
    }
  }

  /**
   * The texts of the cells of a row, each in its column, with what other cells cover.
   *
   * @param spans in how many further rows each column is covered from above; is updated
   */
  #cells(cells: readonly Element[], depth: number, spans: number[]): PlacedCell[] {
    const row: PlacedCell[] = [];
    const skipCovered = () => {
      for (let left = spans[row.length] ?? 0; left > 0; left = spans[row.length] ?? 0) {
        spans[row.length] = left - 1;
        if (++this.#covered > MAX_COVERED) throw unreadable("too_large", "its tables have too many cells");
        row.push(COVERED_FROM_ABOVE);
      }
    };
    for (const cell of cells) {
      skipCovered();
      const rowSpan = attribute(cell, "rowspan") === "0" ? Infinity : spanOf(cell, "rowspan", MAX_ROW_SPAN);
      const text = collapseLines(this.#textOf(cell, depth + 1));
      for (let column = spanOf(cell, "colspan", MAX_SPAN); column > 0; column--) {
        spans[row.length] = rowSpan - 1;
        row.push(COVERED_FROM_LEFT);
      }
      row[row.length - spanOf(cell, "colspan", MAX_SPAN)] = text;
    }
    skipCovered();
    return row;
  }

  #field(element: Element, depth: number): FormField[] {
    const textOf = (node: Element) => this.#textOf(node, depth, { keepsSpaces: true });
    return [fieldOf(element, textOf)].filter((field) => field !== undefined);
  }

  #textOf(node: Node, depth: number, inner: InnerText = {}): string {
    const outer = this.#text;
    this.#text = [];
    if ("tagName" in node) this.#visitChildren(node, depth, inner);
    else this.#visit(node, depth, inner);
    const text = joinText(this.#text);
    this.#text = outer;
    return text;
  }
}
