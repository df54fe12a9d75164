/** Documents of Word before 2007: their text. */
import WordExtractor from "word-extractor";
import { Buffer } from "node:buffer";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { annotation, documentOf, tableOf, toSections } from "../sections.ts";
import { toElements } from "../text.ts";
import { isCompoundFile, openDisguised } from "./disguise.ts";

/** What the library, which has no types, finds in a document. */
interface WordTexts {
  getBody(options: TextOptions): string;
  getHeaders(options: TextOptions): string;
  getFooters(options: TextOptions): string;
  getFootnotes(options: TextOptions): string;
  getEndnotes(options: TextOptions): string;
  getAnnotations(options: TextOptions): string;
  getTextboxes(options: TextOptions): string;
}

interface TextOptions {
  /** Whether quotes and dashes become those of ASCII. */
  readonly filterUnicode: boolean;
  readonly includeFooters?: boolean;
}

const SECTOR_BYTES = 512;

const AS_WRITTEN: TextOptions = { filterUnicode: false };

/** Opens a document. Its pages are those of a text: the format has no page breaks that survive. */
export async function open(input: ParseInput): Promise<ParsedDocument> {
  const disguised = await openDisguised(input, "docx");
  if (disguised !== undefined) return disguised;
  const { bytes, fileName } = input;
  if (!isCompoundFile(bytes)) throw unreadable("damaged", "the file is no document of Word 97 to 2003");
  const texts = await readTexts(bytes);
  const besides = {
    Header: texts.getHeaders({ ...AS_WRITTEN, includeFooters: false }),
    Footer: texts.getFooters(AS_WRITTEN),
    Footnotes: texts.getFootnotes(AS_WRITTEN),
    Endnotes: texts.getEndnotes(AS_WRITTEN),
    Comments: texts.getAnnotations(AS_WRITTEN),
    "Text boxes": texts.getTextboxes(AS_WRITTEN),
  };
  const elements = [
    ...bodyOf(texts.getBody(AS_WRITTEN)),
    ...Object.entries(besides).flatMap(([label, text]) =>
      text.trim() === "" ? [] : [annotation(label, { text: text.trim() })]
    ),
  ];
  return documentOf(toSections(elements, fileName), {
    elements,
    losses: ["The format is read as text: styles of headings, pictures and charts are left out"],
  });
}

async function readTexts(bytes: Uint8Array<ArrayBuffer>): Promise<WordTexts> {
  if (hasPassword(bytes)) throw unreadable("encrypted", "the file has a password; save it without one");
  try {
    return await new WordExtractor().extract(Buffer.from(bytes));
  } catch (cause) {
    throw unreadable("damaged", "the file is damaged, or from before Word 97; save it as DOCX", { cause });
  }
}

/** Each line of a text is a paragraph, and one that ends with a tab is a row of a table. */
function* bodyOf(text: string): Generator<DocumentElement, void> {
  let paragraphs: string[] = [];
  let rows: string[][] = [];
  for (const line of [...text.split("\n"), ""]) {
    const isRow = line.endsWith("\t");
    if (isRow && paragraphs.length > 0) {
      yield* toElements(paragraphs.join("\n\n"));
      paragraphs = [];
    }
    if (!isRow && rows.length > 0) {
      yield tableOf(rows, rows.length > 1 ? 1 : 0);
      rows = [];
    }
    if (isRow) rows.push(line.slice(0, -1).split("\t").map((cell) => cell.trim()));
    else paragraphs.push(line.trim());
  }
  yield* toElements(paragraphs.join("\n\n"));
}

/** The main stream tells it: it begins at a sector, with a number that stands for Word. */
function hasPassword(bytes: Uint8Array): boolean {
  for (let at = SECTOR_BYTES; at < bytes.length; at += SECTOR_BYTES) {
    if (bytes[at] === 0xec && bytes[at + 1] === 0xa5) return ((bytes[at + 11] ?? 0) & 1) !== 0;
  }
  return false;
}
