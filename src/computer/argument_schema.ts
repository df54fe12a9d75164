/**
 * What the Computer checks of a tool's input schema. An MCP server may be a stranger's, and its schema becomes a
 * program here: only keywords that we know go in, none that an input could make run for minutes, and no more than a
 * bounded number of them. What is left takes everything that the schema itself takes: the server decides on the rest.
 */
import { isRecord } from "../protocol/errors.ts";
import { approximateSizeBytes } from "../protocol/size.ts";

/** The drafts of JSON Schema that are checked. */
export type SchemaDraft = "draft-07" | "2019-09" | "2020-12";

/** A schema to compile: a part of the original that takes all that the original takes. */
export type CheckableSchema = Readonly<Record<string, unknown>>;

/** The keyword that each object schema gets: what an evaluation of it costs, beside the value that it looks at. */
export const WEIGHT_KEYWORD = "a2cWeight";

/** The most object schemas in one input schema: compiling so many takes a few tenths of a second. */
const MAX_SUBSCHEMAS = 1_000;
/** The largest input schema, in bytes. */
const MAX_SCHEMA_BYTES = 512 * 1024;
/** The deepest nesting of schemas. */
const MAX_DEPTH = 64;
/** How many names or values are looked through at the cost of one evaluation. */
const ENTRIES_PER_STEP = 8;

/** Keywords whose value is no schema. */
const ASSERTIONS: ReadonlySet<string> = new Set([
  "type",
  "nullable",
  "enum",
  "const",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "required",
  "dependentRequired",
  "minContains",
  "maxContains",
  "$ref",
  "$anchor",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$recursiveAnchor",
]);
/** Keywords that hold one schema, or in older drafts a list. */
const SINGLE: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "contains",
  "additionalProperties",
  "propertyNames",
  "not",
  "if",
  "then",
  "else",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords that hold a list of schemas. */
const LISTS: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords that hold schemas by name. */
const MAPS: ReadonlySet<string> = new Set([
  "properties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependencies",
]);
/**
 * Keywords that are left out, because an input could make them run for minutes: a regular expression that goes
 * astray, the comparison of each item with each other.
 */
const COSTLY: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems"]);
/** Keywords that take less when a schema below them takes more, so that nothing may be left out there. */
const STRICTER_BY_LESS: ReadonlySet<string> = new Set([
  "not",
  "if",
  "then",
  "else",
  "contains",
  "minContains",
  "maxContains",
  "unevaluatedItems",
  "unevaluatedProperties",
]);

/** Why a schema is not checked. */
export class UncheckableSchemaError extends Error {
  override readonly name = "UncheckableSchemaError";
  readonly code = "UNCHECKABLE_SCHEMA";
  /** Why, in a few words about "it", the schema. */
  readonly reason: string;

  constructor({ reason }: { readonly reason: string }) {
    super(`Cannot check arguments against the input schema: ${reason}`);
    this.reason = reason;
  }
}

/**
 * The draft that a schema is written in; MCP's default is 2020-12. Draft 6 is checked as draft 7, of which it is a
 * part.
 *
 * @throws {UncheckableSchemaError} for another one.
 */
export function draftOf(schema: Readonly<Record<string, unknown>>): SchemaDraft {
  const { $schema = "2020-12" } = schema;
  const [, name] = /(2020-12|2019-09|draft-0[67])/.exec(String($schema)) ?? [];
  switch (name) {
    case "2020-12":
    case "2019-09":
      return name;
    case "draft-06":
    case "draft-07":
      return "draft-07";
  }
  throw new UncheckableSchemaError({ reason: "it is written in another draft of JSON Schema" });
}

/**
 * The part of a schema that can be checked at a bounded cost.
 *
 * @throws {UncheckableSchemaError} when it is too large, too deep, or in parts addressed by ids of their own.
 */
export function toCheckableSchema(schema: Readonly<Record<string, unknown>>): CheckableSchema {
  if (approximateSizeBytes(schema) > MAX_SCHEMA_BYTES) {
    throw new UncheckableSchemaError({ reason: "it is too large" });
  }
  const { $id: _, id: __, ...root } = schema;
  const copy = new SchemaCopy({ isRelaxed: hasCostlyKeyword(root, 0) });
  return copy.of(root, 0);
}

/** Whether a costly keyword stands anywhere; a property that is called like one does no harm. */
function hasCostlyKeyword(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth > 2 * MAX_DEPTH) throw new UncheckableSchemaError({ reason: "it is too deep" });
  return Object.entries(value).some(([key, member]) =>
    COSTLY.has(key) || hasCostlyKeyword(member, depth + 1)
  );
}

/** One copy of one schema, bounded. */
class SchemaCopy {
  readonly #isRelaxed: boolean;
  #count = 0;

  constructor({ isRelaxed }: { readonly isRelaxed: boolean }) {
    this.#isRelaxed = isRelaxed;
  }

  of(schema: Readonly<Record<string, unknown>>, depth: number): CheckableSchema {
    if (++this.#count > MAX_SUBSCHEMAS) throw new UncheckableSchemaError({ reason: "it has too many parts" });
    if (depth > MAX_DEPTH) throw new UncheckableSchemaError({ reason: "it is too deep" });
    if ("$id" in schema) throw new UncheckableSchemaError({ reason: "its parts have ids of their own" });
    const members = Object.entries(schema).flatMap(([keyword, value]) =>
      this.#keyword(keyword, value, depth)
    );
    const copy = Object.fromEntries(members);
    // Which names an expression would have let through is not known any more.
    if ("patternProperties" in schema) delete copy["additionalProperties"];
    return { ...copy, [WEIGHT_KEYWORD]: weightOf(copy) };
  }

  #keyword(keyword: string, value: unknown, depth: number): [string, unknown][] {
    if (this.#isRelaxed && STRICTER_BY_LESS.has(keyword)) return [];
    if (ASSERTIONS.has(keyword)) return [[keyword, value]];
    if (SINGLE.has(keyword) || LISTS.has(keyword)) {
      const name = this.#isRelaxed && keyword === "oneOf" ? "anyOf" : keyword;
      return [[
        name,
        Array.isArray(value) ? value.map((item) => this.#sub(item, depth)) : this.#sub(value, depth),
      ]];
    }
    if (MAPS.has(keyword) && isRecord(value)) {
      const parts = Object.entries(value).map(([name, part]) => [name, this.#sub(part, depth)] as const);
      return [[keyword, Object.fromEntries(parts)]];
    }
    return [];
  }

  #sub(value: unknown, depth: number): unknown {
    return isRecord(value) ? this.of(value, depth + 1) : value;
  }
}

function weightOf(schema: Readonly<Record<string, unknown>>): number {
  const entries = Object.values(schema).map((value) =>
    typeof value === "object" && value !== null ? Object.keys(value).length : 0
  );
  return 1 + Math.floor(entries.reduce((sum, count) => sum + count, 0) / ENTRIES_PER_STEP);
}

/** What looking at a value costs, in evaluations. */
export function valueWeight(value: unknown): number {
  if (typeof value === "string") return value.length >> 10;
  if (typeof value !== "object" || value === null) return 0;
  return Math.floor((Array.isArray(value) ? value.length : Object.keys(value).length) / ENTRIES_PER_STEP);
}
