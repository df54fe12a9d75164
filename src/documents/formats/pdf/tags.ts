/** The elements of a tagged page: its structure tree says what they are. */
import type { ListItem } from "../../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { joinLines, type TextItem, toLines } from "./lines.ts";

/** A node of the structure tree, as PDF.js gives it. */
export interface StructureNode {
  readonly role: string;
  readonly alt?: string;
  readonly children: readonly (StructureNode | { readonly type: string; readonly id: string })[];
}

/** Reads the texts of marked content, each at most once. */
export class TaggedTexts {
  readonly #texts: ReadonlyMap<string, readonly TextItem[]>;
  readonly #read = new Set<string>();

  /** @param texts by the id of the marked content */
  constructor(texts: ReadonlyMap<string, readonly TextItem[]>) {
    this.#texts = texts;
  }

  take(id: string): readonly TextItem[] {
    if (this.#read.has(id)) return [];
    this.#read.add(id);
    return this.#texts.get(id) ?? [];
  }

  /** How many characters no node of the tree contains. */
  get missing(): number {
    return [...this.#texts].reduce(
      (sum, [id, items]) => sum + (this.#read.has(id) ? 0 : lettersOf(items)),
      0,
    );
  }
}

/** How many characters texts have. */
export function lettersOf(items: readonly TextItem[]): number {
  return items.reduce((sum, { str }) => sum + str.trim().length, 0);
}

/** The elements of a structure tree, in its order, without ids. */
export function toTaggedElements(
  node: StructureNode,
  texts: TaggedTexts,
  maxDepth: number,
): DocumentElement[] {
  return [...new TagReader(texts, maxDepth).read(node, 0)];
}

class TagReader {
  readonly #texts: TaggedTexts;
  readonly #maxDepth: number;

  constructor(texts: TaggedTexts, maxDepth: number) {
    this.#texts = texts;
    this.#maxDepth = maxDepth;
  }

  *read(node: StructureNode, depth: number): Generator<DocumentElement, void> {
    if (depth > this.#maxDepth) return;
    const level = /^H([1-6])$/.exec(node.role)?.[1] ??
      (node.role === "H" || node.role === "Title" ? "1" : undefined);
    if (level !== undefined) {
      const text = this.#textOf(node, depth);
      if (text !== "") yield { category: "heading", content: { level: Number(level), text } };
      return;
    }
    switch (node.role) {
      case "P":
      case "Caption":
      case "Note":
      case "FENote":
      case "BlockQuote":
      case "TOCI":
        return yield* this.#paragraph(node, depth);
      case "L": {
        const items = this.#items(node, depth);
        if (items.length > 0) yield { category: "list", content: { items } };
        return;
      }
      case "Table":
        return yield* this.#table(node, depth);
      case "Figure": {
        const text = this.#textOf(node, depth);
        const description = node.alt || text;
        if (description !== "") yield { category: "image", content: { description } };
        return;
      }
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
    const loose: Part[] = [];
    for (const child of node.children) {
      if (isNode(child) && !isInline(child)) yield* this.read(child, depth + 1);
      else for (const part of this.#partsOfChild(child, depth)) loose.push(part);
    }
    const text = join(loose);
    if (text !== "") yield { category: "text", content: { text } };
  }

  *#paragraph(node: StructureNode, depth: number): Generator<DocumentElement, void> {
    const text = this.#textOf(node, depth);
    if (text !== "") yield { category: "text", content: { text } };
    for (const child of node.children) {
      if (isNode(child) && child.role === "Figure") yield* this.read(child, depth + 1);
    }
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
    const rows = [...this.#rows(table, depth)];
    const [first] = rows;
    if (first === undefined) return;
    const headers = first.isHeader ? first.cells : [];
    const body = (first.isHeader ? rows.slice(1) : rows).map(({ cells }) => cells);
    yield { category: "table", content: { headers, rows: body, total_rows: body.length } };
  }

  *#rows(node: StructureNode, depth: number): Generator<{ cells: string[]; isHeader: boolean }, void> {
    if (depth > this.#maxDepth) return;
    for (const child of node.children.filter(isNode)) {
      if (child.role !== "TR") yield* this.#rows(child, depth + 1);
      else {
        const cells = child.children.filter(isNode);
        yield {
          cells: cells.map((cell) => this.#textOf(cell, depth + 1)),
          isHeader: cells.length > 0 && cells.every(({ role }) => role === "TH"),
        };
      }
    }
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
    if (!isNode(child)) return yield* this.#texts.take(child.id);
    if (isInline(child)) return yield* this.#partsOf(child, depth + 1, onList);
    yield BREAK;
    yield* this.#partsOf(child, depth + 1, onList);
    yield BREAK;
  }
}

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
