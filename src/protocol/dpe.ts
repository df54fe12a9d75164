/** The Document-Page-Element model (`finder.md`, DPE 数据模型 and Finder 内容格式). */

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
  title: string;
  page_count: number;
  keywords?: string[];
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
  title: string;
  element_count: number;
  uri: string;
  doc_ref?: string;
}

/** An element, in a page (Level 2) or on its own (Level 3). */
export interface DPEElementDetail {
  element_id: string;
  category: string;
  summary?: string;
  /** Its shape depends on the category. */
  content: Record<string, unknown>;
  doc_ref?: string;
  page_index?: number;
  uri?: string;
  metadata?: Record<string, unknown>;
  /** With `format=markdown`. */
  content_markdown?: string;
  /** With `format=text`. */
  content_text?: string;
}

/** Level 0: the documents of one MCP server. */
export interface DPECatalogue {
  documents: Omit<DPEDocumentSummary, "server">[];
  total_count: number;
}

/** Level 1: a document's metadata; with `depth=pages` its page index, too. */
export interface DPEDocument extends Omit<DPEDocumentSummary, "server"> {
  pages?: DPEPageSummary[];
  page_offset?: number;
  page_limit?: number;
  page_total?: number;
}

/** Level 1 with `depth=pages`. */
export interface DPEDocumentPages extends DPEDocument {
  pages: DPEPageSummary[];
}

/** Level 2: a page and its elements. */
export interface DPEPage {
  page_index: number;
  title: string;
  doc_ref?: string;
  uri?: string;
  elements: DPEElementDetail[];
  element_count?: number;
  /** With `format=markdown`. */
  content_markdown?: string;
  /** With `format=text`. */
  content_text?: string;
}
