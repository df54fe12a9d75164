/** What the query of a `dpe://` URI asks for, by level. */
import { DEFAULT_PAGE_LIMIT, DPE_FORMATS, type DPEFormat, type ElementCategory } from "../protocol/dpe.ts";
import { DPE_DEPTHS, isCategory } from "./_query.ts";
import type { DpeUri } from "./dpe_uri.ts";
import { parseNaturalNumber } from "./natural_number.ts";

/** How much of a document a Level 1 URI asks for. */
export type DpeDepth = "metadata" | "pages";

/** What a `dpe://` URI asks for, with the defaults filled in. */
export interface DpeQuery {
  /** How to show pages and elements; `json` by default. */
  readonly format: DPEFormat;
  /** At Level 1; `metadata` elsewhere. */
  readonly depth: DpeDepth;
  /** The first page of the index at Level 1; 0 elsewhere. */
  readonly offset: number;
  /** The most pages of the index at Level 1; 20 elsewhere. */
  readonly limit: number;
  /** The only categories wanted at Level 2; `undefined` means all. */
  readonly categories: readonly ElementCategory[] | undefined;
}

/**
 * What the query of a parsed `dpe://` URI asks for. A parameter that does not apply to the URI's level has its
 * default.
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
export function dpeQueryOf(uri: Pick<DpeUri, "level" | "queryParams">): DpeQuery {
  const { format, depth, offset, limit, categories } = uri.queryParams;
  const atLevel1 = uri.level === 1;
  return {
    format: DPE_FORMATS.find((known) => known === format) ?? "json",
    depth: (atLevel1 ? DPE_DEPTHS.find((known) => known === depth) : undefined) ?? "metadata",
    offset: (atLevel1 ? parseNaturalNumber(offset) : undefined) ?? 0,
    limit: (atLevel1 ? parseNaturalNumber(limit) : undefined) ?? DEFAULT_PAGE_LIMIT,
    categories: uri.level === 2 ? categories?.split(",").filter(isCategory) : undefined,
  };
}
