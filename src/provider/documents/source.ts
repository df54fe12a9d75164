/** What an author of an MCP server gives to publish documents. */
import type { ElementCategory } from "../../protocol/dpe.ts";
import type { ElementContents } from "../../protocol/dpe_content.ts";
import type { ReadRequest } from "../session/json_rpc.ts";

/** Now, or later. */
export type Awaitable<T> = T | Promise<T>;

/** What is known of a document without looking into it (`docs/protocol/finder.md#document-metadata`). */
export interface DocumentInfo {
  /** The short key that you give it; stays the same for as long as the document exists. Need not be URL-safe. */
  readonly docRef: string;
  /** For people; the `docRef` by default. */
  readonly title?: string | undefined;
  /** `xlsx`, `pdf`, `pptx` …; what follows the last dot of the `docRef` by default, else `document`. */
  readonly fileType?: string | undefined;
  /** Where the file itself is; the document's `dpe://` URI by default, for documents that are no files. */
  readonly fileUri?: string | undefined;
  /** How many pages it has; counted with `pages()` by default, which costs more. */
  readonly pageCount?: number | undefined;
  /** What it is about. */
  readonly keywords?: readonly string[] | undefined;
  /** What it holds, in a sentence. */
  readonly summary?: string | undefined;
  /** When it last changed; a text must be ISO 8601. */
  readonly lastModified?: Date | string | undefined;
}

/** An element of one category. */
export interface DocumentElementOf<Category extends ElementCategory> {
  /** Unique within the document; `p{page}-e{position}`, both from 0, by default. */
  readonly elementId?: string | undefined;
  /** Tells the shape of the content. */
  readonly category: Category;
  /** What it holds, in a sentence. */
  readonly summary?: string | undefined;
  /** What its category promises. */
  readonly content: ElementContents[Category];
  /** Whatever else is known of it; shown at Level 3. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** An element of a page: a union that `category` tells apart. */
export type DocumentElement = { [Category in ElementCategory]: DocumentElementOf<Category> }[ElementCategory];

/** A page and what is on it. */
export interface DocumentPage {
  /** For people. */
  readonly title: string;
  /** In reading order. */
  readonly elements: readonly DocumentElement[];
}

/** A page in a document's index. */
export interface PageInfo {
  /** For people. */
  readonly title: string;
  /** How many elements it has. */
  readonly elementCount: number;
}

/** A part of a document's index. */
export interface PageRange {
  /** The first page, from 0. */
  readonly offset: number;
  /** The most pages, from 1. */
  readonly limit: number;
}

/** An element, and the page it stands on. */
export interface PlacedElement {
  /** From 0. */
  readonly pageIndex: number;
  /** The element. */
  readonly element: DocumentElement;
}

/**
 * Documents of one host. `list()` and `pages()` are enough for all four levels. A source whose documents are large
 * gives `page()` instead of `pages()` and a `pageCount` with each document, so that a page is made when it is read;
 * `document()`, `pageIndex()` and `element()` save it the detours over `list()` and the pages.
 *
 * Every method may be asynchronous and gets, last, the request that it works for: its `signal`, and who asks.
 * `undefined` says that there is no such document, page or element. Nothing is kept: what is read is asked for anew.
 *
 * Specification: `docs/protocol/finder.md#content-model` and `docs/protocol/finder.md#mcp-servers-with-documents`.
 */
export interface DocumentSource {
  /** The namespace of these documents; reverse-domain style is recommended. */
  readonly host: string;
  /** All documents, in the order in which clients shall find them. */
  list(request: ReadRequest): Awaitable<readonly DocumentInfo[]>;
  /**
   * One document; looked for in `list()` by default. What `list()` tells without a `pageCount` is taken as a mere
   * mention, and completed by this.
   */
  document?(docRef: string, request: ReadRequest): Awaitable<DocumentInfo | undefined>;
  /** All pages of a document; not needed with `page()`. */
  pages?(docRef: string, request: ReadRequest): Awaitable<readonly DocumentPage[] | undefined>;
  /** One page, from 0; not needed with `pages()`. */
  page?(docRef: string, pageIndex: number, request: ReadRequest): Awaitable<DocumentPage | undefined>;
  /** A part of the page index; made from the pages of that part by default. */
  pageIndex?(
    docRef: string,
    range: PageRange,
    request: ReadRequest,
  ): Awaitable<readonly PageInfo[] | undefined>;
  /** One element; looked for on the pages, one after the other, by default. */
  element?(docRef: string, elementId: string, request: ReadRequest): Awaitable<PlacedElement | undefined>;
}
