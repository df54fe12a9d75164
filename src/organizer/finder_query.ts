/** What a Finder request asks for (`finder.md`, steps 1 and 4). */
import { badRequest } from "../protocol/errors.ts";
import { DEFAULT_FINDER_LIMIT, MAX_FINDER_LIMIT } from "../protocol/finder.ts";

/** Which documents to show, and how. */
export interface FinderQueryOptions {
  /** Keep documents in which one of these stands in title, summary or keywords; empty ones are ignored. */
  readonly keywords?: readonly string[] | undefined;
  /** Keep documents of exactly this type; all when empty. */
  readonly fileType?: string | undefined;
  /** The MCP server of each tool call, the oldest first; none by default. */
  readonly history?: readonly string[] | undefined;
  /** How many documents to skip, 0 by default. */
  readonly offset?: number | undefined;
  /** How many documents to return, 20 by default, 100 at most. */
  readonly limit?: number | undefined;
}

/** A Finder request that was checked, with its defaults filled in. */
export interface FinderQuery {
  /** In lower case, none empty; all documents match when there are none. */
  readonly keywords: readonly string[];
  /** All types match when `undefined`. */
  readonly fileType: string | undefined;
  readonly history: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

/**
 * Checks what a request asks for and fills in the defaults.
 *
 * @throws {SmcpError} 400 with `details.field` when `offset` or `limit` is negative or no integer
 */
export function toFinderQuery(options: FinderQueryOptions): FinderQuery {
  const { keywords = [], fileType, history = [], offset = 0, limit = DEFAULT_FINDER_LIMIT } = options;
  return {
    keywords: keywords.filter((keyword) => keyword !== "").map((keyword) => keyword.toLowerCase()),
    fileType: fileType === "" ? undefined : fileType,
    history,
    offset: checkCount("offset", offset),
    limit: Math.min(checkCount("limit", limit), MAX_FINDER_LIMIT),
  };
}

function checkCount(field: "offset" | "limit", count: number): number {
  if (Number.isInteger(count) && count >= 0) return count;
  throw badRequest(field, `Cannot organize documents with ${field} "${count}": not a non-negative integer`);
}
