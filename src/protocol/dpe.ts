/** The Document-Page-Element model (`docs/protocol/finder.md#content-model` and `docs/protocol/finder.md#answers-by-level`). */

/** The 19 categories of elements. */
export const ELEMENT_CATEGORIES = [
  "text",
  "heading",
  "list",
  "code",
  "table",
  "pivot_table",
  "chart",
  "diagram",
  "image",
  "formula",
  "link",
  "annotation",
  "header",
  "footer",
  "separator",
  "audio",
  "video",
  "form",
  "widget",
] as const;

/** A category of elements. */
export type ElementCategory = typeof ELEMENT_CATEGORIES[number];

/** The formats that a `dpe://` URI may ask for. */
export const DPE_FORMATS = ["json", "markdown", "text"] as const;
/** A format that a `dpe://` URI may ask for. */
export type DPEFormat = typeof DPE_FORMATS[number];

/** The most pages in one part of a page index. */
export const MAX_PAGE_LIMIT = 100;
/** The number of pages in one part of a page index when the URI has no `limit`. */
export const DEFAULT_PAGE_LIMIT = 20;

/** A page whose text fits a search (`docs/protocol/extensions.md#search-in-the-text`). */
export interface DPEHit {
  /** The number of the page, from 0. */
  page_index: number;
  /** The title of the page. */
  title?: string;
  /** The element that fits best. */
  element_id?: string;
  /** The `dpe://` URI of the page. */
  uri: string;
  /** The words around those that were found. */
  snippet: string;
}

/** A document in the Finder. */
export interface DPEDocumentSummary {
  /** The key of the document, given by its MCP server. */
  doc_ref: string;
  /** The `dpe://` URI. */
  uri: string;
  /** The URI of the file itself. */
  file_uri: string;
  /** The type of the file, such as `xlsx`, `pdf` or `pptx`. */
  file_type: string;
  /** The title, for display. */
  title: string;
  /** The number of pages; their indices are 0 to `page_count - 1`. */
  page_count: number;
  /** Keywords for search. */
  keywords?: string[];
  /** The contents, in one sentence. */
  summary?: string;
  /** The name of its MCP server. */
  server: string;
  /** When it was last changed, in ISO 8601. */
  last_modified?: string;
  /** Its pages that fit a search in the text, the best first. */
  hits?: DPEHit[];
}

/** What a list or a search in the text did not cover. */
export interface DPESearchGaps {
  /** How many documents were not searched, or not whole. */
  not_indexed?: number;
  /** Why that is so, or why documents are missing, in one sentence. */
  notice?: string;
}

/** A page in a document's index. */
export interface DPEPageSummary {
  /** The number of the page, from 0. */
  page_index: number;
  /** The title, for display. */
  title: string;
  /** The number of elements. */
  element_count: number;
  /** The URI. */
  uri: string;
  /** The `doc_ref` of its document. */
  doc_ref?: string;
}

/** A chapter or section of a document (`docs/protocol/extensions.md#outline`). */
export interface DPEOutlineEntry {
  /** The title, for display. */
  title: string;
  /** From 1, the highest level of this outline. */
  level: number;
  /** The page on which it begins, from 0. */
  page_index: number;
  /** How many sections in it are not in this outline. */
  section_count?: number;
}

/** An element, in a page (Level 2) or on its own (Level 3). */
export interface DPEElementDetail {
  /** Unique within the document. */
  element_id: string;
  /** One of {@linkcode ELEMENT_CATEGORIES}. */
  category: string;
  /** The contents, in one sentence. */
  summary?: string;
  /** The content; its members depend on the category. */
  content: Record<string, unknown>;
  /** The `doc_ref` of its document. */
  doc_ref?: string;
  /** The number of the page, from 0. */
  page_index?: number;
  /** The URI. */
  uri?: string;
  /** Other members that the MCP server sends. */
  metadata?: Record<string, unknown>;
  /** The element as Markdown, with `format=markdown`. */
  content_markdown?: string;
  /** The element as plain text, with `format=text`. */
  content_text?: string;
}

/** The catalogue of one MCP server (Level 0). */
export interface DPECatalogue extends DPESearchGaps {
  /** In the order of the MCP server. */
  documents: Omit<DPEDocumentSummary, "server">[];
  /** The number of documents; of a search in the text, that of the pages that fit. */
  total_count: number;
}

/** A document (Level 1): its metadata and, with `depth=pages`, a part of its page index. */
export interface DPEDocument extends Omit<DPEDocumentSummary, "server">, DPESearchGaps {
  /** The part of the page index that starts at `page_offset`. */
  pages?: DPEPageSummary[];
  /** The number of the first page in `pages`. */
  page_offset?: number;
  /** The most pages in `pages`. */
  page_limit?: number;
  /** The number of all pages of the document. */
  page_total?: number;
  /** What the file says of itself, such as `author` and `created_at` (`docs/protocol/extensions.md#metadata-of-a-document`). */
  metadata?: Record<string, unknown>;
  /** How many of its pages fit a search in the text. */
  hit_count?: number;
  /** Its chapters and sections, with `outline`. */
  outline?: DPEOutlineEntry[];
}

/** A document with a part of its page index (Level 1, `depth=pages`). */
export interface DPEDocumentPages extends DPEDocument {
  /** The part of the page index that starts at `page_offset`. */
  pages: DPEPageSummary[];
}

/** A page and its elements (Level 2). */
export interface DPEPage {
  /** The number of the page, from 0. */
  page_index: number;
  /** The title, for display. */
  title: string;
  /** The `doc_ref` of its document. */
  doc_ref?: string;
  /** The URI. */
  uri?: string;
  /** In reading order. */
  elements: DPEElementDetail[];
  /** The number of elements. */
  element_count?: number;
  /** The page as Markdown, with `format=markdown`. */
  content_markdown?: string;
  /** The page as plain text, with `format=text`. */
  content_text?: string;
}
