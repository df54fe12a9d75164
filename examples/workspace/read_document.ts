/** All four levels of `dpe://`, answered from a library. */
import { dpeQueryOf, type DpeUri, ErrorCode, parseDpeUri } from "../../mod.ts";
import type { Library } from "./library.ts";

/** What a read did not find; the server turns it into a JSON-RPC error. */
export class NotFound extends Error {
  override readonly name = "NotFound";
  readonly code: number;
  readonly details: Record<string, unknown>;

  constructor(code: number, message: string, details: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The JSON behind a `dpe://` URI of the library. */
export async function readDocument(library: Library, raw: string): Promise<unknown> {
  const uri = parseDpeUri(raw);
  if (uri.docRef === undefined) return await readCatalogue(library);
  const found = await library.document(uri.docRef);
  if (found === undefined) {
    throw new NotFound(ErrorCode.DOCUMENT_NOT_FOUND, "Document not found", { doc_ref: uri.docRef });
  }
  if (uri.level === 1) return readLevel1(library, uri, found);
  if (uri.level === 2) return readPage(library, uri, found);
  return readElement(library, uri, found);
}

type Found = NonNullable<Awaited<ReturnType<Library["document"]>>>;

async function readCatalogue(library: Library): Promise<unknown> {
  const files = await library.files();
  const found = await Promise.all(files.map(({ docRef }) => library.document(docRef)));
  const documents = found.filter((each) => each !== undefined).map(({ document }) => document);
  return { documents, total_count: documents.length };
}

function readLevel1(library: Library, uri: DpeUri, { document, pages }: Found): unknown {
  const { depth, offset, limit } = dpeQueryOf(uri);
  if (depth !== "pages") return document;
  const index = pages.map((page, position) => library.pageSummary(document.doc_ref, page, position));
  return {
    ...document,
    pages: index.slice(offset, offset + limit),
    page_offset: offset,
    page_limit: limit,
    page_total: pages.length,
  };
}

function readPage(library: Library, uri: DpeUri, { document, pages }: Found): unknown {
  const index = uri.pageIndex ?? 0;
  const page = pages[index];
  if (page === undefined) {
    const details = { doc_ref: document.doc_ref, page_index: index, page_count: pages.length };
    throw new NotFound(ErrorCode.PAGE_OUT_OF_RANGE, "Page out of range", details);
  }
  return library.page(document.doc_ref, page, { index, categories: dpeQueryOf(uri).categories });
}

function readElement(library: Library, uri: DpeUri, { document, pages }: Found): unknown {
  for (const [index, page] of pages.entries()) {
    for (const [position, block] of page.blocks.entries()) {
      const element = library.element(document.doc_ref, block, { index, position });
      if (element.element_id === uri.elementId) return element;
    }
  }
  const details = { doc_ref: document.doc_ref, element_id: uri.elementId };
  throw new NotFound(ErrorCode.ELEMENT_NOT_FOUND, "Element not found", details);
}
