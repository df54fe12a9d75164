/** The query of a `dpe://` URI: rules 4 to 8 of `docs/protocol/finder.md#validation-rules`, and what a query means. */
import {
  DEFAULT_PAGE_LIMIT,
  DPE_FORMATS,
  type DPEFormat,
  ELEMENT_CATEGORIES,
  type ElementCategory,
  MAX_PAGE_LIMIT,
} from "../protocol/dpe.ts";
import { decodeText, encodeText, type Refusal, refuseText } from "./_segments.ts";

/** The values of `depth`. */
const DPE_DEPTHS = ["metadata", "pages"] as const;

/** Returns why the value of a parameter is invalid. */
type Rule = (value: string) => Refusal | undefined;

/** The known parameters. Their values are checked at every level, even where they do not apply. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["format", (value) => isOneOf(DPE_FORMATS, value) ? undefined : "format is not json, markdown or text"],
  ["depth", (value) => isOneOf(DPE_DEPTHS, value) ? undefined : "depth is not metadata or pages"],
  ["offset", (value) => isPageOffset(value) ? undefined : "offset is not a non-negative integer"],
  ["limit", (value) => isPageLimit(value) ? undefined : "limit is not an integer from 1 to 100"],
  ["categories", (value) => areCategories(value) ? undefined : "categories is not a list of element types"],
]);

/** The parameters of a URI without a query. */
export const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** Reads the query of a `dpe://` URI, or returns why it is invalid. The record has no prototype. */
export function readQuery(query: string | undefined): Readonly<Record<string, string>> | Refusal {
  if (query === undefined || query === "") return NO_PARAMS;
  const params: Record<string, string> = Object.create(null);
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const key = decodeText(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decodeText(pair.slice(equals + 1));
    if (key === undefined || value === undefined) return "the query is not percent-encoded UTF-8";
    const refusal = refuseParam(key, value) ?? (key in params ? refuseRepetition(key) : undefined);
    if (refusal !== undefined) return refusal;
    params[key] ??= value;
  }
  return params;
}

/** Writes a query with its `?`; empty when there are no parameters. Every parameter must have passed {@linkcode refuseParam}. */
export function writeQuery(params: Readonly<Record<string, string>>): string {
  // Commas stay: MCP servers that split their query by hand read lists by them (RFC 3986 allows them in a query).
  const encodeValue = (value: string) => value.split(",").map(encodeText).join(",");
  const pairs = Object.entries(params).map(([key, value]) => `${encodeText(key)}=${encodeValue(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Why a parameter is invalid, or `undefined` when it is valid. Unknown keys are valid and kept. */
export function refuseParam(key: string, value: string): Refusal | undefined {
  return RULES.get(key)?.(value) ?? refuseText(key) ?? refuseText(value);
}

function refuseRepetition(key: string): Refusal | undefined {
  return RULES.has(key) ? `${key} is given twice` : undefined;
}

function isPageOffset(value: string): boolean {
  return parseNaturalNumber(value) !== undefined;
}

function isPageLimit(value: string): boolean {
  const limit = parseNaturalNumber(value);
  return limit !== undefined && limit >= 1 && limit <= MAX_PAGE_LIMIT;
}

function areCategories(value: string): boolean {
  return value.split(",").every(isCategory);
}

/** Whether `text` is one of the 19 categories of elements. */
function isCategory(text: string): text is ElementCategory {
  return isOneOf(ELEMENT_CATEGORIES, text);
}

function isOneOf(known: readonly string[], value: string): boolean {
  return known.includes(value);
}

const NATURAL_NUMBER = /^(?:0|[1-9][0-9]{0,15})$/;

/** Reads a decimal integer up to 2^53−1 without sign and leading zeros; anything else (`05`, `1e3`, ``) is `undefined`. */
export function parseNaturalNumber(text: string | undefined): number | undefined {
  if (text === undefined || !NATURAL_NUMBER.test(text)) return undefined;
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** How much of a document a Level 1 URI requests. */
export type DpeDepth = "metadata" | "pages";

/** A search among the documents of a catalogue (`docs/protocol/extensions.md#search-in-a-catalogue`). */
export interface DpeSearch {
  /** Documents whose title, summary or keywords contain one of these; all documents when empty. */
  readonly keywords: readonly string[];
  /** Documents of exactly this type; of all types when `undefined`. */
  readonly fileType: string | undefined;
  /** How many of the documents found are skipped; 0 by default. */
  readonly offset: number;
  /** The most documents in the answer; 20 by default. */
  readonly limit: number;
}

/** A search in the text of documents (`docs/protocol/extensions.md#search-in-the-text`). */
export interface DpeTextSearch {
  /** The words that are searched. */
  readonly query: string;
  /** How many of the pages found are skipped; 0 by default. */
  readonly offset: number;
  /** The most pages in the answer; 20 by default. */
  readonly limit: number;
}

/** The query of a `dpe://` URI with its defaults. */
export interface DpeQuery {
  /** The format of pages and elements; `json` by default. */
  readonly format: DPEFormat;
  /** At Level 1; `metadata` elsewhere. */
  readonly depth: DpeDepth;
  /** The first page of the index at Level 1; 0 elsewhere. */
  readonly offset: number;
  /** The most pages of the index at Level 1; 20 elsewhere. */
  readonly limit: number;
  /** The pages whose chapters and sections are asked for at Level 1 (`docs/protocol/extensions.md#outline`). */
  readonly outline: { readonly first: number; readonly last: number } | undefined;
  /** The categories of elements to return at Level 2; `undefined` means all. */
  readonly categories: readonly ElementCategory[] | undefined;
  /**
   * At Levels 2 and 3, the categories of the elements that come beside the rendered text; empty for the text alone, and
   * `undefined` for all (`docs/protocol/extensions.md#rendered-text-without-its-elements`).
   */
  readonly elements: readonly ElementCategory[] | undefined;
  /** The documents to return at Level 0; `undefined` means all. */
  readonly search: DpeSearch | undefined;
  /** The pages to find at Level 0, or at Level 1 in one document; `undefined` means no search. */
  readonly textSearch: DpeTextSearch | undefined;
}

/**
 * Reads the query of a parsed `dpe://` URI. A parameter that does not apply to the URI's level has its default.
 *
 * Specification: `docs/protocol/finder.md#query-parameters`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { dpeQueryOf, parseDpeUri } from "@a2c-smcp/sdk";
 *
 * const { depth, offset, limit, format } = dpeQueryOf(parseDpeUri("dpe://docs/rpt?depth=pages&limit=5"));
 * assertEquals({ depth, offset, limit, format }, { depth: "pages", offset: 0, limit: 5, format: "json" });
 * ```
 */
export function dpeQueryOf(
  uri: { readonly level: number; readonly queryParams: Readonly<Record<string, string>> },
): DpeQuery {
  const { format, depth, offset, limit, categories, elements } = uri.queryParams;
  const atLevel1 = uri.level === 1;
  return {
    format: DPE_FORMATS.find((known) => known === format) ?? "json",
    depth: (atLevel1 ? DPE_DEPTHS.find((known) => known === depth) : undefined) ?? "metadata",
    offset: (atLevel1 ? parseNaturalNumber(offset) : undefined) ?? 0,
    limit: (atLevel1 ? parseNaturalNumber(limit) : undefined) ?? DEFAULT_PAGE_LIMIT,
    outline: atLevel1 ? outlineOf(uri.queryParams["outline"]) : undefined,
    categories: uri.level === 2 ? categories?.split(",").filter(isCategory) : undefined,
    elements: uri.level >= 2 && (format === "markdown" || format === "text")
      ? elements?.split(",").filter(isCategory)
      : undefined,
    search: uri.level === 0 ? searchOf(uri.queryParams) : undefined,
    textSearch: uri.level <= 1 ? textSearchOf(uri.queryParams) : undefined,
  };
}

/** `all`, or the first and the last page, such as `20-39`. */
function outlineOf(text: string | undefined): DpeQuery["outline"] {
  if (text === "all") return { first: 0, last: Number.MAX_SAFE_INTEGER };
  const [first, last] = (text?.split("-") ?? []).map(parseNaturalNumber);
  return first === undefined || last === undefined ? undefined : { first, last };
}

function searchOf(
  { keywords, file_type, offset, limit }: Readonly<Record<string, string>>,
): DpeSearch | undefined {
  if (keywords === undefined && file_type === undefined) return undefined;
  return {
    keywords: keywords?.split(",") ?? [],
    fileType: file_type,
    offset: parseNaturalNumber(offset) ?? 0,
    limit: parseNaturalNumber(limit) ?? DEFAULT_PAGE_LIMIT,
  };
}

function textSearchOf({ query, offset, limit }: Readonly<Record<string, string>>): DpeTextSearch | undefined {
  if (query === undefined || query === "") return undefined;
  return {
    query,
    offset: parseNaturalNumber(offset) ?? 0,
    limit: parseNaturalNumber(limit) ?? DEFAULT_PAGE_LIMIT,
  };
}
