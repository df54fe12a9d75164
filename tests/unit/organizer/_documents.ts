/** Documents to organize. */
import fc from "../../fixtures/fast_check.ts";
import {
  type DocumentShelf,
  type FinderQueryOptions,
  organizeFinder,
  type OrganizeFinderOptions,
  organizeShelves as organizeInSteps,
} from "../../../src/organizer/finder.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";
import type { DPEDocumentSummary } from "../../../src/protocol/dpe.ts";
import type { FinderPage } from "../../../src/protocol/finder.ts";

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

const anyDocument = fc.record({
  title: fc.constantFrom("Red", "green", "BLUE red", ""),
  keywords: fc.option(fc.array(fc.constantFrom("red", "sea", "blue")), { nil: undefined }),
  server: fc.constantFrom("a", "b", "c"),
  file_type: fc.constantFrom("pdf", "xlsx"),
  last_modified: fc.option(
    fc.constantFrom("2026-01-01", "2026-01-01T01:00:00+01:00", "2025-06-01", "no date"),
    {
      nil: undefined,
    },
  ),
  uri: fc.constantFrom("dpe://h/d", "dpe://h/d", "dpe://h/%64", "dpe://"),
});
/** Documents of several servers, sound and unsound, with ties. */
export const anyDocuments = fc.array(anyDocument).map((all) =>
  all.map((fields, i) => makeDocument(`d${i}`, fields))
);
/** Requests that match some of {@linkcode anyDocuments}. */
export const anyQuery = fc.record({
  keywords: fc.array(fc.constantFrom("RED", "blue", "sea blue", ""), { maxLength: 2 }),
  fileType: fc.constantFrom(undefined, "pdf"),
  history: fc.array(fc.constantFrom("a", "c", "z")),
});

/** All steps of a Finder request over shelves at once. */
export function organizeShelves(
  shelves: ReadonlyMap<string, DocumentShelf>,
  options: FinderQueryOptions,
): FinderPage {
  const steps = organizeInSteps(shelves, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
