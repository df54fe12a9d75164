/** The Finder's messages (`docs/protocol/data-structures.md#finder`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { DPEDocumentSummary } from "./dpe.ts";

/** The most documents in the answer to a request without `limit`. */
export const DEFAULT_FINDER_LIMIT = 20;
/** The highest `limit` of a Finder request. */
export const MAX_FINDER_LIMIT = 100;
export const MAX_FINDER_KEYWORDS = 64;
export const MAX_FINDER_TEXT_LENGTH = 256;

/** `client:get_finder`. */
export interface GetFinderReq extends ComputerCallData {
  /** Only documents whose title, keywords or summary contain one of these; at most 64 of at most 256 characters. */
  keywords?: string[];
  /** Only documents of exactly this type. */
  file_type?: string;
  /** How many matching documents to skip; 0 by default. */
  offset?: number;
  /** The most documents to return; 20 by default, at most 100. */
  limit?: number;
}

/** The answer to `client:get_finder`. */
export interface GetFinderRet extends AgentCallAnswer {
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
}
