/** One document of the Finder: what its order and its search depend on. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { isValidDpeUri } from "../uri/dpe_uri.ts";
import { excerpt } from "../text/text.ts";
import { parseInstant } from "./instant.ts";
import type { Report } from "./warning.ts";

/** A document with a valid URI, and what its place in the order and its search depend on, read once. */
export interface PreparedDocument {
  /** The document as it was given. */
  readonly document: DPEDocumentSummary;
  /** The name of its MCP server. */
  readonly server: string;
  /** `last_modified` in milliseconds since 1970; `-Infinity` when it is missing or invalid. */
  readonly instant: number;
  /**
   * Title, summary, and the keywords joined by spaces, in lower case (`docs/protocol/finder.md#filters`), separated by
   * {@linkcode TEXT_SEPARATOR}.
   */
  readonly text: string;
}

/**
 * Stands between the texts of a document, so that a keyword never matches across two of them; a keyword that contains it
 * matches nothing. A character of one byte: with others, texts would take twice the memory and the time of a search.
 */
export const TEXT_SEPARATOR = "\0";

/** Reads what order and search depend on; reports a document with an invalid `dpe://` URI and returns `undefined`. */
export function prepareDocument(document: DPEDocumentSummary, report: Report): PreparedDocument | undefined {
  const { uri, server, title, summary, keywords } = document;
  if (isValidDpeUri(uri)) {
    const text = [title, summary ?? "", keywords?.join(" ") ?? ""].join(TEXT_SEPARATOR).toLowerCase();
    return { document, server, instant: instantOf(document, report), text };
  }
  const message = `Cannot list document ${excerpt(uri)}: invalid dpe:// URI`;
  return void report({ code: "document-uri", message, server, uri });
}

/** Orders documents, the latest first. The difference of two infinite instants would be `NaN`. */
export function compareDocuments({ instant: a }: PreparedDocument, { instant: b }: PreparedDocument): number {
  return a === b ? 0 : b > a ? 1 : -1;
}

function instantOf({ last_modified, server, uri }: DPEDocumentSummary, report: Report): number {
  const text = last_modified ?? "";
  if (text === "") return -Infinity;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  const what = `last_modified ${excerpt(text)}`;
  const message = `Cannot read ${what}: not an ISO 8601 date; the document is listed last`;
  report({ code: "document-last-modified", message, server, uri });
  return -Infinity;
}
