/** The Finder's messages (`docs/protocol/data-structures.md#finder`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { DPEDocumentSummary, DPESearchGaps } from "./dpe.ts";
import { queryWords, termOf } from "../text/words.ts";

/** The most documents in the answer to a request without `limit`. */
export const DEFAULT_FINDER_LIMIT = 20;
/** The highest `limit` of a Finder request. */
export const MAX_FINDER_LIMIT = 100;
export const MAX_FINDER_KEYWORDS = 64;
export const MAX_FINDER_TEXT_LENGTH = 256;
/** The most characters of a search in the text. */
export const MAX_QUERY_LENGTH = 4_000;

/** `client:get_finder`. */
export interface GetFinderReq extends ComputerCallData {
  /** Only documents whose title, keywords or summary contain one of these; at most 64 of at most 256 characters. */
  keywords?: string[];
  /** Only documents of exactly this type. */
  file_type?: string;
  /** Words to search in the text of documents, in place of the filters (`docs/protocol/extensions.md#search-in-the-text`). */
  query?: string;
  /** How many matching documents to skip; 0 by default. */
  offset?: number;
  /** The most documents to return; 20 by default, at most 100. */
  limit?: number;
}

/** The answer to `client:get_finder`. */
export interface GetFinderRet extends AgentCallAnswer, DPESearchGaps {
  /** In the order of the Finder. */
  documents?: DPEDocumentSummary[];
  /** The number of all matching documents, on this page or not. */
  total_count?: number;
}

/** A page of the Finder: a part of the documents that match. */
export interface FinderPage {
  /** In the order of the Finder. */
  readonly documents: DPEDocumentSummary[];
  /** How many documents match, on this page or not. */
  readonly totalCount: number;
  /** How many documents a search in the text did not cover, or not whole. */
  readonly notIndexed?: number | undefined;
  /** Why that is so, or why documents are missing, in one sentence. */
  readonly notice?: string | undefined;
}

/** The keywords by which a Computer that knows no search in texts finds the most of what a query means. */
export function keywordsOf(query: string): string[] {
  const keywords = queryWords(query).flatMap((word) => {
    const term = termOf(word) ?? "";
    return word.toLowerCase().startsWith(term) ? [term] : [term, word];
  });
  return keywords.filter(({ length }) => length > 0 && length <= MAX_FINDER_TEXT_LENGTH)
    .slice(0, MAX_FINDER_KEYWORDS);
}
