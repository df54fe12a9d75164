/** Documents to organize. */
import { organizeFinder, type OrganizeFinderOptions } from "../../../src/organizer/finder.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";
import type { DPEDocumentSummary } from "../../../src/protocol/dpe.ts";

/** A document of the server "s" that is in order, but for what is told otherwise. */
export function makeDocument(docRef: string, fields: Record<string, unknown> = {}): DPEDocumentSummary {
  const sound = {
    doc_ref: docRef,
    uri: `dpe://com.example.s/${docRef}`,
    file_uri: `file:///${docRef}.pdf`,
    file_type: "pdf",
    title: docRef,
    page_count: 1,
    server: "s",
  };
  // Strangers send what the types do not allow
  return { ...sound, ...fields } as DPEDocumentSummary;
}

/** The doc-refs of the page. */
export function listRefs(
  documents: readonly DPEDocumentSummary[],
  options: OrganizeFinderOptions = {},
): string[] {
  return organizeFinder(documents, options).documents.map((document) => document.doc_ref);
}

/** The codes of what is reported. */
export function listWarnings(
  documents: readonly DPEDocumentSummary[],
  options: OrganizeFinderOptions = {},
): string[] {
  const warnings: OrganizerWarning[] = [];
  organizeFinder(documents, { ...options, onWarning: (warning) => warnings.push(warning) });
  return warnings.map((warning) => warning.code);
}
