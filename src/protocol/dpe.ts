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

/** The most pages that one read of a page index returns. */
export const MAX_PAGE_LIMIT = 100;
/** The pages that one read of a page index returns when its URI names no `limit`. */
export const DEFAULT_PAGE_LIMIT = 20;

/** A document in the Finder's catalogue. */
export interface DPEDocumentSummary {
  /** The short opaque key that its MCP server gave it. */
  doc_ref: string;
  /** Its `dpe://` URI. */
  uri: string;
  /** Where the file itself is. */
  file_uri: string;
  /** `xlsx`, `pdf`, `pptx` … */
  file_type: string;
  /** For people. */
  title: string;
  /** Its pages; valid indices are 0 to `page_count - 1`. */
  page_count: number;
  /** What it is about. */
  keywords?: string[];
  /** What it holds, in a sentence. */
  summary?: string;
  /** The MCP server that serves it. */
  server: string;
  /** ISO 8601. */
  last_modified?: string;
}

/** A page in a document's index. */
export interface DPEPageSummary {
  /** From 0. */
  page_index: number;
  /** For people. */
  title: string;
  /** How many elements it has. */
  element_count: number;
  /** Its URI. */
  uri: string;
  /** The key of the document it belongs to. */
  doc_ref?: string;
}

/** An element, in a page (Level 2) or on its own (Level 3). */
export interface DPEElementDetail {
  /** Unique within the document. */
  element_id: string;
  /** One of {@linkcode ELEMENT_CATEGORIES}. */
  category: string;
  /** What it holds, in a sentence. */
  summary?: string;
  /** Its shape depends on the category. */
  content: Record<string, unknown>;
  /** The key of the document it belongs to. */
  doc_ref?: string;
  /** The page, from 0. */
  page_index?: number;
  /** Its URI. */
  uri?: string;
  /** Whatever else its MCP server tells. */
  metadata?: Record<string, unknown>;
  /** With `format=markdown`. */
  content_markdown?: string;
  /** With `format=text`. */
  content_text?: string;
}

/** Level 0: the documents of one MCP server. */
export interface DPECatalogue {
  /** In the server's own order. */
  documents: Omit<DPEDocumentSummary, "server">[];
  /** How many there are. */
  total_count: number;
}

/** Level 1: a document's metadata; with `depth=pages` its page index, too. */
export interface DPEDocument extends Omit<DPEDocumentSummary, "server"> {
  /** The page index from `page_offset` on. */
  pages?: DPEPageSummary[];
  /** The first page of the index. */
  page_offset?: number;
  /** The most pages that the index may have. */
  page_limit?: number;
  /** All pages of the document. */
  page_total?: number;
}

/** Level 1 with `depth=pages`. */
export interface DPEDocumentPages extends DPEDocument {
  /** The page index from `page_offset` on. */
  pages: DPEPageSummary[];
}

/** Level 2: a page and its elements. */
export interface DPEPage {
  /** The page, from 0. */
  page_index: number;
  /** For people. */
  title: string;
  /** The key of the document it belongs to. */
  doc_ref?: string;
  /** Its URI. */
  uri?: string;
  /** In reading order. */
  elements: DPEElementDetail[];
  /** How many elements it has. */
  element_count?: number;
  /** With `format=markdown`. */
  content_markdown?: string;
  /** With `format=text`. */
  content_text?: string;
}
