/** A document's summary from what its MCP server answers at Level 1, or in its catalogue at Level 0. */
import type { DPEDocumentSummary } from "../../protocol/dpe.ts";
import { isRecord } from "../../json.ts";
import { parseDpeDocument } from "../../protocol/answers.ts";
import type { ResourceContents } from "../../protocol/resources.ts";

/** Where a summary comes from. */
export interface SummaryOrigin {
  /** The URI under which the document is listed. */
  readonly uri: string;
  /** The MCP server. */
  readonly server: string;
}

/**
 * The summary of a document's metadata, under the URI as listed. Throws when it is no JSON object or lacks a required
 * member (`docs/protocol/data-structures.md#dpedocumentsummary`).
 */
export function toDocumentSummary(metadata: unknown, origin: SummaryOrigin): DPEDocumentSummary {
  const { pages: _pages, page_offset: _offset, page_limit: _limit, page_total: _total, ...summary } =
    parseDpeDocument(metadata);
  return { ...summary, ...origin };
}

/** The summary that a read of Level 1 holds. Throws as {@linkcode toDocumentSummary} does, and without JSON. */
export function readDocumentSummary(
  contents: readonly ResourceContents[],
  origin: SummaryOrigin,
): DPEDocumentSummary {
  return toDocumentSummary(readJsonContents(contents), origin);
}

/** The entries that a read of Level 0 holds. Throws when it is no catalogue. */
export function readCatalogueEntries(contents: readonly ResourceContents[]): readonly unknown[] {
  const catalogue = readJsonContents(contents);
  if (isRecord(catalogue) && Array.isArray(catalogue["documents"])) return catalogue["documents"];
  throw new TypeError("Cannot read catalogue: it has no documents");
}

function readJsonContents(contents: readonly ResourceContents[]): unknown {
  const text = contents.find((item) => typeof item.text === "string")?.text;
  if (text === undefined) throw new TypeError("Cannot read document: its resource has no text");
  return JSON.parse(text);
}
