/** Reads the pages and elements of documents for `finder --depth`. */
import {
  type DPEDocumentSummary,
  type DPEElementDetail,
  type DPEPageSummary,
  MAX_PAGE_LIMIT,
} from "../../protocol/dpe.ts";
import { forEachBounded } from "../../async/limiter.ts";
import { toFailure } from "../outcome.ts";
import { documentPagesUri, pageUri, readDocumentPages, readPage } from "../../agent/documents.ts";
import type { RemoteComputer } from "../../agent/remote_computer.ts";

/** A document and, if they were read, its first 100 pages. */
export interface DocumentBranch {
  readonly document: DPEDocumentSummary;
  readonly pages?: readonly PageBranch[] | undefined;
  readonly failure?: string | undefined;
}

/** A page and, if they were read, its elements. */
export interface PageBranch {
  readonly page: DPEPageSummary;
  readonly elements?: readonly DPEElementDetail[] | undefined;
  readonly failure?: string | undefined;
}

/** The lowest level that is read. */
export type TreeDepth = "documents" | "pages" | "elements";

const CONCURRENCY = 8;

/** Reads what is below documents. A page or an element that cannot be read has a `failure` in its place. */
export async function readDocumentTree(
  documents: readonly DPEDocumentSummary[],
  options: {
    readonly computer: Pick<RemoteComputer, "readResource">;
    readonly depth: TreeDepth;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<DocumentBranch[]> {
  const { computer, depth, signal } = options;
  const branches: DocumentBranch[] = documents.map((document) => ({ document }));
  if (depth === "documents") return branches;
  await forEachBounded(documents.entries(), CONCURRENCY, async ([i, document]) => {
    branches[i] = await attempt({ document }, signal, async () => {
      const uri = documentPagesUri(document.uri, { limit: MAX_PAGE_LIMIT });
      const { pages } = readDocumentPages({ uri, result: await computer.readResource(uri, { signal }) });
      return { pages: pages.slice(0, MAX_PAGE_LIMIT).map((page) => ({ page })) };
    });
  });
  if (depth === "pages") return branches;

  const trees = branches.map((branch) => ({ ...branch, pages: branch.pages && [...branch.pages] }));
  const places = trees.flatMap(({ document, pages = [] }) =>
    pages.map(({ page }, i) => ({ document, pages, page, i }))
  );
  await forEachBounded(places, CONCURRENCY, async ({ document, pages, page, i }) => {
    pages[i] = await attempt({ page }, signal, async () => {
      const uri = pageUri(document.uri, page.page_index);
      const { elements } = readPage({ uri, result: await computer.readResource(uri, { signal }) });
      return { elements };
    });
  });
  return trees;
}

/** The branch with what is below it, or with why that cannot be read. An abort is thrown. */
async function attempt<Branch extends object, Below extends object>(
  branch: Branch,
  signal: AbortSignal | undefined,
  read: () => Promise<Below>,
): Promise<Branch & (Below | { readonly failure: string })> {
  try {
    signal?.throwIfAborted();
    return { ...branch, ...await read() };
  } catch (error) {
    signal?.throwIfAborted();
    return { ...branch, failure: toFailure(error).message };
  }
}

export function toTreeJson(branches: readonly DocumentBranch[]): Record<string, unknown>[] {
  return branches.map(({ document, pages, failure }) => ({
    ...document,
    ...failureOf(failure),
    ...(pages && {
      pages: pages.map(({ page, elements, failure }) => ({
        ...page,
        ...(elements && { elements }),
        ...failureOf(failure),
      })),
    }),
  }));
}

function failureOf(failure: string | undefined): { failure?: string } {
  return failure === undefined ? {} : { failure };
}
