/** Documents of Word before 2007: their text. */
import WordExtractor from "word-extractor";
import { Buffer } from "node:buffer";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";
import { type ParsedDocument, type ParseInput, unreadable } from "../format.ts";
import { annotation, documentOf, tableOf, toSections } from "../sections.ts";
import { toElements } from "../text.ts";
import { isCompoundFile } from "../zip.ts";
import { openDisguised } from "./disguise.ts";

/** The texts of a document beside its body, and how the library names them. */
const BESIDES = {
  Header: "getHeaders",
  Footer: "getFooters",
  Footnotes: "getFootnotes",
  Endnotes: "getEndnotes",
  Comments: "getAnnotations",
  "Text boxes": "getTextboxes",
} as const;
/** Quotes and dashes do not become those of ASCII; headers are apart from footers. */
const AS_WRITTEN = { filterUnicode: false, includeFooters: false };

/** What the library, which has no types, finds in a document. */
type WordTexts = Readonly<
  Record<"getBody" | typeof BESIDES[keyof typeof BESIDES], (options: typeof AS_WRITTEN) => string>
>;

const SECTOR_BYTES = 512;

/** Opens a document. Its pages are those of a text: the format has no page breaks that survive. */
export async function open(input: ParseInput): Promise<ParsedDocument> {
  const disguised = await openDisguised(input, "docx");
  if (disguised !== undefined) return disguised;
  const { bytes, fileName } = input;
  if (!isCompoundFile(bytes)) throw unreadable("damaged", "the file is no document of Word 97 to 2003");
  const texts = await readTexts(bytes);
  const elements = [
    ...bodyOf(texts.getBody(AS_WRITTEN)),
    ...Object.entries(BESIDES).flatMap(([label, name]) => {
      const text = texts[name](AS_WRITTEN).trim();
      return text === "" ? [] : [annotation(label, { text })];
    }),
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
