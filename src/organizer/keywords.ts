/** Whether a document answers to the keywords of a request (`docs/protocol/finder.md#filters`). */
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { joinedKeywordsOf, summaryOf, titleOf } from "./document_fields.ts";
import type { Report } from "./warning.ts";

/** Whether `text`, in lower case, contains one of `keywords`, in lower case. */
function containsAny(text: string, keywords: readonly string[]): boolean {
  for (const keyword of keywords) if (text.includes(keyword)) return true;
  return false;
}

/**
 * Whether one of `keywords`, given in lower case, stands in the title, in the summary, or in the keywords joined by
 * spaces. Most documents are asked only once, so a field is not lower-cased before those ahead of it were searched.
 */
export function mentionsAny(
  document: DPEDocumentSummary,
  keywords: readonly string[],
  report: Report,
): boolean {
  return containsAny(titleOf(document, report).toLowerCase(), keywords) ||
    containsAny(summaryOf(document, report).toLowerCase(), keywords) ||
    containsAny(joinedKeywordsOf(document, report).toLowerCase(), keywords);
}
