/** Documents of a catalogue and what was read below them, as command lines show them. */
import type { DPEDocumentSummary, DPEElementDetail, DPEPageSummary } from "../../protocol/dpe.ts";

/** A document and, as far as they were asked for, its first 100 pages. */
export interface DocumentBranch {
  readonly document: DPEDocumentSummary;
  readonly pages?: readonly PageBranch[] | undefined;
  /** Why the pages could not be read. */
  readonly failure?: string | undefined;
}

/** A page and, as far as they were asked for, its elements. */
export interface PageBranch {
  readonly page: DPEPageSummary;
  readonly elements?: readonly DPEElementDetail[] | undefined;
  /** Why the elements could not be read. */
  readonly failure?: string | undefined;
}
