/** One document of the Finder: what its order and its search depend on. Fields of a wrong type count as missing. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { isRecord } from "../json/json.ts";
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
  if (!hasValidUri(document, report)) return undefined;
  const [title, summary] = [readText(document, "title", report), readText(document, "summary", report)];
  return {
    document,
    server: readText(document, "server", report),
    instant: instantOf(document, report),
    text: [title, summary, keywordsOf(document, report)].join(TEXT_SEPARATOR).toLowerCase(),
  };
}

/** Orders documents, the latest first. The difference of two infinite instants would be `NaN`. */
export function compareDocuments({ instant: a }: PreparedDocument, { instant: b }: PreparedDocument): number {
  return a === b ? 0 : b > a ? 1 : -1;
}

function hasValidUri(document: DPEDocumentSummary, report: Report): boolean {
  const uri: unknown = document.uri;
  if (typeof uri === "string" && isValidDpeUri(uri)) return true;
  reportInvalidUri(document, report);
  return false;
}

/** Reports a value that is not a document, or a document without a valid URI. */
export function reportInvalidUri(document: unknown, report: Report): void {
  const { uri, server } = isRecord(document) ? document : {};
  report({
    code: "document-uri",
    message: `Cannot list document ${excerpt(uri)}: invalid dpe:// URI`,
    server: isText(server) ? server : "",
    uri: isText(uri) ? uri : "",
  });
}

function instantOf(document: DPEDocumentSummary, report: Report): number {
  const text = readText(document, "last_modified", report);
  if (text === "") return -Infinity;
  const instant = parseInstant(text);
  if (instant !== undefined) return instant;
  report({
    code: "document-last-modified",
    message: `Cannot read last_modified ${excerpt(text)}: not an ISO 8601 date; the document is listed last`,
    server: readText(document, "server", report),
    uri: document.uri,
  });
  return -Infinity;
}

/** The keywords joined by single spaces, without those of a wrong type. */
function keywordsOf(document: DPEDocumentSummary, report: Report): string {
  const keywords: unknown = document.keywords;
  if (isAbsent(keywords)) return "";
  if (!Array.isArray(keywords)) return reportField(document, "keywords", report);
  if (keywords.every(isText)) return keywords.join(" ");
  reportField(document, "keywords", report);
  return keywords.filter(isText).join(" ");
}

/** A text; empty when it is optional and absent or, after a report, of a wrong type. */
function readText(
  document: DPEDocumentSummary,
  field: "title" | "server" | "summary" | "last_modified",
  report: Report,
): string {
  const text: unknown = document[field];
  if (isText(text)) return text;
  const isOptional = field === "summary" || field === "last_modified";
  return isOptional && isAbsent(text) ? "" : reportField(document, field, report);
}

/** Reports a field of a wrong type, and returns the text that replaces it. */
function reportField(document: DPEDocumentSummary, field: keyof DPEDocumentSummary, report: Report): "" {
  const { server, uri }: { server: unknown; uri: unknown } = document;
  const expected = field === "keywords" ? "a list of strings" : "a string";
  report({
    code: "document-field",
    message: `Cannot read ${field} ${excerpt(document[field])} of the document: not ${expected}`,
    server: isText(server) ? server : "",
    uri: isText(uri) ? uri : "",
  });
  return "";
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
