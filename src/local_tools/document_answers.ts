/** Answers of tools that read a document: its pages or one element, as Markdown with their pictures, in parts. */
import { renderElementMarkdown } from "../dpe/markdown.ts";
import { renderElementText } from "../dpe/text.ts";
import type { DPEDocument, DPEElementDetail, DPEFormat, DPEPage } from "../protocol/dpe.ts";
import { escapeUnreadable, toFence, toSeenLine, toSeenWord } from "../text/safe_text.ts";
import { MAX_ROOM, partOf, roomOf } from "./answer_parts.ts";
import { ArgumentError, type Arguments } from "./arguments.ts";
import type { McpContent, McpToolResult } from "./mcp.ts";
import { type DocumentPicture, isDataUrl, picturesOf, toPictureContent, withElementIds } from "./pictures.ts";

/** The most pages that a call may name. */
const MAX_PAGES = 1_000;
/** The longest list of pages, in characters: as many as the pages at most take, each by its number. */
const MAX_RANGES_LENGTH = 10 * MAX_PAGES;
/** How much is shown of the data of a picture in JSON. */
const MAX_DATA_LENGTH = 32;

/** A document, wherever it is. */
export interface ReadableDocument {
  /** Its metadata. */
  metadata(): Promise<DPEDocument>;
  /** A page. Beside its Markdown, it needs to have only the elements that are shown apart from the text. */
  page(index: number, format: DPEFormat): Promise<DPEPage>;
  element(id: string, format: DPEFormat): Promise<DPEElementDetail>;
}

/** Page numbers from an argument such as `0,2,5-7`; `undefined` when it is absent. */
export function readPageNumbers(args: Arguments, name: string): readonly number[] | undefined {
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
        `Cannot read pages ${toSeenLine(text)}: write numbers from 0, such as 3 or 0-4 or 0,2,5-7`,
      );
    }
    for (let page = from; page <= to && pages.size < MAX_PAGES; page++) pages.add(page);
  }
  return [...pages];
}

/** One element with its picture. */
export async function showElement(
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

/** Pages one after the other, as long as there is room for them, and what follows. */
export async function showPages(
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
      parts.push(`[Pages ${toRanges(pages.slice(index))} follow: call read_document again with these pages]`);
      break;
    }
    const { part, end, room } = partOf(text, { offset: skipped, max: left });
    left -= room;
    parts.push(`## ${titleOf(read, page, document)}\n\n${toFence(part)}`);
    pictures.push(...picturesOf(elementsOf(read)).filter(({ elementId }) => part.includes(elementId)));
    if (end >= text.length) continue;
    const rest = pages.slice(index + 1);
    const after = rest.length === 0 ? "" : `; pages ${toRanges(rest)} follow after that`;
    const unread = `${text.length - end} more characters of page ${page}`;
    parts.push(`[${unread}: go on with pages "${page}" and offset ${end}${after}]`);
    break;
  }
  return toResult(parts, pictures);
}

function toResult(parts: readonly string[], pictures: readonly DocumentPicture[]): McpToolResult {
  const text: McpContent = { type: "text", text: parts.filter((part) => part !== "").join("\n\n") };
  return { content: [text, ...toPictureContent(pictures)] };
}

/** The heading of a page, without what it repeats: its number, counted from 1, or the title of its document. */
export function titleOf({ title }: DPEPage, page: number, document: DPEDocument): string {
  const own = title === document.title ? "" : title.replace(/^Page \d+(?:: |$)/, "");
  return `Page ${page}${own === "" ? "" : `: ${toSeenWord(own)}`}`;
}

export function pagesOf(count: number): string {
  return count === 1 ? "1 page" : `${count} pages`;
}

/** A text of the format, as it is shown; one that was not rendered is the JSON itself. */
export function textOf(part: DPEPage | DPEElementDetail, format: DPEFormat): string {
  const { content_markdown: markdown, content_text: plain } = part;
  const elements = elementsOf(part);
  if (format === "markdown" && markdown !== undefined) {
    return escapeUnreadable(withElementIds(markdown, elements, renderElementMarkdown));
  }
  if (format === "text" && plain !== undefined) {
    return escapeUnreadable(withElementIds(plain, elements, renderElementText));
  }
  return escapeUnreadable(JSON.stringify(part, withoutData));
}

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
