/** Reads a document source: fills in what the source omits, and turns missing documents into errors of the protocol. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { OutlineSection } from "../../dpe/outline.ts";
import { excerpt } from "../../text/text.ts";
import type {
  DocumentElement,
  DocumentHits,
  DocumentInfo,
  DocumentPage,
  DocumentSource,
  PageInfo,
  PageRange,
  PlacedElement,
  SearchRequest,
} from "./source.ts";
import { toInstant } from "../windows/options.ts";
import type { Exchange, ReadRequest } from "../session/json_rpc.ts";

/** How many documents or pages are read at the same time when each needs its own call. */
const CONCURRENCY = 16;

const DEFAULT_ELEMENT_ID = /^p(0|[1-9][0-9]{0,8})-e(?:0|[1-9][0-9]{0,8})$/;

/** A document with its number of pages, and the instant of its last change. */
export interface CountedDocument extends DocumentInfo {
  readonly pageCount: number;
  readonly lastModified?: string | undefined;
}

export class DocumentReader {
  readonly #source: DocumentSource;
  readonly #request: ReadRequest;
  readonly #report: (error: unknown) => void;

  constructor(source: DocumentSource, { request, report }: Pick<Exchange, "request" | "report">) {
    this.#source = source;
    this.#request = request;
    this.#report = report;
  }

  /** Lists all documents. A document whose key cannot be part of a URI is left out and reported. */
  async list(): Promise<readonly DocumentInfo[]> {
    const documents = await this.#source.list(this.#request);
    if (documents.every(hasKey)) return documents;
    this.#report(
      new TypeError(
        `Cannot list a document of host "${this.#source.host}": its docRef is not a string, or is empty`,
      ),
    );
    return documents.filter(hasKey);
  }

  /** All documents with their metadata. A document that fails is left out and reported; one that was removed is left out. */
  async catalogue(): Promise<CountedDocument[]> {
    const documents = await mapBounded(await this.list(), (listed) => this.#complete(listed));
    return documents.filter((document) => document !== undefined);
  }

  /** Why documents are missing in the list; `undefined` when its source knows of none. */
  async notice(): Promise<string | undefined> {
    return await this.#source.notice?.(this.#request);
  }

  /** A document; `undefined` when it does not exist. */
  async lookUp(docRef: string): Promise<CountedDocument | undefined> {
    const found = this.#source.document === undefined
      ? (await this.list()).find((document) => document.docRef === docRef)
      : await this.#source.document(docRef, this.#request);
    return found === undefined ? undefined : await this.#count({ ...found, docRef });
  }

  /** A document; throws 4201 when it does not exist. */
  async document(docRef: string): Promise<CountedDocument> {
    const found = await this.lookUp(docRef);
    if (found === undefined) throw documentNotFound(docRef);
    return found;
  }

  /** A part of a document's page index; shorter at the end of the document. */
  async pageIndex({ docRef, pageCount }: CountedDocument, range: PageRange): Promise<readonly PageInfo[]> {
    const offset = Math.min(range.offset, pageCount);
    const limit = Math.min(range.limit, pageCount - offset);
    if (limit === 0) return [];
    const index = await this.#source.pageIndex?.(docRef, { offset, limit }, this.#request);
    if (index !== undefined) return index.slice(0, limit);
    const pages = await this.#pages(docRef, { offset, limit });
    return pages.map(({ title, elements }) => ({ title, elementCount: elements.length }));
  }

  /** The chapters and sections of a document; `undefined` when its source knows none. */
  async outline(docRef: string): Promise<readonly OutlineSection[] | undefined> {
    return await this.#source.outline?.(docRef, this.#request);
  }

  /** A page; throws 4202 when it does not exist. */
  async page(document: CountedDocument, index: number): Promise<DocumentPage> {
    const { docRef, pageCount } = document;
    const [page] = index < pageCount ? await this.#pages(docRef, { offset: index, limit: 1 }) : [];
    if (page !== undefined) return page;
    const details = { doc_ref: docRef, page_index: index, page_count: pageCount };
    throw new SmcpError(ErrorCode.PAGE_OUT_OF_RANGE, "Page out of range", { details });
  }

  /** An element; throws 4203 when it does not exist. */
  async element(document: CountedDocument, elementId: string): Promise<PlacedElement> {
    const { docRef } = document;
    const placed = this.#source.element === undefined
      ? await this.#searchElement(document, elementId)
      : await this.#source.element(docRef, elementId, this.#request);
    if (placed !== undefined) return placed;
    const details = { doc_ref: docRef, element_id: elementId };
    throw new SmcpError(ErrorCode.ELEMENT_NOT_FOUND, "Element not found", { details });
  }

  /** The pages that fit a search; `undefined` when the source cannot search. */
  async search(
    query: string,
    range: Pick<SearchRequest, "docRef" | "offset" | "limit">,
  ): Promise<DocumentHits | undefined> {
    return await this.#source.search?.(query, { ...this.#request, ...range });
  }

  /** Yields the pages of a document one by one, so that a search can stop early. */
  async *eachPage({ docRef, pageCount }: CountedDocument): AsyncGenerator<DocumentPage> {
    if (this.#source.page === undefined) return yield* await this.#allPages(docRef);
    for (let offset = 0; offset < pageCount; offset++) {
      yield* await this.#pages(docRef, { offset, limit: 1 });
    }
  }

  /** A part of the pages; shorter when the document became shorter meanwhile. */
  async #pages(docRef: string, { offset, limit }: PageRange): Promise<readonly DocumentPage[]> {
    if (this.#source.page === undefined) return (await this.#allPages(docRef)).slice(offset, offset + limit);
    const indices = Array.from({ length: limit }, (_, position) => offset + position);
    const pages = await mapBounded(indices, (index) => this.#source.page?.(docRef, index, this.#request));
    const end = pages.indexOf(undefined);
    return (end < 0 ? pages : pages.slice(0, end)).filter((page) => page !== undefined);
  }

  async #allPages(docRef: string): Promise<readonly DocumentPage[]> {
    const pages = await this.#source.pages?.(docRef, this.#request);
    if (pages === undefined) throw documentNotFound(docRef);
    return pages;
  }

  /** Completes a document that `list()` returned without a page count: calls `document()`. */
  async #complete(listed: DocumentInfo): Promise<CountedDocument | undefined> {
    try {
      const isComplete = listed.pageCount !== undefined || this.#source.document === undefined;
      return await (isComplete ? this.#count(listed) : this.lookUp(listed.docRef));
    } catch (error) {
      this.#report(error);
      return undefined;
    }
  }

  /** Adds the page count; `undefined` when the document was removed meanwhile. */
  async #count(document: DocumentInfo): Promise<CountedDocument | undefined> {
    const pageCount = document.pageCount ??
      (await this.#source.pages?.(document.docRef, this.#request))?.length;
    if (pageCount === undefined && this.#source.pages !== undefined) return undefined;
    const refuse = (what: string) => `Cannot read document ${excerpt(document.docRef)}: ${what}`;
    const { lastModified: at } = document;
    const lastModified = at === undefined ? undefined : toInstant(at, refuse);
    if (pageCount !== undefined && Number.isSafeInteger(pageCount) && pageCount >= 0) {
      return { ...document, pageCount, lastModified };
    }
    const state = pageCount === undefined ? "is missing" : `${excerpt(pageCount)} is not a number of pages`;
    throw new TypeError(refuse(`its pageCount ${state}`));
  }

  /** Searches the pages for an element. A default id contains the position of its element, so one page is enough. */
  async #searchElement(document: CountedDocument, elementId: string): Promise<PlacedElement | undefined> {
    const hint = Number(DEFAULT_ELEMENT_ID.exec(elementId)?.[1] ?? Infinity);
    if (hint < document.pageCount) {
      const [page] = await this.#pages(document.docRef, { offset: hint, limit: 1 });
      const element = page && findElement(page, { pageIndex: hint, elementId });
      if (element !== undefined) return { pageIndex: hint, element };
    }
    let pageIndex = 0;
    for await (const page of this.eachPage(document)) {
      const element = findElement(page, { pageIndex, elementId });
      if (element !== undefined) return { pageIndex, element };
      pageIndex++;
    }
    return undefined;
  }
}

/** The id of an element; built from its position by default. */
export function elementIdOf(
  element: DocumentElement,
  place: { readonly pageIndex: number; readonly position: number },
): string {
  return element.elementId ?? `p${place.pageIndex}-e${place.position}`;
}

function findElement(
  page: DocumentPage,
  { pageIndex, elementId }: { readonly pageIndex: number; readonly elementId: string },
): DocumentElement | undefined {
  return page.elements.find((element, position) =>
    elementIdOf(element, { pageIndex, position }) === elementId
  );
}

function hasKey({ docRef }: DocumentInfo): boolean {
  return typeof docRef === "string" && docRef !== "" && docRef.isWellFormed();
}

function documentNotFound(docRef: string): SmcpError {
  return new SmcpError(ErrorCode.DOCUMENT_NOT_FOUND, "Document not found", { details: { doc_ref: docRef } });
}

async function mapBounded<T, R>(
  items: readonly T[],
  map: (item: T) => R | Promise<R>,
): Promise<Awaited<R>[]> {
  const results: Awaited<R>[] = [];
  for (let start = 0; start < items.length; start += CONCURRENCY) {
    results.push(...await Promise.all(items.slice(start, start + CONCURRENCY).map(map)));
  }
  return results;
}
