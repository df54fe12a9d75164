/** A document's summary from what its MCP server answers at Level 1. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { parseDpeDocument } from "../protocol/parse.ts";
import type { ResourceContents } from "../protocol/resources.ts";

/** Reads the JSON that a `dpe://` resource holds; throws when there is none. */
export function readJsonContents(contents: readonly ResourceContents[]): unknown {
  const text = contents.find((item) => typeof item.text === "string")?.text;
  if (text === undefined) throw new TypeError("Cannot read document: its resource has no text");
  return JSON.parse(text);
}

/**
 * The summary under the URI as listed. Throws when the text is no JSON object or lacks a required member
 * (`data-structures.md`, DPEDocumentSummary).
 */
export function readDocumentSummary(
  contents: readonly ResourceContents[],
  origin: { readonly uri: string; readonly server: string },
): DPEDocumentSummary {
  const { pages: _pages, page_offset: _offset, page_limit: _limit, page_total: _total, ...summary } =
    parseDpeDocument(
      readJsonContents(contents),
    );
  return { ...summary, ...origin };
}
