/**
 * What the Computer checks of a tool's input schema. An MCP server may be a stranger's: its schema is read, never
 * turned into code, and only keywords that we know count, none that an input could make run for minutes, and no more
 * than a bounded number of them. What is left takes everything that the schema itself takes: the server decides on the
 * rest.
 *
 * Why no library: `@cfworker/json-schema`, which interprets schemas too, has no budget, and the cost of a check is only
 * known by making it, since references, alternatives and items multiply; schemas within the bounds below kept it busy
 * for 13 s with 1.2 GB (`enum` of objects for each of 10,000 items) and 17 s (900 times `maxLength` of one text). Its
 * errors are sentences that quote values, without the names, types and places that our messages are made of. Reading
 * in bounds, leaving out what can be checked in two ways, and the messages would remain ours: most of this code.
 */
import { isRecord } from "../../../json.ts";
import { fitsApproximately } from "../../../protocol/size.ts";
import {
  allOfRule,
  alternativesRule,
  containsRule,
  dependentSchemasRule,
  ifRule,
  notRule,
  otherItemsRule,
  otherPropertiesRule,
  propertiesRule,
  propertyNamesRule,
  refRule,
  type Target,
  tupleRule,
} from "./applicators.ts";
import {
  dependentRequiredRule,
  malformed,
  numberRule,
  requiredRule,
  sizeRule,
  typeRule,
  valuesRule,
} from "./rules.ts";
import { type Rule, type SchemaNode, type Subschema, UncheckableSchemaError } from "./run.ts";

/** The most schemas in one input schema. */
export const MAX_SUBSCHEMAS = 2_000;
/** The most names and values in one input schema, in all its lists together. */
export const MAX_SCHEMA_ENTRIES = 20_000;
/** The largest input schema, in bytes. */
const MAX_SCHEMA_BYTES = 512 * 1024;
/** The deepest nesting of schemas. */
const MAX_DEPTH = 64;
/** The longest reference, in characters. */
const MAX_REFERENCE_LENGTH = 1_024;

/**
 * Keywords that are left out: an input could make a regular expression, or the comparison of each item with each other,
 * run for minutes, and whether a format is checked is up to the server.
 */
const LEFT_OUT: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems", "format"]);
/** Validators differ in which items `contains` has evaluated for `unevaluatedItems`. */
const AMBIGUOUS_PAIR = ["contains", "unevaluatedItems"] as const;
/** Keywords that mean nothing in draft 7. */
const SINCE_2019: ReadonlySet<string> = new Set([
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedItems",
  "unevaluatedProperties",
  "$recursiveRef",
  "$dynamicRef",
]);

/** The drafts of JSON Schema that are checked. */
type SchemaDraft = "draft-07" | "2019-09" | "2020-12";

/** What a schema was read as. */
export interface CheckableSchema {
  readonly root: Subschema;
  /** How many schemas it has. */
  readonly parts: number;
  /** How many names and values its lists hold. */
  readonly entries: number;
}

/**
 * Reads the part of a schema that can be checked at a bounded cost.
 *
 * @throws {UncheckableSchemaError} when it is too large, too deep, or in parts addressed by ids of their own.
 */
export function readSchema(schema: Readonly<Record<string, unknown>>): CheckableSchema {
  const draft = draftOf(schema);
  if (!fitsApproximately(schema, MAX_SCHEMA_BYTES)) {
    throw new UncheckableSchemaError({ reason: "it is too large" });
  }
  const { $id: _, id: __, ...root } = schema;
  const names = new Set<string>();
  collectNames(root, names, 0);
  const isRelaxed = !names.isDisjointFrom(LEFT_OUT) || AMBIGUOUS_PAIR.every((name) => names.has(name));
  return new SchemaReader(root, { draft, isRelaxed }).read();
}

/** MCP's default is 2020-12. Draft 6 is checked as draft 7, of which it is a part. */
function draftOf(schema: Readonly<Record<string, unknown>>): SchemaDraft {
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
  throw new UncheckableSchemaError({ reason: "its draft of JSON Schema is not supported" });
}

/** The names of all members, however deep: keywords, and properties, which do no harm where they are named like one. */
function collectNames(value: unknown, names: Set<string>, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > 2 * MAX_DEPTH) throw new UncheckableSchemaError({ reason: "it is too deep" });
  const isList = Array.isArray(value);
  for (const [key, member] of Object.entries(value)) {
    if (!isList) names.add(key);
    collectNames(member, names, depth + 1);
  }
}

type Members = Readonly<Record<string, unknown>>;

/** One reading of one schema, bounded. */
class SchemaReader {
  readonly #root: Members;
  readonly #draft: SchemaDraft;
  /**
   * Something is left out, so that a schema may take more than it says: what takes less when a schema below it takes
   * more is left out, too.
   */
  readonly #isRelaxed: boolean;
  readonly #nodes = new Map<object, SchemaNode>();
  readonly #anchors = new Map<string, Members>();
  readonly #references: { readonly reference: string; readonly target: Target }[] = [];
  #entries = 0;

  constructor(
    root: Members,
    { draft, isRelaxed }: { readonly draft: SchemaDraft; readonly isRelaxed: boolean },
  ) {
    this.#root = root;
    this.#draft = draft;
    this.#isRelaxed = isRelaxed;
  }

  read(): CheckableSchema {
    const root = this.#node(this.#root, 0);
    // What a reference leads to may hold further references, which are found at the end of the list.
    for (const { reference, target } of this.#references) target.schema = this.#resolve(reference);
    return { root, parts: this.#nodes.size, entries: this.#entries };
  }

  #node(schema: Members, depth: number): SchemaNode {
    const known = this.#nodes.get(schema);
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) throw new UncheckableSchemaError({ reason: "it is too deep" });
    if ("$id" in schema) throw new UncheckableSchemaError({ reason: "its parts have their own ids" });
    const node: SchemaNode = { rules: [], isClosed: false };
    this.#nodes.set(schema, node);
    if (this.#nodes.size > MAX_SUBSCHEMAS) {
      throw new UncheckableSchemaError({ reason: "it has too many parts" });
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = schema[keyword];
      if (typeof anchor === "string") this.#anchors.set(anchor, schema);
    }
    const part = new SchemaPart(keywordsOf(schema, this.#draft));
    node.rules.push(
      ...this.#assertions(part),
      ...this.#combinations(part, depth),
      ...this.#itemRules(part, depth),
      ...this.#memberRules(part, depth),
    );
    const closing = this.#isRelaxed ? [] : this.#closingRules(part, depth);
    node.rules.push(...closing);
    node.isClosed = closing.length > 0;
    for (const keyword of ["$defs", "definitions"]) {
      if (isRecord(schema[keyword])) this.#map(schema[keyword], depth);
    }
    return node;
  }

  #assertions(part: SchemaPart): Rule[] {
    const rules = [
      part.rule("type", (value) => typeRule(this.#counted(value), part.schema["nullable"])),
      part.rule(
        "enum",
        (values) => valuesRule("enum", Array.isArray(values) ? this.#counted(values) : malformed("enum")),
      ),
      part.rule("const", (value) => valuesRule("const", this.#counted([value]))),
    ];
    for (const keyword of NUMBERS) rules.push(part.rule(keyword, (bound) => numberRule(keyword, bound)));
    for (const keyword of SIZES) rules.push(part.rule(keyword, (bound) => sizeRule(keyword, bound)));
    rules.push(
      part.rule("required", (names) => requiredRule(this.#counted(names))),
      part.rule("dependentRequired", (lists) => dependentRequiredRule(toMap(this.#counted(lists)))),
      part.rule("dependencies", (lists) => {
        const named = [...toMap(lists)].filter(([, value]) => Array.isArray(value));
        for (const [, list] of named) this.#counted(list);
        return dependentRequiredRule(new Map(named));
      }),
    );
    return rules.flat();
  }

  #combinations(part: SchemaPart, depth: number): Rule[] {
    const { schema } = part;
    const sub = (value: unknown, keyword: string) => this.#sub(value, { keyword, depth });
    const one = this.#isRelaxed ? "anyOf" : "oneOf";
    const rules = [
      part.rule(
        "anyOf",
        (value) => alternativesRule("anyOf", this.#list(value, { keyword: "anyOf", depth })),
      ),
      part.rule("oneOf", (value) => alternativesRule(one, this.#list(value, { keyword: "oneOf", depth }))),
      part.rule("allOf", (value) => allOfRule(this.#list(value, { keyword: "allOf", depth }))),
      ...["$ref", "$dynamicRef", "$recursiveRef"].map((keyword) =>
        part.rule(keyword, (reference) => this.#reference(reference, keyword))
      ),
    ].flat();
    if (this.#isRelaxed) return rules;
    const then = sub(schema["then"] ?? true, "then");
    const otherwise = sub(schema["else"] ?? true, "else");
    return [
      ...part.rule("not", (value) => notRule(sub(value, "not"))),
      ...rules,
      ...part.rule("if", (value) => ifRule(sub(value, "if"), { then, otherwise })),
    ];
  }

  #itemRules(part: SchemaPart, depth: number): Rule[] {
    const { schema: { items, prefixItems, minContains, maxContains } } = part;
    const sub = (value: unknown, keyword: string) => this.#sub(value, { keyword, depth });
    const isModern = this.#draft === "2020-12";
    if (isModern && Array.isArray(items)) malformed("items");
    const tuple = isModern ? prefixItems : Array.isArray(items) ? items : undefined;
    const schemas = tuple === undefined ? [] : this.#list(tuple, { keyword: "items", depth });
    const rest = isModern || !Array.isArray(items) ? "items" : "additionalItems";
    const from = () => schemas.length;
    const isCounted = this.#draft !== "draft-07";
    const least = isCounted && typeof minContains === "number" ? minContains : 1;
    const most = isCounted && typeof maxContains === "number" ? maxContains : Infinity;
    return [
      ...(tuple === undefined ? [] : [tupleRule(schemas)]),
      ...part.rule(rest, (value) => otherItemsRule(rest, { schema: sub(value, rest), from })),
      ...(this.#isRelaxed
        ? []
        : part.rule("contains", (value) => containsRule(sub(value, "contains"), { least, most }))),
    ];
  }

  #memberRules(part: SchemaPart, depth: number): Rule[] {
    const { schema } = part;
    const sub = (value: unknown, keyword: string) => this.#sub(value, { keyword, depth });
    const known = schema["properties"] === undefined ? new Map() : this.#map(schema["properties"], depth);
    // Which names an expression would have let through is not known.
    const isOpen = "patternProperties" in schema;
    return [
      ...part.rule("dependentSchemas", (value) => dependentSchemasRule(this.#map(value, depth))),
      ...part.rule("dependencies", (value) => {
        const schemas = [...toMap(value)].filter(([, member]) => !Array.isArray(member));
        return dependentSchemasRule(this.#map(Object.fromEntries(schemas), depth));
      }),
      ...part.rule("propertyNames", (value) => propertyNamesRule(sub(value, "propertyNames"))),
      ...(isOpen
        ? []
        : part.rule("additionalProperties", (value) =>
          otherPropertiesRule("additionalProperties", {
            schema: sub(value, "additionalProperties"),
            known,
            isKnown: (name) => known.has(name),
          }))),
      ...(known.size === 0 ? [] : [propertiesRule(known)]),
    ];
  }

  /** What asks which members the other keywords have looked at, so that it comes last. */
  #closingRules(part: SchemaPart, depth: number): Rule[] {
    const sub = (value: unknown, keyword: string) => this.#sub(value, { keyword, depth });
    const { properties } = part.schema;
    return [
      ...part.rule("unevaluatedItems", (value) =>
        otherItemsRule("unevaluatedItems", {
          schema: sub(value, "unevaluatedItems"),
          from: ({ evaluated }) => evaluated.items,
        })),
      ...part.rule("unevaluatedProperties", (value) =>
        otherPropertiesRule("unevaluatedProperties", {
          schema: sub(value, "unevaluatedProperties"),
          known: isRecord(properties) ? toMap(properties) : new Map(),
          isKnown: (name, { evaluated }) => evaluated.hasName(name),
        })),
    ];
  }

  #sub(value: unknown, { keyword, depth }: { readonly keyword: string; readonly depth: number }): Subschema {
    if (typeof value === "boolean") {
      this.#count(1);
      return value;
    }
    return isRecord(value) ? this.#node(value, depth + 1) : malformed(keyword);
  }

  #list(value: unknown, at: { readonly keyword: string; readonly depth: number }): Subschema[] {
    return Array.isArray(value) ? value.map((item) => this.#sub(item, at)) : malformed(at.keyword);
  }

  #map(value: unknown, depth: number): Map<string, Subschema> {
    const schemas = toMap(value);
    return new Map(
      schemas.entries().map(([name, schema]) => [name, this.#sub(schema, { keyword: name, depth })] as const),
    );
  }

  #reference(reference: unknown, keyword: string): Rule {
    if (typeof reference !== "string") malformed(keyword);
    const target: Target = { schema: true };
    this.#references.push({ reference, target });
    return refRule(target);
  }

  #resolve(reference: string): Subschema {
    const found = reference.length > MAX_REFERENCE_LENGTH ? undefined : this.#find(reference);
    if (typeof found === "boolean") return found;
    if (isRecord(found)) return this.#node(found, 0);
    throw new UncheckableSchemaError({ reason: "one of its references has no target" });
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

  /** Counts the names and values that are looked through, however deep they stand. */
  #counted<T>(value: T): T {
    this.#count(1);
    if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) this.#counted(member);
    }
    return value;
  }

  #count(entries: number): void {
    this.#entries += entries;
    if (this.#entries > MAX_SCHEMA_ENTRIES) {
      throw new UncheckableSchemaError({ reason: "it has too many names and values" });
    }
  }
}

const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"] as const;
const SIZES = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] as const;

/** One schema object. */
class SchemaPart {
  readonly schema: Members;

  constructor(schema: Members) {
    this.schema = schema;
  }

  /** The rule of a keyword, none where the schema does not have it. */
  rule(keyword: string, read: (value: unknown) => Rule): Rule[] {
    return Object.hasOwn(this.schema, keyword) ? [read(this.schema[keyword])] : [];
  }
}

/** What counts of a schema in its draft: beside a `$ref`, draft 7 ignores everything. */
function keywordsOf(schema: Members, draft: SchemaDraft): Members {
  if (draft !== "draft-07") return schema;
  if ("$ref" in schema) return { $ref: schema["$ref"] };
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !SINCE_2019.has(keyword)));
}

function toMap(value: unknown): Map<string, unknown> {
  return isRecord(value) ? new Map(Object.entries(value)) : malformed("properties");
}

function decodeFragment(fragment: string): string | undefined {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return undefined;
  }
}
