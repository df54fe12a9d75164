/** HTML. Scripts and styles are left out, and nothing is fetched. */
import { parse, parseFragment, serialize } from "parse5";
import { declaredEncoding, decodeText } from "../decode_text.ts";
import { aboutFile } from "../about.ts";
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
  const { elements, head: { title = headingsOf(elements, 1)[0], keywords, said } } = reading;
  return documentOf(toSections(elements, reading.head.title ?? fileName), {
    elements,
    title,
    subject: said.description,
    keywords,
    about: aboutFile(said),
    losses: [...reading.losses, ...textLosses],
  });
}

/** Reads HTML, also of other formats that contain it. */
export function readHtml(text: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): HtmlReader {
  const reader = new HtmlReader(maxDepth);
  reader.read(parse(text));
  return reader;
}

/** Tags that begin an element which has to end. */
const OPENING = /<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b)[a-z]/gi;
const CLOSING = /<\/[a-z]/gi;

/** A piece of HTML that ends what it begins; the text of its tags where it leaves too many elements open. */
export function closed(html: string, { maxDepth }: Pick<ParseLimits, "maxDepth">): string {
  const open = (html.match(OPENING)?.length ?? 0) - (html.match(CLOSING)?.length ?? 0);
  if (open > maxDepth / 2) return html.replaceAll("<", "&lt;");
  return html.includes("<") ? serialize(parseFragment(html)) : html;
}
