/** Builds the URIs of documents, pages and elements, and reads the answers into typed objects. */
import type { PageSpan } from "../dpe/outline.ts";
import type { LogFields } from "../log.ts";
import {
  DEFAULT_PAGE_LIMIT,
  type DPEDocument,
  type DPEDocumentPages,
  type DPEElementDetail,
  type DPEFormat,
  type DPEPage,
  type ElementCategory,
} from "../protocol/dpe.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { describeError } from "../text/text.ts";
import { parseJson } from "../json/json.ts";
import { parseDpeDocument, parseDpeElement, parseDpePage } from "../protocol/dpe_answers.ts";
import type { AnswerReader } from "../protocol/flaws.ts";
import type { ReadResourceRet, ResourceContents } from "../protocol/resources.ts";
import { buildDpeUri, parseDpeUri } from "../uri/dpe_uri.ts";
import { Flaws } from "./requests.ts";

export interface DocumentAnswer {
  readonly uri: string;
  readonly result: ReadResourceRet;
  /** The format that was asked for; `json` by default. */
  readonly format?: DPEFormat | undefined;
  /** Called at most once, with the fields of a log line, when parts of the answer are left out or repaired. */
  readonly onFlaws?: ((fields: LogFields) => void) | undefined;
}

/** A text that the MCP server rendered, as the member for its format. */
type RenderedText = { content_markdown: string } | { content_text: string };

/** Reads the answer for a document (Level 1). */
export function readDocument(answer: DocumentAnswer): DPEDocument {
  return readModel(answer, { what: "document", parse: parseDpeDocument });
}

/** Reads a document with its page index (Level 1, `depth=pages`); the index is empty when the MCP server omits it. */
export function readDocumentPages(answer: DocumentAnswer): DPEDocumentPages {
  const document = readDocument(answer);
  return { ...document, pages: document.pages ?? [] };
}

/** Reads a page (Level 2). A page that arrives as Markdown or plain text has an empty title and no elements. */
export function readPage(answer: DocumentAnswer): DPEPage {
  return readModel(answer, {
    what: "page",
    parse: parseDpePage,
    wrap(text) {
      const { docRef, pageIndex = 0 } = parseDpeUri(answer.uri);
      return {
        page_index: pageIndex,
        title: "",
        ...docRefOf(docRef),
        uri: answer.uri,
        elements: [],
        ...text,
      };
    },
  });
}

/** Reads an element (Level 3). An element that arrives as Markdown or plain text has the category `text`. */
export function readElement(answer: DocumentAnswer): DPEElementDetail {
  return readModel(answer, {
    what: "element",
    parse: parseDpeElement,
    wrap(text, raw) {
      const { docRef, elementId = "" } = parseDpeUri(answer.uri);
      const named = { element_id: elementId, category: "text", content: { text: raw } };
      return { ...named, ...docRefOf(docRef), uri: answer.uri, ...text };
    },
  });
}

function docRefOf(docRef: string | undefined): { doc_ref?: string } {
  return docRef === undefined ? {} : { doc_ref: docRef };
}

function readModel<T>(
  answer: DocumentAnswer,
  model: {
    readonly what: string;
    readonly parse: AnswerReader<T>;
    readonly wrap?: (text: RenderedText, raw: string) => T;
  },
): T {
  const { what, parse, wrap } = model;
  const contents = answer.result.contents.find(hasText);
  if (contents === undefined) throw unreadable(what, { answer, why: "the answer has no text" });
  const { text } = contents;
  const rendered = wrap === undefined ? undefined : renderedText(contents, answer.format);
  const parsed = parseJson(text);
  // Many MCP servers declare their JSON as `text/plain`, the default of their framework.
  if (parsed === undefined || isMarkdown(contents)) {
    if (rendered !== undefined && wrap !== undefined) return wrap(rendered, text);
    throw unreadable(what, { answer, why: "the answer is not JSON" });
  }
  try {
    const flaws = new Flaws();
    const model = parse(parsed, flaws.add);
    if (flaws.count > 0) answer.onFlaws?.(flaws.fields);
    return model;
  } catch (cause) {
    if (rendered !== undefined && wrap !== undefined) return wrap(rendered, text);
    throw unreadable(what, { answer, why: describeError(cause), cause });
  }
}

function renderedText(contents: TextContents, format: DPEFormat | undefined): RenderedText | undefined {
  const { mimeType = "", text } = contents;
  if (isMarkdown(contents)) return { content_markdown: text };
  if (!/^text\/plain\b/i.test(mimeType)) return undefined;
  return format === "markdown" ? { content_markdown: text } : { content_text: text };
}

type TextContents = ResourceContents & { readonly text: string };

function hasText(contents: ResourceContents): contents is TextContents {
  return contents.text !== undefined;
}

function isMarkdown({ mimeType = "" }: ResourceContents): boolean {
  return /^text\/(?:x-)?markdown\b/i.test(mimeType);
}

function unreadable(
  what: string,
  problem: { readonly answer: DocumentAnswer; readonly why: string; readonly cause?: unknown },
): SmcpError {
  const { uri } = problem.answer;
  return new SmcpError(ErrorCode.INTERNAL_ERROR, `Cannot read ${what} "${uri}": ${problem.why}`, {
    details: { uri },
    cause: problem.cause,
  });
}

/** Query parameters that have a meaning. Each function here sets those that it needs. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  "format",
  "depth",
  "offset",
  "limit",
  "categories",
  "outline",
  "elements",
]);

/** The format of a page or an element (`docs/protocol/finder.md#query-parameters`). */
export interface FormatOptions {
  /** `json` by default. `markdown` adds `content_markdown`, `text` adds `content_text`. */
  readonly format?: DPEFormat | undefined;
  /**
   * With `markdown` and `text`: only elements of these categories come in their JSON beside the text; `[]` for the text alone,
   * all by default. MCP servers that do not know it, on a Computer that does not either, send all
   * (`docs/protocol/extensions.md#rendered-text-without-its-elements`).
   */
  readonly elements?: readonly ElementCategory[] | undefined;
}

/** Which elements of a page to read, and their format. */
export interface PageOptions extends FormatOptions {
  /** Only elements of these categories; all by default. */
  readonly categories?: readonly ElementCategory[] | undefined;
}

/** Which part of a page index to read. */
export interface PageIndexOptions {
  /** The first page, from 0; 0 by default. */
  readonly offset?: number | undefined;
  /** From 1 to 100; 20 by default. */
  readonly limit?: number | undefined;
}

/** Which chapters and sections to read with a document. */
export interface OutlineOptions {
  /** Those that begin on these pages; none by default. */
  readonly outline?: "all" | PageSpan | undefined;
}

/** The URI of a document (Level 1), from its own URI or that of one of its pages or elements. */
export function documentUri(uri: string, { outline }: OutlineOptions = {}): string {
  if (outline === undefined) return derive(uri);
  return derive(uri, {
    params: { outline: outline === "all" ? outline : `${outline.first}-${outline.last}` },
  });
}

/** The URI of a document with its page index (Level 1, `depth=pages`). */
export function documentPagesUri(uri: string, options: PageIndexOptions = {}): string {
  const { offset = 0, limit = DEFAULT_PAGE_LIMIT } = options;
  return derive(uri, { params: { depth: "pages", offset: `${offset}`, limit: `${limit}` } });
}

/** The URI of a page (Level 2). */
export function pageUri(uri: string, pageIndex: number, options: PageOptions = {}): string {
  const { categories } = options;
  const params = formatOf(options);
  if (categories !== undefined) params["categories"] = categories.join(",");
  return derive(uri, { subPath: `pages/${pageIndex}`, params });
}

/** The URI of an element (Level 3). */
export function elementUri(uri: string, elementId: string, options: FormatOptions = {}): string {
  return derive(uri, { subPath: `elements/${elementId}`, params: formatOf(options) });
}

function formatOf({ format = "json", elements }: FormatOptions): Record<string, string> {
  if (format === "json") return {};
  return elements === undefined ? { format } : { format, elements: elements.join(",") || "none" };
}

/** Builds a URI within the document of `uri`. Keeps query parameters that have no meaning here. */
function derive(
  uri: string,
  part: { readonly subPath?: string; readonly params?: Readonly<Record<string, string>> } = {},
): string {
  const { host, docRef, queryParams } = parseDpeUri(uri);
  if (docRef === undefined) {
    throw new SmcpError(ErrorCode.INVALID_DPE_URI, `Cannot read document "${uri}": the URI has no doc-ref`, {
      details: { uri },
    });
  }
  const kept = Object.entries(queryParams).filter(([key]) => !KNOWN_PARAMETERS.has(key));
  const params = { ...Object.fromEntries(kept), ...part.params };
  return buildDpeUri({ host, docRef, subPath: part.subPath, queryParams: params });
}
