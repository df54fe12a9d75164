/** Reading and writing the query of a `dpe://` URI: rules 4 to 8 of `docs/protocol/finder.md#validation-rules`. */
import { DPE_FORMATS, ELEMENT_CATEGORIES, type ElementCategory, MAX_PAGE_LIMIT } from "../protocol/dpe.ts";
import { decodeText, encodeText, type Refusal, refuseText } from "./_segments.ts";
import { parseNaturalNumber } from "./natural_number.ts";

/** The values of `depth`. */
export const DPE_DEPTHS = ["metadata", "pages"] as const;

/** Why the value of a parameter is refused. */
type Rule = (value: string) => Refusal | undefined;

/** The parameters that have a meaning. Their values are checked at every level, also where they do not apply. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["format", (value) => isOneOf(DPE_FORMATS, value) ? undefined : "format is not json, markdown or text"],
  ["depth", (value) => isOneOf(DPE_DEPTHS, value) ? undefined : "depth is not metadata or pages"],
  ["offset", (value) => isPageOffset(value) ? undefined : "offset is not a non-negative integer"],
  ["limit", (value) => isPageLimit(value) ? undefined : "limit is not an integer from 1 to 100"],
  ["categories", (value) => areCategories(value) ? undefined : "categories is not a list of element types"],
]);

/** What a URI without a query has. */
const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze(Object.create(null));

/** Reads the query of a `dpe://` URI, or says why it is refused. The record has no prototype. */
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
  const pairs = Object.entries(params).map(([key, value]) => `${encodeText(key)}=${encodeText(value)}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

/** Why a parameter may not stand in a query, or `undefined` when it may. Unknown keys are kept, without meaning. */
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
export function isCategory(text: string): text is ElementCategory {
  return isOneOf(ELEMENT_CATEGORIES, text);
}

function isOneOf(known: readonly string[], value: string): boolean {
  return known.includes(value);
}
