/** The headers and footers of a document, at the beginning of the sections that they are of. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
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
        const others: DocumentElement[] = [];
        const text = marginText(targets.get(`${category}Reference ${kind}`) ?? "", parts, others);
        if ((shown.get(`${category} ${kind}`) ?? "") === text) return text === "" ? others : [];
        shown.set(`${category} ${kind}`, text);
        if (text === "") return others;
        const place = kinds.length === 1 ? {} : { summary: `On ${pages}: ${text}`, content: { text, pages } };
        return [{ category, content: { text }, ...place }, ...others];
      });
    return { header: read("header"), footer: read("footer") };
  });
}

function marginText(target: string, parts: DocumentParts, others: DocumentElement[]): string {
  const root = parts.office.xml(target);
  const all: DocumentElement[] = [];
  const text = new PartReader(parts, target).text(childrenOf(root)[0], all).trim();
  // The pictures of margins are logos and the like.
  for (const element of all) {
    if (element.category === "image") parts.unread.add("picture in a header or footer");
    else others.push(element);
  }
  return text;
}
