/** HTML. Scripts and styles are left out, and nothing is fetched. */
import { parse, parseFragment, serialize } from "parse5";
import { declaredEncoding, decodeText } from "../decode_text.ts";
import type { ParsedDocument, ParseInput, ParseLimits } from "../format.ts";
import { documentOf, headingsOf, toSections } from "../sections.ts";
import { metaEncoding, toHtmlSyntax } from "./dom.ts";
import { HtmlReader } from "./reader.ts";

/** Opens an HTML file. Its pages are the sections under its top headings. */
export function open({ bytes, fileName, limits }: ParseInput): ParsedDocument {
  const { text, losses: textLosses } = decodeText(
    bytes,
    (head) => metaEncoding(head) ?? declaredEncoding(head),
  );
  const reading = readHtml(toHtmlSyntax(text), limits);
  const { elements, title = headingsOf(elements, 1)[0], description, keywords } = reading;
  return documentOf(toSections(elements, reading.title ?? fileName), {
    elements,
    title,
    subject: description,
    keywords,
    losses: [...reading.losses, ...textLosses],
  });
}

/** Reads HTML, also of other formats that contain it. */
export function readHtml(text: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): HtmlReader {
  const reader = new HtmlReader(maxDepth);
  reader.read(parse(text));
  return reader;
}

/** A piece of HTML that ends what it begins. */
export function closed(html: string): string {
  return html.includes("<") ? serialize(parseFragment(html)) : html;
}
