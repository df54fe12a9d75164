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
import { compareDocuments, type PreparedDocument, prepareDocument, TEXT_SEPARATOR } from "./document.ts";
import { compareCodePoints } from "../protocol/names.ts";
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
 * follow by name. Within a server, the document modified last is first. A document with an invalid URI is left out,
 * and one with an invalid date is last; both are reported to `onWarning`.
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
  const prepared = [...documents].map((document) => prepareDocument(document, report))
    .filter((each) => each !== undefined);
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

interface Slot {
  readonly prepared: PreparedDocument;
  /** Its index in the server's list, by which documents of the same instant are ordered. */
  position: number;
  isGone: boolean;
}

/**
 * The prepared documents of one MCP server, latest `last_modified` first (`docs/protocol/finder.md#document-order`).
 * The order is brought up to date when it is read. What was in order is one run for the sort, so a few changed documents
 * cost one pass.
 */
export class DocumentShelf {
  readonly #slots = new Map<string, Slot>();
  readonly #positions = new Map<string, number>();
  #added: Slot[] = [];
  #ordered: Slot[] = [];
  #documents: readonly PreparedDocument[] | undefined;
  #text: JoinedText | undefined;

  /** A shelf that never changes. */
  static of(documents: readonly PreparedDocument[]): DocumentShelf {
    const shelf = new DocumentShelf();
    shelf.#documents = documents.toSorted(compareDocuments);
    return shelf;
  }

  /** Takes the server's list: removes documents that are not in it, and orders equal documents by it. */
  follow(keys: Iterable<string>): void {
    this.#positions.clear();
    for (const key of keys) this.#positions.set(key, this.#positions.size);
    for (const [key, slot] of this.#slots) {
      const position = this.#positions.get(key);
      if (position === undefined) this.#remove(key, slot);
      else if (position !== slot.position) {
        slot.position = position;
        this.#documents = undefined;
      }
    }
  }

  /** Replaces the document of a listed key; `undefined` removes it. Ignores a key that is not listed. */
  set(key: string, prepared: PreparedDocument | undefined): void {
    const earlier = this.#slots.get(key);
    if (earlier !== undefined) this.#remove(key, earlier);
    const position = this.#positions.get(key);
    if (prepared === undefined || position === undefined) return;
    const slot = { prepared, position, isGone: false };
    this.#slots.set(key, slot);
    this.#added.push(slot);
    this.#documents = undefined;
  }

  /** The documents in order. A later change returns another array. */
  get documents(): readonly PreparedDocument[] {
    if (this.#documents !== undefined) return this.#documents;
    this.#ordered = [...this.#ordered, ...this.#added].filter(({ isGone }) => !isGone).sort((a, b) =>
      compareDocuments(a.prepared, b.prepared) || a.position - b.position
    );
    this.#added = [];
    this.#text = undefined;
    return this.#documents = this.#ordered.map(({ prepared }) => prepared);
  }

  /** The texts of {@linkcode DocumentShelf.documents}, in the same order. */
  get text(): JoinedText {
    const { documents } = this;
    return this.#text ??= new JoinedText(documents);
  }

  #remove(key: string, slot: Slot): void {
    slot.isGone = true;
    this.#documents = undefined;
    this.#slots.delete(key);
  }
}

/** The texts of documents in one string: one search in a long string is faster than many in short ones. */
class JoinedText {
  readonly #text: string;
  /** The offset of each document in the text, and the end of the last one. */
  readonly #starts: Uint32Array;

  constructor(documents: readonly PreparedDocument[]) {
    const starts = this.#starts = new Uint32Array(documents.length + 1);
    for (const [index, { text }] of documents.entries()) {
      starts[index + 1] = (starts[index] ?? 0) + text.length + TEXT_SEPARATOR.length;
    }
    this.#text = [...documents.map(({ text }) => text), ""].join(TEXT_SEPARATOR);
  }

  /** Sets `marks[index]` for each document that contains a keyword. */
  mark(keyword: string, marks: Uint8Array): void {
    if (keyword.includes(TEXT_SEPARATOR)) return;
    const text = this.#text;
    const starts = this.#starts;
    let index = 0;
    for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, starts[index])) {
      while ((starts[index + 1] ?? Infinity) <= at) index++;
      marks[index] = 1;
      index++;
    }
  }
}

/**
 * Orders the MCP servers of Desktop and Finder (`docs/protocol/desktop.md#server-order`) by their latest tool call, most recent first and each once; servers without a call follow in the
 * order of their names.
 *
 * @param servers the names to order
 * @param history the server of each tool call, oldest first
 */
export function orderServers(servers: Iterable<string>, history: readonly string[]): string[] {
  const rest = new Set(servers);
  const ordered: string[] = [];
  for (const server of history.toReversed()) {
    if (rest.delete(server)) ordered.push(server);
  }
  return ordered.concat([...rest].sort(compareCodePoints));
}
