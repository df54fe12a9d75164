/** The URIs of a document's pages and elements (`docs/protocol/finder.md#navigation-helpers`). */
import { DEFAULT_PAGE_LIMIT, type DPEFormat, type ElementCategory } from "../protocol/dpe.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { buildDpeUri, parseDpeUri } from "../uri/dpe_uri.ts";

/** Parameters with a meaning of their own: each helper sets those that it needs. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set(["format", "depth", "offset", "limit", "categories"]);

/** What a page or an element is asked for in. */
export interface FormatOptions {
  /** `json` by default. `markdown` adds `content_markdown`, `text` adds `content_text`. */
  readonly format?: DPEFormat | undefined;
}

/** Which part of a page is wanted. */
export interface PageOptions extends FormatOptions {
  /** Only elements of these categories; all by default. */
  readonly categories?: readonly ElementCategory[] | undefined;
}

/** Which part of a page index is wanted. */
export interface PageIndexOptions {
  /** The first page, from 0; 0 by default. */
  readonly offset?: number | undefined;
  /** From 1 to 100; 20 by default. */
  readonly limit?: number | undefined;
}

/** Level 1: the document that `uri` names, or belongs to. */
export function documentUri(uri: string): string {
  return derive(uri);
}

/** Level 1 with `depth=pages`. */
export function documentPagesUri(uri: string, options: PageIndexOptions = {}): string {
  const { offset = 0, limit = DEFAULT_PAGE_LIMIT } = options;
  return derive(uri, { params: { depth: "pages", offset: `${offset}`, limit: `${limit}` } });
}

/** Level 2. */
export function pageUri(uri: string, pageIndex: number, options: PageOptions = {}): string {
  const { categories } = options;
  const params = formatOf(options);
  if (categories !== undefined) params["categories"] = categories.join(",");
  return derive(uri, { subPath: `pages/${pageIndex}`, params });
}

/** Level 3. */
export function elementUri(uri: string, elementId: string, options: FormatOptions = {}): string {
  return derive(uri, { subPath: `elements/${elementId}`, params: formatOf(options) });
}

function formatOf({ format = "json" }: FormatOptions): Record<string, string> {
  return format === "json" ? {} : { format };
}

/** Builds on the document of `uri`; of its parameters only those without a meaning here are kept. */
function derive(
  uri: string,
  part: { readonly subPath?: string; readonly params?: Readonly<Record<string, string>> } = {},
): string {
  const { host, docRef, queryParams } = parseDpeUri(uri);
  if (docRef === undefined) {
    throw new SmcpError(ErrorCode.INVALID_DPE_URI, `Cannot read a document at "${uri}": it names none`, {
      details: { uri },
    });
  }
  const kept = Object.entries(queryParams).filter(([key]) => !KNOWN_PARAMETERS.has(key));
  const params = { ...Object.fromEntries(kept), ...part.params };
  return buildDpeUri({ host, docRef, subPath: part.subPath, queryParams: params });
}
