/** The Finder's messages (`docs/protocol/data-structures.md#finder`). */
import type { AgentCallData } from "./call.ts";
import type { DPEDocumentSummary } from "./dpe.ts";

/** Documents that a Finder request returns when it names no `limit`. */
export const DEFAULT_FINDER_LIMIT = 20;
/** The most documents that a Finder request returns. */
export const MAX_FINDER_LIMIT = 100;
/** The most keywords of a Finder request. */
export const MAX_FINDER_KEYWORDS = 64;
/** The longest keyword or file type of a Finder request, in characters. */
export const MAX_FINDER_TEXT_LENGTH = 256;

/** `client:get_finder`. */
export interface GetFinderReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** Keep documents in which one of these occurs in title, keywords or summary; at most 64, each of 256 characters. */
  keywords?: string[];
  /** Keep documents of exactly this type. */
  file_type?: string;
  /** 0 by default. */
  offset?: number;
  /** 20 by default, at most 100. */
  limit?: number;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** The answer to `client:get_finder`. */
export interface GetFinderRet {
  /** In the order of the Finder. */
  documents?: DPEDocumentSummary[];
  /** All documents that match, on this page of the answer or not. */
  total_count?: number;
  /** The id of the request that this answers. */
  req_id?: string;
}

/** A page of the Finder: a part of the documents that match. */
export interface FinderPage {
  /** In the order of the Finder. */
  readonly documents: DPEDocumentSummary[];
  /** How many documents match, on this page or not. */
  readonly totalCount: number;
}
