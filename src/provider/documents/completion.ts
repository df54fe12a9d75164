/** Completes the parameters of the document templates (`docs/protocol/finder.md#completion`). */
import { isRecord } from "../../json/json.ts";
import { parseNaturalNumber } from "../../uri/dpe_query.ts";
import { type DocumentReader, elementIdOf } from "./reader.ts";
import type { DocumentPage } from "./source.ts";

/** The most values that MCP allows in one answer. */
export const MAX_COMPLETIONS = 100;

/** The numbers of so many pages are offered. */
const MAX_OFFERED_PAGES = 100_000;
/** The most pages that are searched for element ids. */
const MAX_SEARCHED_PAGES = 1_000;

export interface Completion {
  /** The values; at most {@linkcode MAX_COMPLETIONS}. */
  readonly values: string[];
  /** The number of all values; absent when they were not counted. */
  readonly total?: number;
  /** Whether there are more values than these. */
  readonly hasMore: boolean;
}

export interface CompletionRequest {
  readonly name: string;
  /** The beginning of its value. */
  readonly value: string;
  /** The values of the other parameters: MCP's `context.arguments`. */
  readonly chosen: Readonly<Record<string, unknown>>;
}

const NOTHING: Completion = { values: [], total: 0, hasMore: false };

/** Reads the parameters of `completion/complete`; `undefined` when they are invalid. */
export function readCompletionRequest(
  params: Readonly<Record<string, unknown>>,
): CompletionRequest | undefined {
  const { argument, context } = params;
  if (!isRecord(argument)) return undefined;
  const { name, value } = argument;
  if (typeof name !== "string" || typeof value !== "string") return undefined;
  const chosen = isRecord(context) && isRecord(context["arguments"]) ? context["arguments"] : {};
  return { name, value, chosen };
}

/**
 * Completes a parameter. Pages and elements are completed for the chosen document. The answer is empty when no document
 * is chosen, or when it does not exist.
 */
export async function completeDocument(
  reader: DocumentReader,
  { name, value, chosen }: CompletionRequest,
): Promise<Completion> {
  if (name === "doc_ref") return offer((await reader.list()).map(({ docRef }) => docRef), value);
  const { doc_ref: docRef, page_index: page } = chosen;
  const document = typeof docRef === "string" ? await reader.lookUp(docRef) : undefined;
  if (document === undefined) return NOTHING;
  if (name === "page_index") {
    return offer(
      Array.from({ length: Math.min(document.pageCount, MAX_OFFERED_PAGES) }, (_, page) => String(page)),
      value,
    );
  }
  if (name !== "element_id") return NOTHING;
  const pageIndex = typeof page === "string" ? parseNaturalNumber(page) : undefined;
  if (page === undefined || page === "") return await offerElements(reader.eachPage(document), value);
  if (pageIndex === undefined || pageIndex >= document.pageCount) return NOTHING;
  return offer(elementIds(await reader.page(document, pageIndex), pageIndex), value);
}

function offer(all: readonly string[], prefix: string): Completion {
  const values = all.filter((each) => each.startsWith(prefix));
  return {
    values: values.slice(0, MAX_COMPLETIONS),
    total: values.length,
    hasMore: values.length > MAX_COMPLETIONS,
  };
}

/** The element ids of a document. Stops when there are more than one answer can have. */
async function offerElements(pages: AsyncIterable<DocumentPage>, prefix: string): Promise<Completion> {
  const values: string[] = [];
  let pageIndex = 0;
  for await (const page of pages) {
    values.push(...elementIds(page, pageIndex).filter((id) => id.startsWith(prefix)));
    pageIndex++;
    if (values.length > MAX_COMPLETIONS || pageIndex === MAX_SEARCHED_PAGES) {
      return { values: values.slice(0, MAX_COMPLETIONS), hasMore: true };
    }
  }
  return { values, total: values.length, hasMore: false };
}

function elementIds({ elements }: DocumentPage, pageIndex: number): string[] {
  return elements.map((element, position) => elementIdOf(element, { pageIndex, position }));
}
