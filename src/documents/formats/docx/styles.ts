/** What the styles and lists of a document mean. */
import { at, childrenOf, type XmlNode } from "../xml.ts";

/** The most styles that a style may be based on. */
const MAX_BASES = 20;

/** What a style makes of a paragraph. */
export type ParagraphKind = { readonly heading: number } | { readonly code: true } | undefined;

/** The styles of a document, by id. */
export class Styles {
  readonly #styles: ReadonlyMap<string, XmlNode>;
  readonly #known = new Map<string, ParagraphKind>();

  constructor(part: XmlNode | undefined) {
    const styles = childrenOf(at(part, "styles"), "style");
    this.#styles = new Map(styles.map((style) => [style.attributes["styleId"] ?? "", style]));
  }

  /** What a style makes of a paragraph, by itself or by those that it is based on. */
  kindOf(id: string): ParagraphKind {
    if (!this.#known.has(id)) this.#known.set(id, this.#read(id));
    return this.#known.get(id);
  }

  /** The list that a style puts its paragraphs into. */
  listOf(id: string): XmlNode | undefined {
    return this.#bases(id).map((style) => at(style, "pPr", "numPr")).find((list) => list !== undefined);
  }

  /** How far a style indents its paragraphs, in twentieths of a point. */
  indentOf(id: string): number | undefined {
    return this.#bases(id).map((style) => indentOf(at(style, "pPr"))).find((indent) => indent !== undefined);
  }

  #read(id: string): ParagraphKind {
    for (const style of this.#bases(id)) {
      const name = at(style, "name")?.attributes["val"]?.toLowerCase() ?? "";
      const level = /^heading (\d)$/.exec(name)?.[1];
      if (level !== undefined) return { heading: Math.min(Number(level), 6) };
      if (name === "title") return { heading: 1 };
      const outline = outlineLevel(at(style, "pPr"));
      if (outline !== undefined) return { heading: outline };
      if (/\b(code|preformatted|source|macro)\b/.test(name)) return { code: true };
    }
    return undefined;
  }

  #bases(id: string): XmlNode[] {
    const bases: XmlNode[] = [];
    for (let style = this.#styles.get(id); style !== undefined && bases.length < MAX_BASES;) {
      bases.push(style);
      style = this.#styles.get(at(style, "basedOn")?.attributes["val"] ?? "");
    }
    return bases;
  }
}

/** The level of a heading that the properties of a paragraph set; from 1. */
export function outlineLevel(properties: XmlNode | undefined): number | undefined {
  const level = Number(at(properties, "outlineLvl")?.attributes["val"] ?? NaN);
  return level >= 0 && level < 9 ? Math.min(level + 1, 6) : undefined;
}

/** How far the properties of a paragraph indent it, in twentieths of a point. */
export function indentOf(properties: XmlNode | undefined): number | undefined {
  const { left, start } = at(properties, "ind")?.attributes ?? {};
  const indent = Number.parseInt(left ?? start ?? "", 10);
  return Number.isNaN(indent) ? undefined : indent;
}

/** The lists of a document. */
export class Numbering {
  readonly #lists: ReadonlyMap<string, XmlNode>;
  readonly #kinds: ReadonlyMap<string, XmlNode>;

  constructor(part: XmlNode | undefined) {
    const numbering = at(part, "numbering");
    const kinds = childrenOf(numbering, "abstractNum");
    this.#kinds = new Map(kinds.map((kind) => [kind.attributes["abstractNumId"] ?? "", kind]));
    this.#lists = new Map(childrenOf(numbering, "num").map((list) => [list.attributes["numId"] ?? "", list]));
  }

  /** Whether the items at a level of a list have numbers; `undefined` when there is no such list. */
  isOrdered(list: string, level: number): boolean | undefined {
    const format = at(this.#level(list, level), "numFmt")?.attributes["val"];
    return format === undefined ? undefined : format !== "bullet" && format !== "none";
  }

  /** How far the items at a level of a list are indented, in twentieths of a point. */
  indentOf(list: string, level: number): number | undefined {
    return indentOf(at(this.#level(list, level), "pPr"));
  }

  #level(list: string, level: number): XmlNode | undefined {
    const kind = this.#kinds.get(at(this.#lists.get(list), "abstractNumId")?.attributes["val"] ?? "");
    return childrenOf(kind, "lvl").find(({ attributes }) => Number(attributes["ilvl"]) === level);
  }
}
