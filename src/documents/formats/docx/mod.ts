/** Documents of Word and others (DOCX). Changes that are tracked are shown as accepted; nothing is run. */
import type { DocumentElement, DocumentPage } from "../../../provider/documents/source.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { OfficePackage } from "../ooxml.ts";
import { divide, headingsOf, openingOf, sectionLevel, toSections, withIds } from "../sections.ts";
import { at } from "../xml.ts";
import { ZipParts } from "../zip.ts";
import { BodyReader } from "./body.ts";

/** Opens a document. A page is what is between page breaks, and a section under a top heading. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const parts = new ZipParts(bytes, limits);
  const office = new OfficePackage(parts, limits);
  const main = [...office.relationships("").values()].find(({ type }) => type === "officeDocument")?.target;
  const body = main === undefined ? undefined : at(office.xml(main), "document", "body");
  if (main === undefined || body === undefined) {
    throw unreadable("damaged", "the file is damaged, or no document of this format");
  }
  const reader = new BodyReader(office, main);
  const segments = reader.read(body);
  const elements = segments.flat();
  const { title = headingsOf(elements, 1)[0], subject, keywords } = office.properties();
  const pages = toPages(segments, { title: title ?? fileName, ...reader.margins(body) });
  const losses = [...reader.losses];
  if (parts.names.some((name) => name.endsWith("vbaproject.bin"))) losses.push("Macros are not shown");
  return {
    facts: {
      title,
      pageCount: pages.length,
      pageTitles: pages.map((page) => page.title),
      headings: headingsOf(elements),
      keywords,
      opening: [...subject === undefined ? [] : [subject], openingOf(elements)].join("\n"),
      losses,
    },
    page: (index) => pages[index] ?? { title: "", elements: [] },
  };
}

function toPages(
  segments: readonly (readonly DocumentElement[])[],
  { title, header, footer }: {
    readonly title: string;
    readonly header: readonly DocumentElement[];
    readonly footer: readonly DocumentElement[];
  },
): DocumentPage[] {
  const level = sectionLevel(segments.flat());
  const [first = toSections([], title)[0], ...others] = segments.filter((segment) => segment.length > 0)
    .flatMap((segment) => divide(segment, { title, level }));
  const pages = first === undefined
    ? others
    : [{ ...first, elements: [...header, ...first.elements, ...footer] }, ...others];
  return pages.map(({ title, elements }, index) => ({ title, elements: withIds(elements, index) }));
}
