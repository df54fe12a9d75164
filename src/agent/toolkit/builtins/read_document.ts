/** `read_document`: a document, some of its pages, or one element. */
import {
  DPE_FORMATS,
  type DPEDocument,
  type DPEElementDetail,
  type DPEFormat,
  type DPEPage,
} from "../../../protocol/dpe.ts";
import { renderElementMarkdown } from "../../../dpe/markdown.ts";
import { renderElementText } from "../../../dpe/text.ts";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { isValidDpeUri, parseDpeUri } from "../../../uri/dpe_uri.ts";
import {
  escapeUnreadable,
  toFence,
  toSeenLine,
  toSeenName,
  toSeenUri,
  toSeenWord,
} from "../../../text/safe_text.ts";
import type { RemoteComputer } from "../../remote_computer.ts";
import type { LocalTool } from "../mcp.ts";
import type { McpToolResult } from "../mcp.ts";
import { ArgumentError, type Arguments } from "./arguments.ts";
import {
  askEach,
  chosenComputers,
  type ClientUri,
  COMPUTER_PROPERTY,
  makeBuiltin,
  MAX_CHARACTERS,
  pagesOf,
  partOf,
  problemLines,
  quoted,
  type Reach,
  readClientUri,
} from "./builtin.ts";
import { type DocumentPicture, isDataUrl, picturesOf, toPictureContent, withElementIds } from "./pictures.ts";

const MAX_PAGES = 1_000;
/** The longest list of pages, in characters: as many as the pages at most take, each by its number. */
const MAX_RANGES_LENGTH = 10 * MAX_PAGES;

const MAX_DATA_LENGTH = 32;

/** The errors of Computers that do not have a document. */
const NOT_THERE = [ErrorCode.NOT_FOUND, ErrorCode.DOCUMENT_NOT_FOUND];

/** Where a document is. */
export interface Place {
  readonly remote: RemoteComputer;
  readonly uri: string;
  readonly signal: AbortSignal;
}

export function readDocument(reach: Reach): LocalTool {
  return makeBuiltin({
    name: "read_document",
    title: "Read a document",
    description:
      "Reads a document of a Computer by its dpe:// URI, as Markdown with its pictures: all of it, some pages, or one " +
      "element, such as the p3-image-1 of [picture p3-image-1: …]. A long document comes in parts, and each part says " +
      "how to go on.",
    properties: {
      uri: {
        type: "string",
        description: "The dpe:// URI of the document, or of one of its pages or elements.",
      },
      computer: COMPUTER_PROPERTY,
      pages: {
        type: "string",
        description: "The pages to read, from 0, such as 3 or 0-4 or 0,2,5-7. All when absent.",
      },
      element: { type: "string", description: "The id of one element to read instead." },
      format: { type: "string", enum: [...DPE_FORMATS], description: "markdown by default." },
      offset: {
        type: "integer",
        minimum: 0,
        description: "How many characters to skip, to go on with a long page.",
      },
    },
    required: ["uri"],
    async run(args, { signal, clientName: client }) {
      const { uri, computer = args.text("computer") } = readDocumentUri(
        args.text("uri") ?? args.missing("uri"),
      );
      const format = args.choice("format", DPE_FORMATS) ?? "markdown";
      const offset = args.integer("offset", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0;
      const { pageIndex, elementId } = parseDpeUri(uri);
      const element = args.text("element") ?? elementId;
      const wanted = readPages(args) ?? (pageIndex === undefined ? undefined : [pageIndex]);
      const place = await findPlace({ ...reach, client }, { uri, computer, signal });
      if (element !== undefined) return await readOneElement(place, { element, format, offset });
      return await readSomePages(place, { wanted, format, offset });
    },
  });
}

function readDocumentUri(named: string): ClientUri {
  const read = readClientUri(named);
  if (isValidDpeUri(read.uri) && parseDpeUri(read.uri).docRef !== undefined) return read;
  throw new ArgumentError(
    `Cannot read ${toSeenLine(named)}: not the URI of a document. A document has a URI such as ` +
      "dpe://HOST/DOCUMENT, as find_documents lists it",
  );
}

/** Page numbers from `0,2,5-7`; `undefined` when absent. */
function readPages(args: Arguments): readonly number[] | undefined {
  const text = args.ranges("pages");
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

/**
 * The Computer that has a document: the one that is named, or the only one of all.
 *
 * @throws {ArgumentError} none has it, or several have.
 */
export async function findPlace(
  reach: Reach,
  { uri, computer, signal }: {
    readonly uri: string;
    readonly computer: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<Place> {
  const remotes = chosenComputers(reach, computer);
  const [only, ...others] = remotes;
  if (only !== undefined && others.length === 0) return { remote: only, uri, signal };
  const answers = await askEach(
    remotes,
    (remote) => remote.readDocumentMetadata(uri, { signal, expectedCodes: NOT_THERE }),
  );
  const having = answers.filter((answer) => "value" in answer).map((answer) => answer.computer);
  const [first, ...more] = having;
  if (more.length > 0) {
    throw new ArgumentError(
      `Several Computers have ${toSeenLine(uri)}: ${quoted(having)}. Choose one with the argument "computer"`,
    );
  }
  const remote = remotes.find(({ name }) => name === first);
  if (remote !== undefined) return { remote, uri, signal };
  const none = `No Computer has ${toSeenLine(uri)}. Call find_documents to see which there are.`;
  throw new ArgumentError([none, ...problemLines(answers)].join("\n"));
}

async function readOneElement(
  { remote, uri, signal }: Place,
  { element, format, offset }: {
    readonly element: string;
    readonly format: DPEFormat;
    readonly offset: number;
  },
): Promise<McpToolResult> {
  const detail = await remote.readElement(uri, element, { format, signal });
  const text = textOf(detail, format);
  const { part, end } = partOf(text, { offset, max: MAX_CHARACTERS });
  const more = end < text.length ? [`[${text.length - end} more characters: go on with offset ${end}]`] : [];
  const pictures = offset === 0 ? toPictureContent(picturesOf([detail])) : [];
  return { content: [{ type: "text", text: [toFence(part), ...more].join("\n\n") }, ...pictures] };
}

/** Reads pages one after the other, as long as there is room for them. */
async function readSomePages(
  { remote, uri, signal }: Place,
  { wanted, format, offset }: {
    readonly wanted: readonly number[] | undefined;
    readonly format: DPEFormat;
    readonly offset: number;
  },
): Promise<McpToolResult> {
  const document = await remote.readDocumentMetadata(uri, { signal });
  const pages = wanted ??
    Array.from({ length: Math.min(document.page_count, MAX_PAGES) }, (_, index) => index);
  const parts = [headOf(document, remote.name)];
  const pictures: DocumentPicture[] = [];
  let left = MAX_CHARACTERS;
  for (const [index, page] of pages.entries()) {
    const read = await remote.readPage(uri, page, { format, signal });
    const text = textOf(read, format);
    const skipped = index === 0 ? offset : 0;
    const isRoom = text.length - skipped <= left || index === 0;
    if (!isRoom) {
      parts.push(`[Pages ${toRanges(pages.slice(index))} follow: call read_document again with these pages]`);
      break;
    }
    const { part, end } = partOf(text, { offset: skipped, max: left });
    left -= part.length;
    parts.push(`## ${titleOf(read, page, document)}\n\n${toFence(part)}`);
    pictures.push(...picturesOf(elementsOf(read)).filter(({ elementId }) => part.includes(elementId)));
    if (end >= text.length) continue;
    const rest = pages.slice(index + 1);
    const after = rest.length === 0 ? "" : `; pages ${toRanges(rest)} follow after that`;
    const unread = `${text.length - end} more characters of page ${page}`;
    parts.push(`[${unread}: go on with pages "${page}" and offset ${end}${after}]`);
    break;
  }
  return { content: [{ type: "text", text: parts.join("\n\n") }, ...toPictureContent(pictures)] };
}

/** The heading of a page, without what it repeats: its number, counted from 1, or the title of its document. */
export function titleOf({ title }: DPEPage, page: number, document: DPEDocument): string {
  const own = title === document.title ? "" : title.replace(/^Page \d+(?:: |$)/, "");
  return `Page ${page}${own === "" ? "" : `: ${toSeenWord(own)}`}`;
}

function headOf({ title, file_type, page_count, uri }: DPEDocument, computer: string): string {
  const about = [pagesOf(page_count), toSeenWord(file_type), toSeenUri(uri)].join(", ");
  return `# ${toSeenWord(title)}\n\n${about}, on Computer ${toSeenName(computer)}`;
}

/** A text of the format, as it is shown; one that the Computer did not render is the JSON itself. */
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
