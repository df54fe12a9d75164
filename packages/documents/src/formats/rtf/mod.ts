/** Rich Text files. Objects and macros in them are named, and not run. */
import { aboutFile } from "../about.ts";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { divide, documentOf, headingsOf, sectionLevel } from "../sections.ts";
import { RtfReader } from "./reader.ts";

/** How many characters are made at a time. */
const CHUNK = 8_192;

/** Opens a file. Its pages are what is between page breaks, and sections under top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const source = toCharacters(bytes);
  const start = source.slice(0, 1_000).indexOf("{\\rtf");
  if (start < 0) throw unreadable("damaged", "the file is no Rich Text");
  const reader = new RtfReader(limits);
  reader.read(source.slice(start));
  const { said, margins } = reader;
  const segments = reader.blocks.placed.read(reader.blocks.toHtml(), limits);
  const elements = segments.flat();
  const title = said.get("title") ?? headingsOf(elements, 1)[0];
  const level = sectionLevel(elements);
  const pages = segments.flatMap((segment) => divide(segment, { title: title ?? fileName, level }));
  const [first = { title: title ?? fileName, elements: [] }, ...others] = pages;
  const ofKind = (kind: string) => margins.filter(({ category }) => category === kind);
  return documentOf([
    { ...first, elements: [...ofKind("header"), ...first.elements, ...ofKind("footer")] },
    ...others,
  ], {
    elements,
    title,
    subject: said.get("subject") ?? said.get("doccomm"),
    keywords: (said.get("keywords") ?? "").split(/[,;]/).map((word) => word.trim()).filter((word) =>
      word !== ""
    ),
    about: aboutFile({
      author: said.get("author"),
      created: said.get("creatim"),
      changed: said.get("revtim"),
      description: said.get("doccomm") ?? said.get("subject"),
    }),
    losses: reader.unread.losses,
  });
}

/** A character for each byte, since the encoding changes with the font. */
function toCharacters(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    parts.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  }
  return parts.join("");
}
