/** Reading a document's fields, which come from strangers: what is of a wrong type counts as missing. */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { excerpt } from "../uri/excerpt.ts";
import type { Report } from "./warning.ts";

/** The title; empty, and reported, when it is no text. */
export function titleOf(document: DPEDocumentSummary, report: Report): string {
  const title: unknown = document.title;
  return isText(title) ? title : reportField(document, "title", report);
}

/** The name of the MCP server; empty, and reported, when it is no text. */
export function serverOf(document: DPEDocumentSummary, report: Report): string {
  const server: unknown = document.server;
  return isText(server) ? server : reportField(document, "server", report);
}

/** The summary; empty when there is none, or, after a report, when it is no text. */
export function summaryOf(document: DPEDocumentSummary, report: Report): string {
  const summary: unknown = document.summary;
  if (isText(summary)) return summary;
  return isAbsent(summary) ? "" : reportField(document, "summary", report);
}

/** The time stamp; empty when there is none, or, after a report, when it is no text. */
export function lastModifiedOf(document: DPEDocumentSummary, report: Report): string {
  const lastModified: unknown = document.last_modified;
  if (isText(lastModified)) return lastModified;
  return isAbsent(lastModified) ? "" : reportField(document, "last_modified", report);
}

/** The keywords joined by single spaces; those that are no texts are left out and reported. */
export function joinedKeywordsOf(document: DPEDocumentSummary, report: Report): string {
  const keywords: unknown = document.keywords;
  if (isAbsent(keywords)) return "";
  if (!Array.isArray(keywords)) return reportField(document, "keywords", report);
  if (keywords.every(isText)) return keywords.join(" ");
  reportField(document, "keywords", report);
  return keywords.filter(isText).join(" ");
}

/** Reports a field that does not hold what it should, and returns what counts instead. */
function reportField(document: DPEDocumentSummary, field: keyof DPEDocumentSummary, report: Report): "" {
  const { server, uri }: { server: unknown; uri: unknown } = document;
  const expected = field === "keywords" ? "a list of texts" : "a text";
  report({
    code: "document-field",
    message: `Cannot read ${field} ${
      excerpt(document[field])
    } of document: not ${expected}, so it is ignored`,
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
