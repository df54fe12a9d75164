/** Filters, orders and pages the documents of all MCP servers (`docs/protocol/finder.md#organizing`). */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { badRequest } from "../protocol/errors.ts";
import {
  DEFAULT_FINDER_LIMIT,
  type FinderPage,
  MAX_FINDER_KEYWORDS,
  MAX_FINDER_LIMIT,
  MAX_FINDER_TEXT_LENGTH,
} from "../protocol/finder.ts";
import { isRecord } from "../json/json.ts";
import { prepareDocument, reportInvalidUri } from "./document.ts";
import { orderServers } from "./server_order.ts";
import { DocumentShelf } from "./shelf.ts";
import { createReport, type OrganizerWarning, type Report } from "./warning.ts";

/** Which documents to return. */
export interface FinderQueryOptions {
  /**
   * Keep documents whose title, summary or keywords contain one of these; an empty keyword matches every document. At
   * most 64 keywords of at most 256 characters each.
   */
  readonly keywords?: readonly string[] | undefined;
  /** Keep documents of exactly this type, at most 256 characters; all types when empty. */
  readonly fileType?: string | undefined;
  /** The MCP server of each tool call, oldest first; empty by default. */
  readonly history?: readonly string[] | undefined;
  /** How many documents to skip, 0 by default. */
  readonly offset?: number | undefined;
  /** How many documents to return, 20 by default, 100 at most. */
  readonly limit?: number | undefined;
}

/** Which documents to return, and who receives warnings. */
export interface OrganizeFinderOptions extends FinderQueryOptions {
  /** Receives each problem of the documents. */
  readonly onWarning?: ((warning: OrganizerWarning) => void) | undefined;
}

interface FinderQuery {
  /** In lower case, unique, none empty; all documents match when the list is empty. */
  readonly keywords: readonly string[];
  /** All types match when `undefined`. */
  readonly fileType: string | undefined;
  readonly history: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

type OpenPage = { documents: DPEDocumentSummary[]; totalCount: number };

/**
 * Filters, orders and pages documents. The MCP server of the latest tool call comes first; servers without a tool call
 * follow by name. Within a server, the document modified last is first. A document with an invalid URI is left out, and
 * a field of a wrong type counts as missing; both are reported to `onWarning`.
 *
 * Specification: `docs/protocol/finder.md#organizing`.
 *
 * @param documents in the order of their listing, which decides between equal documents
 * @returns the documents of the page, and how many match in total
 * @throws {SmcpError} 400 with `details.field` when `offset` or `limit` is not a non-negative integer, there are too
 *   many keywords, or a text is too long
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { organizeFinder } from "@a2c-smcp/sdk";
 *
 * const report = {
 *   doc_ref: "rpt",
 *   uri: "dpe://com.example.docs/rpt",
 *   file_uri: "file:///rpt.xlsx",
 *   file_type: "xlsx",
 *   title: "Annual report",
 *   page_count: 12,
 *   server: "docs",
 * };
 * const slides = { ...report, doc_ref: "sld", uri: "dpe://com.example.docs/sld", title: "Slides" };
 *
 * assertEquals(organizeFinder([slides, report], { keywords: ["REPORT"] }), { documents: [report], totalCount: 1 });
 * ```
 */
export function organizeFinder(
  documents: Iterable<DPEDocumentSummary>,
  options: OrganizeFinderOptions = {},
): FinderPage {
  const shelves = toShelves(documents, createReport(options.onWarning));
  const steps = organizeShelves(shelves, options);
  for (let step = steps.next();; step = steps.next()) if (step.done === true) return step.value;
}

function toShelves(documents: Iterable<DPEDocumentSummary>, report: Report): Map<string, DocumentShelf> {
  const prepared = [...documents].map((document) => {
    if (isRecord(document)) return prepareDocument(document, report);
    reportInvalidUri(document, report);
    return undefined;
  }).filter((each) => each !== undefined);
  const groups = Map.groupBy(prepared, ({ server }) => server);
  return new Map([...groups].map(([server, own]) => [server, DocumentShelf.of(own)]));
}

/**
 * The same as {@linkcode organizeFinder} over documents that are kept in order and prepared for search. A step is the
 * search for one keyword in the documents of one server, so that the caller can let other work run in between.
 *
 * @param shelves the documents of each MCP server, by the server's name
 * @throws {SmcpError} 400 as {@linkcode organizeFinder} does
 */
export function* organizeShelves(
  shelves: ReadonlyMap<string, DocumentShelf>,
  options: FinderQueryOptions,
): Generator<void, FinderPage> {
  const query = toFinderQuery(options);
  const isEverything = query.keywords.length === 0 && query.fileType === undefined;
  const page: OpenPage = { documents: [], totalCount: 0 };
  for (const server of orderServers(shelves.keys(), query.history)) {
    const shelf = shelves.get(server);
    if (shelf === undefined) continue;
    if (isEverything) takeSlice(page, shelf, query);
    else yield* takeMatches(page, shelf, query);
  }
  return page;
}

/** Adds a server's documents, all of which match. */
function takeSlice(page: OpenPage, shelf: DocumentShelf, { offset, limit }: FinderQuery): void {
  const start = Math.max(0, offset - page.totalCount);
  const free = limit - page.documents.length;
  page.totalCount += shelf.documents.length;
  if (free === 0 || start >= shelf.documents.length) return;
  for (const { document } of shelf.documents.slice(start, start + free)) page.documents.push(document);
}

/** Adds the documents of a shelf that match. */
function* takeMatches(page: OpenPage, shelf: DocumentShelf, query: FinderQuery): Generator<void, void> {
  const { fileType, offset, limit } = query;
  // The shelf may change between two steps; these do not.
  const { documents, text } = shelf;
  const marks = query.keywords.length === 0 ? undefined : new Uint8Array(documents.length);
  for (const keyword of query.keywords) {
    if (marks !== undefined) text.mark(keyword, marks);
    yield;
  }
  for (let i = 0; i < documents.length; i++) {
    if (marks !== undefined && marks[i] === 0) continue;
    const isOnPage = page.totalCount >= offset && page.documents.length < limit;
    // Reading a document costs a cache miss, so documents that are only counted are not read.
    if (fileType === undefined && !isOnPage) {
      page.totalCount++;
      continue;
    }
    const document = documents[i]?.document;
    if (document === undefined || fileType !== undefined && document.file_type !== fileType) continue;
    page.totalCount++;
    if (isOnPage) page.documents.push(document);
  }
}

/** Checks a query and fills in the defaults (`docs/protocol/finder.md#filters`, `docs/protocol/finder.md#pagination`). */
function toFinderQuery(options: FinderQueryOptions): FinderQuery {
  const { keywords = [], fileType, history = [], offset = 0, limit = DEFAULT_FINDER_LIMIT } = options;
  return {
    keywords: toKeywords(keywords),
    fileType: fileType === undefined || fileType === "" ? undefined : checkText("file_type", fileType),
    history,
    offset: checkCount("offset", offset),
    limit: Math.min(checkCount("limit", limit), MAX_FINDER_LIMIT),
  };
}

/** Every keyword is searched in every document, so the number and length of keywords are limited. */
function toKeywords(keywords: readonly string[]): readonly string[] {
  if (keywords.length > MAX_FINDER_KEYWORDS) {
    const message =
      `Cannot search for ${keywords.length} keywords: at most ${MAX_FINDER_KEYWORDS} are allowed`;
    throw badRequest("keywords", message);
  }
  for (const keyword of keywords) checkText("keywords", keyword);
  if (keywords.includes("")) return [];
  return [...new Set(keywords.map((keyword) => keyword.toLowerCase()))];
}

function checkText(field: "keywords" | "file_type", text: string): string {
  if (text.length <= MAX_FINDER_TEXT_LENGTH) return text;
  const message =
    `Cannot search for a text of ${text.length} characters: at most ${MAX_FINDER_TEXT_LENGTH} are allowed`;
  throw badRequest(field, message);
}

function checkCount(field: "offset" | "limit", count: number): number {
  if (Number.isInteger(count) && count >= 0) return count;
  throw badRequest(field, `Cannot use ${field} "${count}": not a non-negative integer`);
}
