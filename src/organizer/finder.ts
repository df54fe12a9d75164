/** The Finder's catalogue from the documents of all MCP servers (`docs/protocol/finder.md#organizing`). */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { isRecord } from "../json.ts";
import { type FinderQueryOptions, toFinderQuery } from "./finder_query.ts";
import { type FinderPage, FinderSelection } from "./finder_selection.ts";
import { mentionsAny } from "./keywords.ts";
import { rankDocument, reportInvalidUri } from "./prepared_document.ts";
import { createReport, type OrganizerWarning } from "./warning.ts";

/** Which documents to show, and how. */
export interface OrganizeFinderOptions extends FinderQueryOptions {
  /** Hears of what is wrong with the documents that were searched or that match. */
  readonly onWarning?: ((warning: OrganizerWarning) => void) | undefined;
}

/**
 * Filters, orders and pages documents: those of the MCP server used last come first, servers without a tool call
 * follow by name, and within a server the document modified last is first. Documents come from strangers: one with
 * an invalid URI is left out, a field of a wrong type counts as missing, and either is reported.
 *
 * Specification: `docs/protocol/finder.md#organizing`.
 *
 * @param documents in the order of their listing, which ties keep
 * @returns the documents of the page, and how many match in total
 * @throws {SmcpError} 400 with `details.field` when `offset` or `limit` is negative or no integer
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
  const query = toFinderQuery(options);
  const { keywords, fileType } = query;
  const report = createReport(options.onWarning);
  const selection = new FinderSelection(query);
  for (const document of documents) {
    if (!isRecord(document)) {
      reportInvalidUri(document, report);
      continue;
    }
    if (fileType !== undefined && document.file_type !== fileType) continue;
    if (keywords.length > 0 && !mentionsAny(document, keywords, report)) continue;
    // Only now, since for most requests nearly nothing matches
    const ranked = rankDocument(document, report);
    if (ranked !== undefined) selection.add(ranked);
  }
  return selection.page();
}
