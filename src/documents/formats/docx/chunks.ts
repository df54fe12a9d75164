/** Files inside of a document that Word shows as a part of it (`altChunk`): HTML, text, web archives, documents. */
import type { DocumentElement } from "../../../provider/documents/source.ts";
import { DocumentError, type ParseInput } from "../format.ts";
import type { OfficePackage } from "../ooxml.ts";
import { at, childrenOf } from "../xml.ts";

/** How files of their content types end, where the names of the parts do not say it. */
const EXTENSIONS: readonly (readonly [RegExp, string])[] = [
  [/html/, ".html"],
  [/rfc822|mht/, ".eml"],
  [/wordprocessingml/, ".docx"],
  [/^text\/plain/, ".txt"],
];

/** Reads each file that a part embeds, by its part; without those that cannot be read. */
export async function readChunks(
  office: OfficePackage,
  main: string,
  { limits, openInner }: Pick<ParseInput, "limits" | "openInner">,
): Promise<Map<string, readonly DocumentElement[]>> {
  const chunks = new Map<string, readonly DocumentElement[]>();
  for (const { type, target, isExternal } of office.relationships(main).values()) {
    if (type !== "aFChunk" || isExternal) continue;
    const bytes = office.bytes(target);
    if (bytes === undefined) continue;
    try {
      // Documents in documents have half as much room each, so that they have an end.
      const inner = { ...limits, maxUnpackedBytes: Math.floor(limits.maxUnpackedBytes / 2) };
      const fileName = fileNameOf(office, target);
      const document = await openInner?.({ bytes: new Uint8Array(bytes), fileName, limits: inner });
      if (document === undefined) continue;
      const { pageCount, losses } = document.facts;
      const elements: DocumentElement[] = [];
      for (let page = 0; page < pageCount; page++) elements.push(...(await document.page(page)).elements);
      // A web archive is written as a message, whose headers are not those of a person.
      const start = fileName.endsWith(".eml")
        ? elements.findIndex(({ category }) => category === "table") + 1
        : 0;
      const notes = losses.map((text): DocumentElement => ({ category: "annotation", content: { text } }));
      chunks.set(target, [...elements.slice(start), ...notes]);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
    }
  }
  return chunks;
}

function fileNameOf(office: OfficePackage, part: string): string {
  const extension = part.slice(part.lastIndexOf(".") + 1).toLowerCase();
  const types = childrenOf(at(office.xml("[Content_Types].xml"), "Types")).map(({ attributes }) =>
    attributes
  );
  const { ContentType: type = extension } = types.find(({ PartName }) => PartName === `/${part}`) ??
    types.find(({ Extension }) => Extension?.toLowerCase() === extension) ?? {};
  return part + (EXTENSIONS.find(([pattern]) => pattern.test(type))?.[1] ?? "");
}
