/** A document made ready for ordering, and for being searched many times. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { isRecord } from "../json.ts";
import { isValidDpeUri } from "../uri/dpe_uri.ts";
import { excerpt } from "../uri/excerpt.ts";
import { joinedKeywordsOf, lastModifiedOf, serverOf, summaryOf, titleOf } from "./document_fields.ts";
import { parseInstant } from "./instant.ts";
import type { Report } from "./warning.ts";

/** A document with a valid URI, and what its place in the order depends on. */
export interface RankedDocument {
  /** The document as it was given. */
  readonly document: DPEDocumentSummary;
  /** The MCP server that serves it. */
  readonly server: string;
  /** When it was last modified, in milliseconds since 1970; `-Infinity` when that is missing or unreadable. */
  readonly instant: number;
}

/** A ranked document with the text that keywords are looked for in: what an index keeps between requests. */
export interface PreparedDocument extends RankedDocument {
  /** Title, summary and joined keywords in lower case, parted by {@linkcode TEXT_SEPARATOR}. */
  readonly text: string;
}

/** Parts the texts of a prepared document: a keyword without it matches within one of them or not at all. */
export const TEXT_SEPARATOR = "\0";

/** Reads what ordering needs, or reports the document and returns `undefined` when its URI is no `dpe://` URI. */
export function rankDocument(document: DPEDocumentSummary, report: Report): RankedDocument | undefined {
  if (!hasValidUri(document, report)) return undefined;
  return {
    document,
    server: serverOf(document, report),
    instant: readInstant(document, report),
  };
}

/** Reads what ordering and searching need, or returns `undefined` as {@linkcode rankDocument} does. */
export function prepareDocument(document: DPEDocumentSummary, report: Report): PreparedDocument | undefined {
  const ranked = rankDocument(document, report);
  if (ranked === undefined) return undefined;
  const title = titleOf(document, report);
  const summary = summaryOf(document, report);
  const keywords = joinedKeywordsOf(document, report);
  return { ...ranked, text: [title, summary, keywords].join(TEXT_SEPARATOR).toLowerCase() };
}

function hasValidUri(document: DPEDocumentSummary, report: Report): boolean {
  const uri: unknown = document.uri;
  if (typeof uri === "string" && isValidDpeUri(uri)) return true;
  reportInvalidUri(document, report);
  return false;
}

/** Reports what is no document at all, or has no valid URI. */
export function reportInvalidUri(document: unknown, report: Report): void {
  const { uri, server } = isRecord(document) ? document : {};
  report({
    code: "document-uri",
    message: `Cannot list document ${excerpt(uri)}: not a valid dpe:// URI, so it is left out`,
    server: typeof server === "string" ? server : "",
    uri: typeof uri === "string" ? uri : "",
  });
}

function readInstant(document: DPEDocumentSummary, report: Report): number {
  const text = lastModifiedOf(document, report);
  if (text === "") return -Infinity;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  report({
    code: "document-last-modified",
    message: `Cannot order document by last_modified ${excerpt(text)}: not ISO 8601, so it comes last`,
    server: serverOf(document, report),
    uri: document.uri,
  });
  return -Infinity;
}
