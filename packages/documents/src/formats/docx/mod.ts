/** Documents of Word and others (DOCX). Tracked changes are shown as accepted, deletions as annotations; nothing is run. */
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { DocumentError, type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { OfficePackage } from "../ooxml.ts";
import { divide, documentOf, headingsOf, notice, sectionLevel } from "../sections.ts";
import { at, childrenOf } from "../xml.ts";
import { BodyReader, type Segment } from "./body.ts";

/** Opens a document. A page is what is between page breaks, and a section under a top heading. */
export async function open({ bytes, fileName, limits, openInner }: ParseInput): Promise<ParsedDocument> {
  const office = new OfficePackage(bytes, limits);
  const { part, root } = office.main("document");
  const body = at(root, "body");
  if (body === undefined) throw unreadable("damaged", "the file is damaged");
  const reader = new BodyReader(office, part, await readChunks(office, part, { limits, openInner }));
  const segments = reader.read(body);
  const elements = segments.flatMap(({ elements }) => elements);
  const { title = headingsOf(elements, 1)[0], ...properties } = office.properties();
  const pages = toPages(segments, { title: title ?? fileName, level: sectionLevel(elements) });
  const losses = [...reader.losses, ...office.losses];
  return documentOf(pages, { elements, title, ...properties, losses });
}

/** The header and the footer of a section are on its first page. */
function toPages(
  segments: readonly Segment[],
  options: { readonly title: string; readonly level: number },
): DocumentPage[] {
  const pages: DocumentPage[] = [];
  const waiting: { header: DocumentElement[]; footer: DocumentElement[] } = { header: [], footer: [] };
  for (const { elements, margins } of segments) {
    waiting.header.push(...margins.header);
    waiting.footer.push(...margins.footer);
    const isLast = segments.at(-1)?.elements === elements;
    if (elements.length === 0 && !(isLast && pages.length === 0)) continue;
    const [first, ...others] = divide(elements, options);
    if (first === undefined) continue;
    pages.push({ ...first, elements: [...waiting.header, ...first.elements, ...waiting.footer] }, ...others);
    [waiting.header, waiting.footer] = [[], []];
  }
  return pages;
}

/** How files of their content types end, where the names of the parts do not say it. */
const EXTENSIONS: readonly (readonly [RegExp, string])[] = [
  [/html/, ".html"],
  [/rfc822|mht/, ".eml"],
  [/wordprocessingml/, ".docx"],
  [/^text\/plain/, ".txt"],
];

/**
 * Reads each file that a part embeds and shows as a part of itself (`altChunk`: HTML, text, web archives, documents), by its
 * part; without those that cannot be read.
 */
async function readChunks(
  office: OfficePackage,
  main: string,
  { limits, openInner }: Pick<ParseInput, "limits" | "openInner">,
): Promise<Map<string, readonly DocumentElement[]>> {
  const chunks = new Map<string, readonly DocumentElement[]>();
  const parts = [...office.relationships(main).values()].filter(({ type, isExternal }) =>
    type === "aFChunk" && !isExternal
  );
  const targets = new Set(parts.map(({ target }) => target));
  for (const target of targets) {
    const bytes = office.bytes(target);
    if (bytes === undefined) continue;
    try {
      // Documents in documents have half as much room together, so that they have an end.
      const inner = { ...limits, maxUnpackedBytes: Math.floor(limits.maxUnpackedBytes / 2 / targets.size) };
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
      chunks.set(target, [...elements.slice(start), ...losses.map(notice)]);
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
