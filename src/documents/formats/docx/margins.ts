/** The headers and footers of a document, at the beginning of the sections that they are of. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
import type { Relationship } from "../ooxml.ts";
import { at, childrenOf, type XmlNode } from "../xml.ts";
import { type DocumentParts, PartReader } from "./inline.ts";
import { isOn } from "./styles.ts";

/** The headers and footers of a section that differ from those of the section before it. */
export interface Margins {
  readonly header: readonly DocumentElement[];
  readonly footer: readonly DocumentElement[];
}

/** The kinds of pages that have margins of their own, and how they are told where there are several. */
const KINDS = { first: "first page", default: "other pages", even: "even pages" } as const;

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
    const kinds = (Object.keys(KINDS) as (keyof typeof KINDS)[]).filter((kind) =>
      kind === "default" || (kind === "even" ? hasEven : isOn(at(section, "titlePg")))
    );
    const read = (category: "header" | "footer") =>
      kinds.flatMap((kind): DocumentElement[] => {
        const target = targets.get(`${category}Reference ${kind}`);
        const others: DocumentElement[] = [];
        const text = target === undefined ? "" : marginText(target, parts, others);
        if (shown.get(`${category} ${kind}`) === text) return [];
        shown.set(`${category} ${kind}`, text);
        if (text === "") return others;
        const place = kinds.length === 1 ? {} : { pages: KINDS[kind] };
        const summary = kinds.length === 1 ? {} : {
          summary: `On ${
            kinds.length === 2 && kind === "default" && hasEven ? "odd pages" : KINDS[kind]
          }: ${text}`,
        };
        return [{ category, ...summary, content: { text, ...place } }, ...others];
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
