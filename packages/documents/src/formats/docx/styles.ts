/** What the styles of a document mean. */
import { formOf, type RunForm } from "../ooxml.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";

/** The most styles that a style may be based on. */
const MAX_BASES = 20;

export type ParagraphKind = { readonly heading: number } | { readonly code: true } | undefined;

export class Styles {
  readonly #styles: ReadonlyMap<string, XmlNode>;
  readonly #bases = new Map<string, readonly XmlNode[]>();

  constructor(part: XmlNode | undefined) {
    const styles = childrenOf(at(part, "styles"), "style");
    this.#styles = new Map(styles.map((style) => [style.attributes["styleId"] ?? "", style]));
  }

  /** How the runs of a style are written. */
  formOf(id: string): RunForm {
    const forms = this.bases(id).map((style) => formOf(at(style, "rPr")));
    return forms.reduceRight((below, form) => ({ ...below, ...form }), {});
  }

  /** How far a style indents its paragraphs, in twentieths of a point. */
  indentOf(id: string): number | undefined {
    return this.bases(id).map((style) => indentOf(at(style, "pPr"))).find((indent) => indent !== undefined);
  }

  /** What a style makes of a paragraph, by itself or by those that it is based on. */
  kindOf(id: string): ParagraphKind {
    for (const style of this.bases(id)) {
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

  /** A style, and those that it is based on. */
  bases(id: string): readonly XmlNode[] {
    const known = this.#bases.get(id);
    if (known !== undefined) return known;
    const bases: XmlNode[] = [];
    this.#bases.set(id, bases);
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
