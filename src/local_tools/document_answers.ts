/** Answers of tools that read a document: its pages or one element, as Markdown with their pictures, in parts. */
import { renderElementMarkdown } from "../dpe/markdown.ts";
import { type PageSpan, renderOutline } from "../dpe/outline.ts";
import { renderElementText } from "../dpe/text.ts";
import type { DPEDocument, DPEElementDetail, DPEFormat, DPEHit, DPEPage } from "../protocol/dpe.ts";
import { escapeUnreadable, toFence, toSeenLine, toSeenWord } from "../text/safe_text.ts";
import { MAX_ROOM, partOf, roomOf } from "./answer_parts.ts";
import { ArgumentError, type Arguments } from "./arguments.ts";
import type { Json, McpContent, McpToolResult } from "./mcp.ts";
import { type DocumentPicture, isDataUrl, picturesOf, toPictureContent, withElementIds } from "./pictures.ts";

/** The most pages that a call may name. */
const MAX_PAGES = 1_000;
/** The longest list of pages, in characters: as many as the pages at most take, each by its number. */
const MAX_RANGES_LENGTH = 10 * MAX_PAGES;
/** A document of more pages answers its outline, unless something of it is named. */
const MAX_WHOLE_PAGES = 20;
/** How much is shown of the data of a picture in JSON. */
const MAX_DATA_LENGTH = 32;

const NO_OUTLINE = "The document has no outline: read some of its pages, or search in it with find_documents";

/** A document, wherever it is. */
export interface ReadableDocument {
  /** Its metadata, and with `outline` its chapters and sections, or those of some pages. */
  metadata(outline?: "all" | PageSpan): Promise<DPEDocument>;
  /** A page. Beside its Markdown, it needs to have only the elements that are shown apart from the text. */
  page(index: number, format: DPEFormat): Promise<DPEPage>;
  element(id: string, format: DPEFormat): Promise<DPEElementDetail>;
}

/** What `read_document` takes to name the parts that are wanted. */
export const READING_PROPERTIES: Readonly<Record<string, Json>> = {
  pages: { type: "string", description: "Indices of pages from 0, not their numbers: 3 or 0-4 or 0,2,5-7." },
  element: { type: "string", description: "Only this element, by its id, such as p3-table-1." },
  outline: {
    type: "boolean",
    description:
      "Only the outline: chapters and sections with their pages; with pages, those of these pages.",
  },
  offset: {
    type: "integer",
    minimum: 0,
    description: "How many characters to skip, to go on with a long page.",
  },
};

/** The parts of a document that are wanted. */
export interface Reading {
  readonly pages: readonly number[] | undefined;
  readonly element: string | undefined;
  readonly isOutline: boolean;
  /** How many characters are skipped. */
  readonly offset: number;
}

/** @param named what the URI of the document names */
export function readingOf(
  args: Arguments,
  named: { readonly page?: number | undefined; readonly element?: string | undefined },
): Reading {
  const pages = readPageNumbers(args, "pages");
  return {
    pages: pages ?? (named.page === undefined ? undefined : [named.page]),
    element: args.text("element") ?? (pages === undefined ? named.element : undefined),
    isOutline: args.flag("outline") ?? false,
    offset: args.integer("offset", { min: 0 }) ?? 0,
  };
}

/** The outline of a document, one element with its picture, or pages. */
export async function showDocument(
  readable: ReadableDocument,
  { pages, element, isOutline, offset }: Reading,
  { format, headOf }: {
    readonly format: DPEFormat;
    /** What stands above; an empty text leaves it out. */
    readonly headOf: (document: DPEDocument) => string;
  },
): Promise<McpToolResult> {
  if (isOutline) {
    const outline = await showOutline(readable, { headOf, pages });
    if (outline === undefined) throw new ArgumentError(NO_OUTLINE);
    return outline;
  }
  if (element !== undefined) return await showElement(readable, { element, format, offset });
  return await showPages(readable, { wanted: pages, format, offset, headOf });
}

/** A page that a search has found, in a line; `document` is the title of the document. */
export function toHitLine(
  { page_index, title = "", element_id, snippet }: Omit<DPEHit, "uri">,
  document: string,
): string {
  const own = pageNameOf(title, document);
  const name = own === "" ? "" : `, ${toSeenWord(own)}`;
  const element = element_id === undefined ? "" : `, element ${toSeenWord(element_id)}`;
  const words = snippet.split("\n").map((line) => toSeenLine(line)).join(" → ");
  return `  page ${numberOf(title, page_index)}${name}${element}${snippet === "" ? "" : `: ${words}`}`;
}

/** Page numbers from an argument such as `0,2,5-7`; `undefined` when it is absent. */
function readPageNumbers(args: Arguments, name: string): readonly number[] | undefined {
  const text = args.ranges(name);
  if (text === undefined) return undefined;
  if (text.length > MAX_RANGES_LENGTH) {
    throw new ArgumentError(`Cannot read so many pages: name at most ${MAX_PAGES} of them, such as 0-99`);
  }
  const pages = new Set<number>();
  for (const range of text.split(",")) {
    const [, first, last = first] = /^\s*(\d{1,9})(?:\s*-\s*(\d{1,9}))?\s*$/.exec(range) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === undefined || to < from || to - from >= MAX_PAGES) {
      throw new ArgumentError(
        `Cannot read pages ${toSeenLine(text)}: write indices from 0, such as 3 or 0-4 or 0,2,5-7`,
      );
    }
    for (let page = from; page <= to && pages.size < MAX_PAGES; page++) pages.add(page);
  }
  return [...pages];
}

async function showElement(
  document: ReadableDocument,
  { element, format, offset }: {
    readonly element: string;
    readonly format: DPEFormat;
    readonly offset: number;
  },
): Promise<McpToolResult> {
  const detail = await document.element(element, format);
  const text = textOf(detail, format);
  const { part, end } = partOf(text, { offset, max: MAX_ROOM });
  const more = end < text.length ? [`[${text.length - end} more characters: go on with offset ${end}]`] : [];
  const pictures = offset === 0 ? picturesOf([detail]) : [];
  return toResult([toFence(part), ...more], pictures);
}

/** The outline of a document, or of some of its pages; `undefined` when it has none. */
async function showOutline(
  readable: ReadableDocument,
  { headOf, pages }: {
    readonly headOf: (document: DPEDocument) => string;
    readonly pages?: readonly number[] | undefined;
  },
): Promise<McpToolResult | undefined> {
  const span = pages && { first: Math.min(...pages), last: Math.max(...pages) };
  const document = await readable.metadata(span ?? "all");
  const { outline: entries = [], page_count: count } = document;
  if (entries.length === 0) return undefined;
  const isCut = entries.some(({ section_count = 0 }) => section_count > 0);
  const more = isCut ? ', for more sections "outline" with pages such as "20-39"' : "";
  return toResult([
    headOf(document),
    `It has ${pagesOf(count)}. The outline, with the index of the page on which each part begins:`,
    toFence(renderOutline(entries)),
    `[Call read_document again with pages such as "${entries[1]?.page_index ?? 0}"${more}]`,
  ], []);
}

/** Pages one after the other, as long as there is room for them, and what follows. Of a long document, its outline. */
async function showPages(
  readable: ReadableDocument,
  { wanted, format, offset, headOf }: {
    /** The numbers of the pages; all by default. */
    readonly wanted: readonly number[] | undefined;
    readonly format: DPEFormat;
    /** How many characters of the first page are skipped. */
    readonly offset: number;
    /** What stands above the pages; an empty text leaves it out. */
    readonly headOf: (document: DPEDocument) => string;
  },
): Promise<McpToolResult> {
  const document = await readable.metadata();
  if (wanted === undefined && offset === 0 && document.page_count > MAX_WHOLE_PAGES) {
    const outline = await showOutline(readable, { headOf });
    if (outline !== undefined) return outline;
  }
  const outside = wanted?.find((page) => page >= document.page_count);
  if (outside !== undefined) throw new ArgumentError(outsideOf(document, outside));
  const pages = wanted ??
    Array.from({ length: Math.min(document.page_count, MAX_PAGES) }, (_, index) => index);
  const parts = [headOf(document)];
  const pictures: DocumentPicture[] = [];
  let left = MAX_ROOM;
  for (const [index, page] of pages.entries()) {
    const read = await readable.page(page, format);
    const text = textOf(read, format);
    const skipped = index === 0 ? offset : 0;
    if (index > 0 && roomOf(text) > left) {
      parts.push(`[More follows: call read_document again with pages "${toRanges(pages.slice(index))}"]`);
      break;
    }
    const { part, end, room } = partOf(text, { offset: skipped, max: left });
    left -= room;
    const empty = document.page_count === 1 ? "The document is empty." : "The page is empty.";
    parts.push(headingOf(read, { page, document, text }), text === "" ? empty : toFence(part));
    pictures.push(...picturesOf(elementsOf(read)).filter(({ elementId }) => part.includes(elementId)));
    if (end >= text.length) continue;
    const rest = pages.slice(index + 1);
    const after = rest.length === 0 ? "" : `; pages ${toRanges(rest)} follow after that`;
    const unread = `${text.length - end} more characters of this page`;
    parts.push(`[${unread}: go on with pages "${page}" and offset ${end}${after}]`);
    break;
  }
  return toResult(parts, pictures);
}

function outsideOf({ page_count: count }: DPEDocument, page: number): string {
  const last = count - 1;
  return `Cannot read the page of index ${page}: the document has ${pagesOf(count)}, of indices 0 to ${last}`;
}

function toResult(parts: readonly string[], pictures: readonly DocumentPicture[]): McpToolResult {
  const text: McpContent = { type: "text", text: parts.filter((part) => part !== "").join("\n\n") };
  return { content: [text, ...toPictureContent(pictures)] };
}

/** What stands above a page: nothing that its text or the document says as well. */
function headingOf(
  read: DPEPage,
  { page, document, text }: { readonly page: number; readonly document: DPEDocument; readonly text: string },
): string {
  const isTitled = text.slice(0, text.search(/\n|$/)).replace(/^#+ /, "") === read.title;
  const number = `Page ${numberOf(read.title, page)}`;
  const heading = isTitled ? number : titleOf(read, page, document);
  return document.page_count === 1 && heading === number ? "" : `## ${heading}`;
}

/** The heading of a page: its number and index, and its title. */
export function titleOf({ title }: DPEPage, page: number, document: DPEDocument): string {
  const own = pageNameOf(title, document.title);
  return `Page ${numberOf(title, page)}${own === "" ? "" : `: ${toSeenWord(own)}`}`;
}

/** The title of a page, without its number and what the document is called as well; empty when nothing is left. */
export function pageNameOf(title: string, document: string): string {
  const own = title.replace(NUMBERED, "");
  return [title, own].includes(document) ? "" : own;
}

/** A title that begins with the number that people know a page by. */
const NUMBERED = /^Page (\d+|[ivxlc]+)(?:: |$)/;

/** The number that people know a page by, and the index by which tools do: a model quotes the one and calls with the other. */
function numberOf(title: string, index: number): string {
  const [, number = `${index + 1}`] = NUMBERED.exec(title) ?? [];
  return `${number} (index ${index})`;
}

export function pagesOf(count: number): string {
  return count === 1 ? "1 page" : `${count} pages`;
}

/** A text of the format, as it is shown; one that was not rendered is the JSON itself. */
export function textOf(part: DPEPage | DPEElementDetail, format: DPEFormat): string {
  const { content_markdown: markdown, content_text: plain } = part;
  const elements = elementsOf(part);
  if (format === "markdown" && markdown !== undefined) {
    return escapeUnreadable(withElementIds(withoutRepeatedLinks(markdown), elements, renderElementMarkdown));
  }
  if (format === "text" && plain !== undefined) {
    return escapeUnreadable(withElementIds(plain, elements, renderElementText));
  }
  return escapeUnreadable(JSON.stringify(part, withoutData));
}

/** The Markdown without paragraphs that are nothing but a link of a text before them: many readers give each link twice. */
function withoutRepeatedLinks(markdown: string): string {
  if (!LINK_ALONE.test(markdown)) return markdown;
  const kept: string[] = [];
  const seen = new Set<string>();
  let isCode = false;
  for (const block of markdown.split("\n\n")) {
    const isRepeated = !isCode && seen.has(block) && LINK_ALONE.test(block);
    for (const line of block.split("\n")) if (/^\s*`{3,}/.test(line)) isCode = !isCode;
    if (isRepeated) continue;
    for (const [link] of block.matchAll(LINK)) seen.add(link);
    kept.push(block);
  }
  return kept.join("\n\n");
}

const LINK = /\[[^[\]\n]{1,500}\]\([^()\s]{1,2000}\)/g;
const LINK_ALONE = /^\[[^[\]\n]{1,500}\]\([^()\s]{1,2000}\)$/m;

function elementsOf(part: DPEPage | DPEElementDetail): readonly DPEElementDetail[] {
  return "elements" in part ? part.elements : [part];
}

/** Pictures come along as such: in a text, their data tell nobody anything. */
function withoutData(_key: string, value: unknown): unknown {
  return typeof value === "string" && isDataUrl(value) ? `${value.slice(0, MAX_DATA_LENGTH)}…` : value;
}

/** `0-4,7` */
function toRanges(pages: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const page of pages) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === page - 1) last[1] = page;
    else ranges.push([page, page]);
  }
  return ranges.map(([from, to]) => from === to ? `${from}` : `${from}-${to}`).join(",");
}
