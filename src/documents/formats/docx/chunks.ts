/** Files inside of a document that Word shows as a part of it (`altChunk`): HTML, text, web archives, documents. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { DocumentError, type ParseLimits } from "../format.ts";
import { type FileKind, kindOf, loadParser } from "../kinds.ts";
import type { OfficePackage } from "../ooxml.ts";
import { at, childrenOf } from "../xml.ts";

/** The kinds of their content types, where the names of the parts do not say them. */
const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/html/, "html"],
  [/rfc822|mht/, "mail"],
  [/wordprocessingml/, "docx"],
  [/^text\/plain/, "text"],
];

/** Reads each file that a part embeds, by its part; without those that cannot be read. */
export async function readChunks(
  office: OfficePackage,
  main: string,
  limits: ParseLimits,
): Promise<Map<string, readonly DocumentElement[]>> {
  const chunks = new Map<string, readonly DocumentElement[]>();
  for (const { type, target, isExternal } of office.relationships(main).values()) {
    if (type !== "aFChunk" || isExternal) continue;
    const bytes = office.bytes(target);
    const kind = kindOfPart(office, target);
    if (bytes === undefined || kind === undefined) continue;
    try {
      // Documents in documents have half as much room each, so that they have an end.
      const inner = { ...limits, maxUnpackedBytes: Math.floor(limits.maxUnpackedBytes / 2) };
      const open = await loadParser(kind);
      const document = await open({ bytes: new Uint8Array(bytes), fileName: target, limits: inner });
      const { pageCount, losses } = document.facts;
      const elements: DocumentElement[] = [];
      for (let page = 0; page < pageCount; page++) elements.push(...(await document.page(page)).elements);
      // A web archive is written as a message, whose headers are not those of a person.
      const start = kind === "mail" ? elements.findIndex(({ category }) => category === "table") + 1 : 0;
      const notes = losses.map((text): DocumentElement => ({ category: "annotation", content: { text } }));
      chunks.set(target, [...elements.slice(start), ...notes]);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
    }
  }
  return chunks;
}

function kindOfPart(office: OfficePackage, part: string): FileKind | undefined {
  const extension = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  const types = childrenOf(at(office.xml("[Content_Types].xml"), "Types")).map(({ attributes }) =>
    attributes
  );
  const { ContentType: type = extension } = types.find(({ PartName }) => PartName === `/${part}`) ??
    types.find(({ Extension }) => Extension?.toLowerCase() === extension) ?? {};
  const kind = KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? kindOf(part);
  return kind === "other" ? undefined : kind;
}
