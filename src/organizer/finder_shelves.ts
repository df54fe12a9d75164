/** Finder requests over documents that are kept in order: what does not change between requests is not done again. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import type { DocumentShelf } from "./document_shelf.ts";
import { type FinderQuery, type FinderQueryOptions, toFinderQuery } from "./finder_query.ts";
import type { FinderPage } from "./finder_selection.ts";
import { mentionsAny } from "./keywords.ts";
import { TEXT_SEPARATOR } from "./prepared_document.ts";
import { orderServers } from "./server_order.ts";

type OpenPage = { documents: DPEDocumentSummary[]; totalCount: number };

/**
 * Does what `organizeFinder` does, over documents that stand in order already; in steps, each of which takes no longer
 * than one keyword takes in the documents of one server.
 *
 * @param shelves the documents of each MCP server by its name
 * @throws {SmcpError} 400 with `details.field` as `organizeFinder` does
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

function takeSlice(page: OpenPage, { documents }: DocumentShelf, { offset, limit }: FinderQuery): void {
  const start = Math.max(0, offset - page.totalCount);
  const room = limit - page.documents.length;
  for (const { document } of documents.slice(start, start + room)) page.documents.push(document);
  page.totalCount += documents.length;
}

function* takeMatches(page: OpenPage, shelf: DocumentShelf, query: FinderQuery): Generator<void, void> {
  const { fileType, offset, limit } = query;
  // The shelf may change between two steps: what is looked through is what stood there at the first.
  const { documents } = shelf;
  const marks = query.keywords.length === 0 ? undefined : yield* markKeywords(shelf, query.keywords);
  for (let i = 0; i < documents.length; i++) {
    if (marks !== undefined && marks[i] === 0) continue;
    const isOnPage = page.totalCount >= offset && page.documents.length < limit;
    // A document that is only counted is not touched, unless its type counts.
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

/** Marks the documents that one of the keywords mentions. */
function* markKeywords(
  shelf: Pick<DocumentShelf, "documents" | "text">,
  keywords: readonly string[],
): Generator<void, Uint8Array> {
  const { documents, text } = shelf;
  const marks = new Uint8Array(documents.length);
  for (const keyword of keywords) {
    // With the separator in it, a keyword could match across two texts; nobody sends one, and it is answered all the same.
    if (keyword.includes(TEXT_SEPARATOR)) markOneByOne(documents, keyword, marks);
    else text.mark(keyword, marks);
    yield;
  }
  return marks;
}

function markOneByOne(documents: DocumentShelf["documents"], keyword: string, marks: Uint8Array): void {
  for (const [index, { document }] of documents.entries()) {
    if (mentionsAny(document, [keyword], () => {})) marks[index] = 1;
  }
}
