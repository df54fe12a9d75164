/** The interface through which an author of an MCP server provides documents. */
import type { ElementCategory } from "../../protocol/dpe.ts";
import type { OutlineSection } from "../../dpe/outline.ts";
import type { ElementContents } from "../../protocol/dpe_content.ts";
import type { ReadRequest } from "../session/json_rpc.ts";

/** A value, or a promise of it. */
export type Awaitable<T> = T | Promise<T>;

/** The metadata of a document (`docs/protocol/finder.md#document-metadata`). */
export interface DocumentInfo {
  /** A short key that does not change while the document exists. May contain any characters. */
  readonly docRef: string;
  /** The title, for display; the `docRef` by default. */
  readonly title?: string | undefined;
  /** The type, such as `xlsx` or `pdf`; by default the part after the last dot of the `docRef`, or `document`. */
  readonly fileType?: string | undefined;
  /** The URI of the file; the document's `dpe://` URI by default. */
  readonly fileUri?: string | undefined;
  /** The number of pages; by default `pages()` is called to count them, which costs more. */
  readonly pageCount?: number | undefined;
  /** Keywords for search. */
  readonly keywords?: readonly string[] | undefined;
  /** The contents, in one sentence. */
  readonly summary?: string | undefined;
  /** When it was last changed; a string must be ISO 8601, and is completed as that of a window. */
  readonly lastModified?: Date | string | undefined;
  /** What it says of itself, such as `author`; included at Level 1. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An element of one category. */
export interface DocumentElementOf<Category extends ElementCategory> {
  /** Unique within the document; `p{page}-e{position}`, both from 0, by default. */
  readonly elementId?: string | undefined;
  /** The category; determines the type of the content. */
  readonly category: Category;
  /** The contents, in one sentence. */
  readonly summary?: string | undefined;
  /** The content, with the type of its category. */
  readonly content: ElementContents[Category];
  /** Further metadata; included at Level 3. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An element of a page: a union discriminated by `category`. */
export type DocumentElement = { [Category in ElementCategory]: DocumentElementOf<Category> }[ElementCategory];

/** A page and its elements. */
export interface DocumentPage {
  /** The title, for display. */
  readonly title: string;
  /** In reading order. */
  readonly elements: readonly DocumentElement[];
}

/** A page in a document's index. */
export interface PageInfo {
  /** The title, for display. */
  readonly title: string;
  /** The number of elements. */
  readonly elementCount: number;
}

/** A part of a document's index. */
export interface PageRange {
  /** The number of the first page, from 0. */
  readonly offset: number;
  /** The most pages, at least 1. */
  readonly limit: number;
}

/** An element and the number of its page. */
export interface PlacedElement {
  /** The number of the page, from 0. */
  readonly pageIndex: number;
  /** The element. */
  readonly element: DocumentElement;
}

/** What a search asks for, and who asks. */
export interface SearchRequest extends ReadRequest {
  /** The only document to search; all by default. */
  readonly docRef?: string | undefined;
  /** How many of the pages that fit are skipped. */
  readonly offset: number;
  /** The most pages, at least 1. */
  readonly limit: number;
}

/** A page that fits a search. */
export interface DocumentHit {
  /** Its document. */
  readonly docRef: string;
  /** The number of the page, from 0. */
  readonly page: number;
  /** The title of the page. */
  readonly pageTitle?: string | undefined;
  /** The element that fits best. */
  readonly elementId?: string | undefined;
  /** The words around those that were found. */
  readonly snippet: string;
}

/** The pages that fit a search. */
export interface DocumentHits {
  /** The best first. */
  readonly hits: readonly DocumentHit[];
  /** How many pages fit. */
  readonly total: number;
  /** How many documents were not searched, or not whole; 0 by default. */
  readonly notIndexed?: number | undefined;
  /** Why not all documents were searched, in one sentence. */
  readonly notice?: string | undefined;
}

/**
 * The documents of one host. `list()` and `pages()` are enough for all four levels. For large documents, implement
 * `page()` instead of `pages()`, and set `pageCount` on each document: then a page is built only when it is read. The
 * optional `document()`, `pageIndex()` and `element()` save calls of `list()` and of the pages.
 *
 * Every method may be asynchronous. Its last parameter describes the client's request. A method returns `undefined` for
 * a document, page or element that does not exist. Results are not cached: each read calls the methods again.
 *
 * Specification: `docs/protocol/finder.md#content-model` and `docs/protocol/finder.md#mcp-servers-with-documents`.
 */
export interface DocumentSource {
  /** The host of the URIs; a reverse domain name such as `com.example.docs` is recommended. */
  readonly host: string;
  /** All documents, in the order for clients. */
  list(request: ReadRequest): Awaitable<readonly DocumentInfo[]>;
  /**
   * One document; searched in `list()` by default. Also called for each document that `list()` returns without a
   * `pageCount`, to complete its metadata.
   */
  document?(docRef: string, request: ReadRequest): Awaitable<DocumentInfo | undefined>;
  /** All pages of a document. Required unless the source has `page()`. */
  pages?(docRef: string, request: ReadRequest): Awaitable<readonly DocumentPage[] | undefined>;
  /** One page, by its number from 0. Required unless the source has `pages()`. */
  page?(docRef: string, pageIndex: number, request: ReadRequest): Awaitable<DocumentPage | undefined>;
  /** A part of the page index; built from those pages by default. */
  pageIndex?(
    docRef: string,
    range: PageRange,
    request: ReadRequest,
  ): Awaitable<readonly PageInfo[] | undefined>;
  /** Its chapters and sections in reading order, from which an index in levels is made; none by default. */
  outline?(docRef: string, request: ReadRequest): Awaitable<readonly OutlineSection[] | undefined>;
  /** One element; by default the pages are searched one by one. */
  element?(docRef: string, elementId: string, request: ReadRequest): Awaitable<PlacedElement | undefined>;
  /** Why documents are missing in the list, in one sentence; `undefined` when none are. */
  notice?(request: ReadRequest): Awaitable<string | undefined>;
  /** Finds pages by the words of their text (`docs/protocol/extensions.md#search-in-the-text`); without it, nobody can. */
  search?(query: string, request: SearchRequest): Awaitable<DocumentHits>;
}
