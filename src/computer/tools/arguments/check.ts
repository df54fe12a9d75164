/**
 * Checks the arguments of a call against the tool's input schema, before the confirmation and the MCP server.
 *
 * An MCP server may be hostile. Its schema is therefore interpreted and never turned into code; only keywords that take
 * a bounded time are checked, within a bounded budget. What is read of a schema accepts everything that the whole schema
 * accepts: the MCP server decides on the rest.
 *
 * Why no library: `@cfworker/json-schema`, which interprets schemas too, has no budget, and the cost of a check is only
 * known by making it, since references, alternatives and items multiply. Schemas within the bounds below kept it busy
 * for 13 s with 1.2 GB (`enum` of objects for each of 10,000 items) and 17 s (900 times `maxLength` of one text). Its
 * errors are sentences that quote values, without the names, types and places that our messages are made of.
 */
import { isRecord } from "../../../json.ts";
import { fitsApproximately } from "../../../protocol/size.ts";
import { Budget, type SchemaNode, type Subschema, UncheckableSchemaError, Visit } from "./evaluation.ts";
import { CLOSING, Keyword, type KeywordReader, KEYWORDS, type Members, type Target } from "./keywords.ts";
import { describeProblems } from "./problems.ts";

/** The most schemas in one input schema. */
export const MAX_SUBSCHEMAS = 2_000;
/** The most names and values in all lists of one input schema together. */
export const MAX_SCHEMA_ENTRIES = 20_000;
/** The largest input schema, in bytes. */
const MAX_SCHEMA_BYTES = 512 * 1024;
/** The deepest nesting of schemas. */
const MAX_DEPTH = 64;
/** The longest reference, in characters. */
const MAX_REFERENCE_LENGTH = 1_024;

/**
 * Keywords that are left out. A regular expression, or the comparison of each item with each other item, may run for
 * minutes with some input; whether a format is checked is up to the MCP server.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems", "format"]);
/** Validators disagree which items `contains` has evaluated for `unevaluatedItems`. */
const AMBIGUOUS_PAIR = ["contains", "unevaluatedItems"] as const;
/** Keywords that reject more values when a schema below them accepts more. */
const REVERSING: ReadonlySet<string> = new Set(["not", "if", "contains", ...CLOSING]);
/** Keywords that mean nothing in draft 7. */
const SINCE_2019: ReadonlySet<string> = new Set([
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
  "minContains",
  "maxContains",
  "$recursiveRef",
  "$dynamicRef",
]);
/** The most schemas, names and values that are kept of all schemas; beyond it, schemas are read again when needed. */
const MAX_KEPT_ENTRIES = 250_000;

/** The result of a check. */
export interface ArgumentVerdict {
  /** One text for each problem; empty when none was found. */
  readonly problems: readonly string[];
  /** Why nothing was checked, so that the MCP server decides alone. */
  readonly uncheckedBecause?: string;
}

/** A schema that was read. */
export interface CheckableSchema {
  readonly root: Subschema;
  /** How many schemas it has. */
  readonly parts: number;
  /** How many names and values its lists hold. */
  readonly entries: number;
}

/** A schema that was read, or why it cannot be checked. */
type ReadSchema = CheckableSchema | { readonly uncheckedBecause: string };

/** By the schema as it was listed, so that it is read once, at the first call of its tool. */
let schemas = new WeakMap<object, ReadSchema>();
let keptEntries = 0;

/**
 * Checks arguments. Regular expressions, formats and `uniqueItems` are left to the MCP server.
 *
 * @param schema The tool's `inputSchema`: the same object for each call, since what was read is kept for that object.
 * @param args The arguments; they are not changed.
 */
export function checkArguments(
  schema: Members,
  args: Members,
): ArgumentVerdict {
  try {
    const read = schemas.get(schema) ?? keepSchema(schema);
    if ("uncheckedBecause" in read) return { problems: [], ...read };
    const visit = new Visit(new Budget());
    return { problems: visit.accepts(read.root, args) ? [] : describeProblems(visit.findings) };
  } catch (error) {
    return { problems: [], uncheckedBecause: uncheckableBecause(error) };
  }
}

function keepSchema(schema: Members): ReadSchema {
  const { read, entries } = tryToRead(schema);
  keptEntries += entries;
  if (keptEntries > MAX_KEPT_ENTRIES) {
    schemas = new WeakMap();
    keptEntries = entries;
  }
  schemas.set(schema, read);
  return read;
}

function tryToRead(
  schema: Members,
): { readonly read: ReadSchema; readonly entries: number } {
  try {
    const read = readSchema(schema);
    return { read, entries: read.parts + read.entries };
  } catch (error) {
    return { read: { uncheckedBecause: uncheckableBecause(error) }, entries: 1 };
  }
}

function uncheckableBecause(error: unknown): string {
  if (error instanceof UncheckableSchemaError) return error.reason;
  // The stack is full.
  if (error instanceof RangeError) return "it is too deep";
  throw error;
}

/**
 * Reads the part of a schema that can be checked at a bounded cost.
 *
 * @throws {UncheckableSchemaError} when the schema is too large or too deep, or its parts have their own ids.
 */
export function readSchema(schema: Members): CheckableSchema {
  const draft = draftOf(schema);
  if (!fitsApproximately(schema, MAX_SCHEMA_BYTES)) throw uncheckable("it is too large");
  const { $id: _, id: __, ...root } = schema;
  const names = new Set<string>();
  collectNames(root, names);
  // A property may be named like a keyword that is left out: then less is checked than could be.
  const isRelaxed = !names.isDisjointFrom(LEFT_OUT) || AMBIGUOUS_PAIR.every((name) => names.has(name));
  return new SchemaReader(root, { draft, isRelaxed }).read();
}

function uncheckable(reason: string): UncheckableSchemaError {
  return new UncheckableSchemaError({ reason });
}

/** The drafts of JSON Schema that are checked. */
type SchemaDraft = "draft-07" | "2019-09" | "2020-12";

/** MCP's default is 2020-12. Draft 6 is a part of draft 7. */
function draftOf({ $schema = "2020-12" }: Members): SchemaDraft {
  const [, name] = /(2020-12|2019-09|draft-0[67])/.exec(typeof $schema === "string" ? $schema : "") ?? [];
  switch (name) {
    case "2020-12":
    case "2019-09":
      return name;
    case "draft-06":
    case "draft-07":
      return "draft-07";
  }
  throw uncheckable("its draft of JSON Schema is not supported");
}

/** Collects the names of all members, however deep: keywords and properties. */
function collectNames(value: unknown, names: Set<string>, depth = 0): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > 2 * MAX_DEPTH) throw uncheckable("it is too deep");
  const isList = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    if (!isList) names.add(key);
    collectNames(member, names, depth + 1);
  }
}

/** One reading of one schema, bounded. */
class SchemaReader {
  readonly #root: Members;
  readonly #draft: SchemaDraft;
  readonly #isRelaxed: boolean;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #anchors = new Map<string, Members>();
  readonly #references: { readonly reference: string; readonly target: Target }[] = [];
  #entries = 0;

  constructor(root: Members, options: { readonly draft: SchemaDraft; readonly isRelaxed: boolean }) {
    this.#root = root;
    this.#draft = options.draft;
    this.#isRelaxed = options.isRelaxed;
  }

  read(): CheckableSchema {
    const root = this.#node(this.#root, 0);
    // A schema that a reference leads to may add further references to the end of the list.
    for (const { reference, target } of this.#references) target.schema = this.#resolve(reference);
    return { root, parts: this.#nodes.size, entries: this.#entries };
  }

  #node(schema: Members, depth: number): SchemaNode {
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) throw uncheckable("it is too deep");
    if ("$id" in schema) throw uncheckable("its parts have their own ids");
    const node: SchemaNode = { rules: [], isClosed: false };
    this.#nodes.set(schema, node);
    if (this.#nodes.size > MAX_SUBSCHEMAS) throw uncheckable("it has too many parts");
    this.#keepAnchors(schema);
    const reader = this.#keywordReader(depth);
    const current = toCurrentDraft(schema, this.#draft);
    for (const [name, read] of KEYWORDS) {
      if (!Object.hasOwn(current, name) || (this.#isRelaxed && REVERSING.has(name))) continue;
      const rule = read(new Keyword(name, current, reader));
      if (rule === undefined) continue;
      node.rules.push(rule);
      node.isClosed ||= CLOSING.has(name);
    }
    return node;
  }

  #keywordReader(depth: number): KeywordReader {
    return {
      isRelaxed: this.#isRelaxed,
      readNode: (schema) => this.#node(schema, depth + 1),
      readReference: (reference) => {
        const target: Target = { schema: true };
        this.#references.push({ reference, target });
        return target;
      },
      count: (entries) => {
        this.#entries += entries;
        if (this.#entries > MAX_SCHEMA_ENTRIES) throw uncheckable("it has too many names and values");
      },
    };
  }

  #keepAnchors(schema: Members): void {
    for (const anchor of [schema["$anchor"], schema["$dynamicAnchor"]]) {
      if (typeof anchor === "string") this.#anchors.set(anchor, schema);
    }
  }

  #resolve(reference: string): Subschema {
    const found = reference.length > MAX_REFERENCE_LENGTH ? undefined : this.#find(reference);
    if (typeof found === "boolean") return found;
    if (isRecord(found)) return this.#node(found, 0);
    throw uncheckable("one of its references has no target");
  }

  #find(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    const fragment = decodeFragment(reference.slice(1));
    if (fragment === undefined) return undefined;
    if (fragment !== "" && !fragment.startsWith("/")) return this.#anchors.get(fragment);
    let found: unknown = this.#root;
    for (const part of fragment.split("/").slice(1)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      const isThere = typeof found === "object" && found !== null && Object.hasOwn(found, key);
      found = isThere ? Reflect.get(found as object, key) : undefined;
    }
    return found;
  }
}

/** The same schema in the form of draft 2020-12. */
function toCurrentDraft(schema: Members, draft: SchemaDraft): Members {
  if (draft === "2020-12") return schema;
  // Draft 7 ignores everything beside a reference.
  if (draft === "draft-07" && "$ref" in schema) return { $ref: schema["$ref"] };
  const { prefixItems: _, additionalItems, items, ...others } = schema;
  const names = Object.keys(others).filter((name) => draft !== "draft-07" || !SINCE_2019.has(name));
  return {
    ...Object.fromEntries(names.map((name) => [name, others[name]])),
    ...toCurrentItems(items, additionalItems),
  };
}

/** Older drafts have a list in `items`, and `additionalItems` for the items behind that list. */
function toCurrentItems(items: unknown, additionalItems: unknown): Members {
  if (!Array.isArray(items)) return items === undefined ? {} : { items };
  return { prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
