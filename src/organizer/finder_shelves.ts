/** Finder requests over documents that are kept in order: what does not change between requests is not done again. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { type FinderQuery, type FinderQueryOptions, toFinderQuery } from "./finder_query.ts";
import type { FinderPage } from "./finder_selection.ts";
import { containsAny, mentionsAny } from "./keywords.ts";
import { type PreparedDocument, TEXT_SEPARATOR } from "./prepared_document.ts";
import { orderServers } from "./server_order.ts";

/**
 * Does what `organizeFinder` does, over documents that stand in order already.
 *
 * @param shelves the documents of each MCP server by its name, each in the order of its `DocumentShelf`
 * @throws {SmcpError} 400 with `details.field` when `offset` or `limit` is negative or no integer
 */
export function organizeShelves(
  shelves: ReadonlyMap<string, readonly PreparedDocument[]>,
  options: FinderQueryOptions,
): FinderPage {
  const query = toFinderQuery(options);
  const matches = matcherOf(query);
  const page = { documents: [] as DPEDocumentSummary[], totalCount: 0 };
  for (const server of orderServers(shelves.keys(), query.history)) {
    const shelf = shelves.get(server) ?? [];
    if (matches === undefined) takeSlice(page, shelf, query);
    else takeMatches(page, shelf, { ...query, matches });
  }
  return page;
}

/** What a request keeps; `undefined` when that is everything. */
function matcherOf(
  { keywords, fileType }: FinderQuery,
): ((prepared: PreparedDocument) => boolean) | undefined {
  if (keywords.length === 0 && fileType === undefined) return undefined;
  // A keyword with the separator in it could match across two texts; nobody sends one, and it is answered all the same.
  const isOdd = keywords.some((keyword) => keyword.includes(TEXT_SEPARATOR));
  const mentions = isOdd
    ? ({ document }: PreparedDocument) => mentionsAny(document, keywords, () => {})
    : ({ text }: PreparedDocument) => containsAny(text, keywords);
  return (prepared) =>
    (fileType === undefined || prepared.document.file_type === fileType) &&
    (keywords.length === 0 || mentions(prepared));
}

type OpenPage = { documents: DPEDocumentSummary[]; totalCount: number };

function takeSlice(page: OpenPage, shelf: readonly PreparedDocument[], { offset, limit }: FinderQuery): void {
  const start = Math.max(0, offset - page.totalCount);
  const room = limit - page.documents.length;
  for (const { document } of shelf.slice(start, start + room)) page.documents.push(document);
  page.totalCount += shelf.length;
}

function takeMatches(
  page: OpenPage,
  shelf: readonly PreparedDocument[],
  query: FinderQuery & { readonly matches: (prepared: PreparedDocument) => boolean },
): void {
  const { matches, offset, limit } = query;
  for (const prepared of shelf) {
    if (!matches(prepared)) continue;
    if (page.totalCount++ >= offset && page.documents.length < limit) page.documents.push(prepared.document);
  }
}
