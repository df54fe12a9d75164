/** Documents of Word and others (DOCX). Tracked changes are shown as accepted, deletions as annotations; nothing is run. */
import type { DocumentElement, DocumentPage } from "../../../provider/documents/source.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { OfficePackage } from "../ooxml.ts";
import { divide, documentOf, headingsOf, sectionLevel, withIds } from "../sections.ts";
import { at } from "../xml.ts";
import { BodyReader, type Segment } from "./body.ts";
import { readChunks } from "./chunks.ts";

/** Opens a document. A page is what is between page breaks, and a section under a top heading. */
export async function open({ bytes, fileName, limits, openInner }: ParseInput): Promise<ParsedDocument> {
  const office = new OfficePackage(bytes, limits);
  const { part, root } = office.main("document");
  const body = at(root, "body");
  if (body === undefined) throw unreadable("damaged", "the file is damaged");
  const reader = new BodyReader(office, part, await readChunks(office, part, { limits, openInner }));
  const segments = reader.read(body);
  const elements = segments.flatMap(({ elements }) => elements);
  const { title = headingsOf(elements, 1)[0], subject, keywords } = office.properties();
  const pages = toPages(segments, { title: title ?? fileName, level: sectionLevel(elements) });
  const losses = [...reader.losses, ...office.losses];
  return documentOf(pages, { elements, title, subject, keywords, losses });
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
  return pages.map(({ title, elements }, index) => ({ title, elements: withIds(elements, index) }));
}
