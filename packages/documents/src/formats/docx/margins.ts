/** The headers and footers of a document, at the beginning of the sections that they are of. */
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import type { Relationship } from "../ooxml.ts";
import { isOn } from "../run_form.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { type DocumentParts, PartReader } from "./inline.ts";

/** The headers and footers of a section that differ from those of the section before it. */
export interface Margins {
  readonly header: readonly DocumentElement[];
  readonly footer: readonly DocumentElement[];
}

/**
 * Reads the margins of each section. A section without one of a kind has that of the section before.
 *
 * @param hasEven whether even pages have their own
 */
export function readMargins(
  sections: readonly XmlNode[],
  { parts, related, hasEven }: {
    readonly parts: DocumentParts;
    readonly related: ReadonlyMap<string, Relationship>;
    readonly hasEven: boolean;
  },
): Margins[] {
  const targets = new Map<string, string>();
  const shown = new Map<string, string>();
  const known = new Map<string, ReturnType<typeof readMargin>>();
  return sections.map((section): Margins => {
    for (const { name, attributes: { type = "default", id = "" } } of childrenOf(section)) {
      const target = related.get(id)?.target;
      if (target !== undefined) targets.set(`${name} ${type}`, target);
    }
    const hasFirst = isOn(at(section, "titlePg"));
    const kinds = [
      ...hasFirst ? [["first", "first page"]] : [],
      ["default", hasFirst ? "other pages" : "odd pages"],
      ...hasEven ? [["even", "even pages"]] : [],
    ];
    const read = (category: "header" | "footer") =>
      kinds.flatMap(([kind, pages]): DocumentElement[] => {
        const target = targets.get(`${category}Reference ${kind}`) ?? "";
        if (!known.has(target)) known.set(target, readMargin(target, parts));
        const { text = "", others = [] } = known.get(target) ?? {};
        // Sections often have copies of the margins before them.
        if ((shown.get(`${category} ${kind}`) ?? "") === (text || target)) return [];
        shown.set(`${category} ${kind}`, text || target);
        if (text === "") return [...others];
        const place = kinds.length === 1 ? {} : { summary: `On ${pages}: ${text}`, content: { text, pages } };
        return [{ category, content: { text }, ...place }, ...others];
      });
    return { header: read("header"), footer: read("footer") };
  });
}

function readMargin(target: string, parts: DocumentParts) {
  const others: DocumentElement[] = [];
  const text = new PartReader(parts, target).text(childrenOf(parts.office.xml(target))[0], others).trim();
  // The pictures of margins are logos and the like.
  const pictures = others.filter(({ category }) => category === "image");
  for (const _ of pictures) parts.unread.add("picture in a header or footer");
  return { text, others: others.filter(({ category }) => category !== "image") };
}
