/** The elements of a tagged page: its structure tree says what they are. */
import type { ListItem } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { joinLines, type TextItem, toLines } from "./lines.ts";

/** A node of the structure tree, as PDF.js gives it. */
export interface StructureNode {
  readonly role: string;
  readonly alt?: string;
  readonly children: readonly (StructureNode | { readonly type: string; readonly id: string })[];
}

/** How many characters texts have. */
export function lettersOf(items: readonly TextItem[]): number {
  return items.reduce((sum, { str }) => sum + str.trim().length, 0);
}

/** What a structure tree says of a page. */
export interface TaggedElements {
  /** In the order of the tree, without ids. */
  readonly elements: DocumentElement[];
  /** The texts of each paragraph and heading. */
  readonly blocks: readonly (readonly TextItem[])[];
  /** How many characters no node of the tree contains. */
  readonly missing: number;
}

interface TagOptions {
  readonly maxDepth: number;
  /** The elements of texts that have no tags of their own, such as those of a drawing. */
  readonly byLook: (items: readonly TextItem[]) => readonly DocumentElement[];
}

/** Reads a structure tree, with the texts of each marked content by its id. */
export function toTaggedElements(
  node: StructureNode,
  texts: ReadonlyMap<string, readonly TextItem[]>,
  options: TagOptions,
): TaggedElements {
  const reader = new TagReader(texts, options);
  const elements = [...reader.read(node, 0)];
  const missing = [...reader.unread.values()].reduce((sum, items) => sum + lettersOf(items), 0);
  return { elements, blocks: reader.blocks, missing };
}

class TagReader {
  readonly blocks: TextItem[][] = [];
  /** The texts of the marked contents that are not read yet; each is read once. */
  readonly unread: Map<string, readonly TextItem[]>;
  readonly #maxDepth: number;
  readonly #byLook: TagOptions["byLook"];

  constructor(texts: ReadonlyMap<string, readonly TextItem[]>, { maxDepth, byLook }: TagOptions) {
    this.unread = new Map(texts);
    [this.#maxDepth, this.#byLook] = [maxDepth, byLook];
  }

  *read(node: StructureNode, depth: number): Generator<DocumentElement, void> {
    if (depth > this.#maxDepth) return;
    const level = /^H([1-6])$/.exec(node.role)?.[1] ??
      (node.role === "H" || node.role === "Title" ? "1" : undefined);
    if (level !== undefined) {
      const text = this.#join(this.#partsOf(node, depth));
      if (text !== "") yield { category: "heading", content: { level: Number(level), text } };
      return;
    }
    switch (node.role) {
      case "L": {
        const items = this.#items(node, depth);
        if (items.length > 0) yield { category: "list", content: { items } };
        return;
      }
      case "Table":
        return yield* this.#table(node, depth);
      case "Figure":
        return yield* this.#figure(node, depth);
      case "Formula": {
        const expression = node.alt || this.#textOf(node, depth);
        if (expression !== "") yield { category: "formula", content: { expression } };
        return;
      }
      case "Code": {
        const code = this.#textOf(node, depth);
        if (code !== "") yield { category: "code", content: { code } };
        return;
      }
    }
    if (NOTES.includes(node.role)) yield* this.#text([...this.#partsOf(node, depth)]);
    else yield* this.#flow(node.children, depth, PARAGRAPHS.includes(node.role) ? INSIDE : []);
  }

  /** Texts, and the blocks between them, each an element of its own. Rows and items that stand alone are a table and a list. */
  *#flow(
    children: StructureNode["children"],
    depth: number,
    inside: readonly string[] = [],
  ): Generator<DocumentElement, void> {
    let loose: Part[] = [];
    const after: StructureNode[] = [];
    for (const [at, child] of children.entries()) {
      const owner = isNode(child) ? OWNERS[child.role] : undefined;
      const before = children[at - 1];
      if (!isNode(child) || isInline(child) || inside.includes(child.role)) {
        const isNote = isNode(child) && NOTES.includes(child.role);
        if (!isNote) { for (const part of this.#partsOfChild(child, depth)) loose.push(part); }
        // A note, and the description of a picture in a line, follow the paragraph.
        if (isNote || isNode(child) && child.role === "Figure") after.push(child);
        continue;
      }
      yield* this.#text(loose);
      loose = [];
      if (owner === undefined) yield* this.read(child, depth + 1);
      else if (before === undefined || !isNode(before) || OWNERS[before.role] !== owner) {
        const end = children.findIndex((other, place) =>
          place > at && (!isNode(other) || OWNERS[other.role] !== owner)
        );
        yield* this.read({ role: owner, children: children.slice(at, end < 0 ? undefined : end) }, depth + 1);
      }
    }
    yield* this.#text(loose);
    for (const child of after) yield* this.read(child, depth + 1);
  }

  *#text(parts: readonly Part[]): Generator<DocumentElement, void> {
    const text = this.#join(parts);
    if (text !== "") yield { category: "text", content: { text } };
  }

  /** A description hides no text: what a drawing shows, or the caption below it, follows it. */
  *#figure(node: StructureNode, depth: number): Generator<DocumentElement, void> {
    const isBlock = (child: StructureNode["children"][number]) => isNode(child) && !isInline(child);
    const loose = node.children.filter((child) => !isBlock(child));
    const parts = loose.flatMap((child) => [...this.#partsOfChild(child, depth)]);
    const items = parts.filter((part) => part !== BREAK);
    const isShort = toLines(items).length <= MAX_LABEL_LINES;
    const description = node.alt || (isShort ? join(parts) : "");
    if (description !== "") yield { category: "image", content: { description } };
    if (node.alt || !isShort) yield* this.#byLook(items);
    yield* this.#flow(node.children.filter(isBlock), depth);
  }

  #items(list: StructureNode, depth: number): ListItem[] {
    if (depth > this.#maxDepth) return [];
    return list.children.filter(isNode).flatMap((item): ListItem[] => {
      if (item.role === "L") return this.#items(item, depth + 1);
      const nested: ListItem[] = [];
      const text = this.#textOf(item, depth, (inner) => nested.push(...this.#items(inner, depth + 2)))
        .replace(/^[•◦▪●○■–-]\s*/u, "");
      if (nested.length > 0) return [{ text, items: nested }];
      return text === "" ? [] : [text];
    });
  }

  *#table(table: StructureNode, depth: number): Generator<DocumentElement, void> {
    const beside: StructureNode["children"][number][] = [];
    const rows = [...this.#rows(table, depth, beside)];
    yield* this.#flow(beside, depth);
    const [first] = rows;
    if (first === undefined) return;
    const headers = first.isHeader ? first.cells : [];
    const body = (first.isHeader ? rows.slice(1) : rows).map(({ cells }) => cells);
    yield { category: "table", content: { headers, rows: body, total_rows: body.length } };
  }

  /** The rows of a table. What is in none, such as its caption, is put beside. */
  *#rows(
    node: StructureNode,
    depth: number,
    beside: StructureNode["children"][number][],
  ): Generator<{ cells: string[]; isHeader: boolean }, void> {
    if (depth > this.#maxDepth) return;
    for (const child of node.children) {
      if (!isNode(child) || !["TR", "THead", "TBody", "TFoot"].includes(child.role)) beside.push(child);
      else if (child.role !== "TR") yield* this.#rows(child, depth + 1, beside);
      else {
        const cells = child.children.filter(isNode);
        const loose = child.children.filter((cell) => !isNode(cell));
        const text = join(loose.flatMap((cell) => [...this.#partsOfChild(cell, depth)]));
        yield {
          cells: [...(text === "" ? [] : [text]), ...cells.map((cell) => this.#textOf(cell, depth + 1))],
          isHeader: cells.length > 0 && cells.every(({ role }) => role === "TH"),
        };
      }
    }
  }

  /** The text of a paragraph or a heading. */
  #join(given: Iterable<Part>): string {
    const parts = [...given];
    const items = parts.filter((part) => part !== BREAK);
    if (items.length > 0) this.blocks.push(items);
    return join(parts);
  }

  #textOf(node: StructureNode, depth: number, onList?: (list: StructureNode) => void): string {
    return join(this.#partsOf(node, depth, onList));
  }

  *#partsOf(
    node: StructureNode,
    depth: number,
    onList?: (list: StructureNode) => void,
  ): Generator<Part, void> {
    if (depth > this.#maxDepth) return;
    for (const child of node.children) {
      if (isNode(child) && child.role === "L" && onList !== undefined) onList(child);
      else yield* this.#partsOfChild(child, depth, onList);
    }
  }

  /** The texts of a child. A block stands between two {@linkcode BREAK}s. */
  *#partsOfChild(
    child: StructureNode["children"][number],
    depth: number,
    onList?: (list: StructureNode) => void,
  ): Generator<Part, void> {
    if (!isNode(child)) {
      yield* this.unread.get(child.id) ?? [];
      this.unread.delete(child.id);
      return;
    }
    if (isInline(child)) return yield* this.#partsOf(child, depth + 1, onList);
    yield BREAK;
    yield* this.#partsOf(child, depth + 1, onList);
    yield BREAK;
  }
}

/** What a row or an item that stands alone belongs to. */
const OWNERS: Readonly<Record<string, string>> = {
  TR: "Table",
  THead: "Table",
  TBody: "Table",
  TFoot: "Table",
  LI: "L",
};
const PARAGRAPHS: readonly string[] = ["P", "Caption", "BlockQuote"];
/** Their labels stand in their lines. */
const NOTES: readonly string[] = ["Note", "FENote", "TOCI"];
/** What stands in the lines of a paragraph. */
const INSIDE: readonly string[] = ["Figure", "Formula", "Code", "Note", "FENote", "Ruby", "Warichu"];
/** With more lines, the text of a drawing without a description is no description. */
const MAX_LABEL_LINES = 2;

/** The beginning or the end of a block. */
const BREAK = "break";
type Part = TextItem | typeof BREAK;

/** Joins texts by their places: each line and each part of one may be a marked content of its own. */
function join(parts: Iterable<Part>): string {
  const blocks: TextItem[][] = [[]];
  for (const part of parts) {
    if (part === BREAK) blocks.push([]);
    else blocks.at(-1)?.push(part);
  }
  return blocks.map((items) => joinLines(toLines(items))).filter((text) => text !== "").join(" ");
}

function isNode(child: StructureNode["children"][number]): child is StructureNode {
  return "role" in child;
}

function isInline({ role }: StructureNode): boolean {
  return ["Span", "Link", "Em", "Strong", "Sub", "Reference", "Quote", "Lbl", "LBody", "Annot"].includes(
    role,
  );
}
