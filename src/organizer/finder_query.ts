/** What a Finder request asks for (`docs/protocol/finder.md#filters`, `docs/protocol/finder.md#pagination`). */
import { badRequest } from "../protocol/errors.ts";
import {
  DEFAULT_FINDER_LIMIT,
  MAX_FINDER_KEYWORDS,
  MAX_FINDER_LIMIT,
  MAX_FINDER_TEXT_LENGTH,
} from "../protocol/finder.ts";

/** Which documents to show, and how. */
export interface FinderQueryOptions {
  /**
   * Keep documents in which one of these stands in title, summary or keywords; an empty one stands in all. At most 64
   * of at most 256 characters each.
   */
  readonly keywords?: readonly string[] | undefined;
  /** Keep documents of exactly this type, at most 256 characters; all when empty. */
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
  /** In lower case, each once, none empty; all documents match when there are none. */
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
 * @throws {SmcpError} 400 with `details.field` when `offset` or `limit` is negative or no integer, when there are too
 *   many keywords, or when a text is too long
 */
export function toFinderQuery(options: FinderQueryOptions): FinderQuery {
  const { keywords = [], fileType, history = [], offset = 0, limit = DEFAULT_FINDER_LIMIT } = options;
  return {
    keywords: toKeywords(keywords),
    fileType: fileType === undefined || fileType === "" ? undefined : checkText("file_type", fileType),
    history,
    offset: checkCount("offset", offset),
    limit: Math.min(checkCount("limit", limit), MAX_FINDER_LIMIT),
  };
}

/** Each keyword of a request is looked for in every document, so their number and length are bounded. */
function toKeywords(keywords: readonly string[]): readonly string[] {
  if (keywords.length > MAX_FINDER_KEYWORDS) {
    throw badRequest(
      "keywords",
      `Cannot look for ${keywords.length} keywords: at most ${MAX_FINDER_KEYWORDS} at a time`,
    );
  }
  for (const keyword of keywords) checkText("keywords", keyword);
  // The empty text stands in every title.
  if (keywords.includes("")) return [];
  return [...new Set(keywords.map((keyword) => keyword.toLowerCase()))];
}

function checkText(field: "keywords" | "file_type", text: string): string {
  if (text.length <= MAX_FINDER_TEXT_LENGTH) return text;
  throw badRequest(
    field,
    `Cannot look for a text of ${text.length} characters: at most ${MAX_FINDER_TEXT_LENGTH}`,
  );
}

function checkCount(field: "offset" | "limit", count: number): number {
  if (Number.isInteger(count) && count >= 0) return count;
  throw badRequest(field, `Cannot organize documents with ${field} "${count}": not a non-negative integer`);
}
