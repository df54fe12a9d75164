/** The keywords of JSON Schema that are checked, in the form of draft 2020-12. */
import { isRecord } from "../../../json.ts";
import {
  all,
  type Budget,
  Findings,
  type Reason,
  type Rule,
  type Subschema,
  UncheckableSchemaError,
  type Visit,
} from "./evaluation.ts";
import { summarizeUnion } from "./problems.ts";
import { isEqual, isMultiple, isStructured, itemsOf, lengthOf, membersOf, TYPES } from "./values.ts";

/** The members of an object. */
export type Members = Readonly<Record<string, unknown>>;

/** A schema that a reference leads to, known when the whole schema has been read. */
export interface Target {
  schema: Subschema;
}

/** The reader of the schema that a keyword belongs to. */
export interface KeywordReader {
  /** Whether parts of the schema are left out, so that what is read may accept more than the schema does. */
  readonly isRelaxed: boolean;
  /** Reads a schema below the keyword. */
  readNode(schema: Members): Subschema;
  /** Finds the schema of a reference once the whole schema has been read. */
  readReference(reference: string): Target;
  /** Counts names and values that are kept for the check. */
  count(entries: number): void;
}

/** One keyword of a schema that is read. */
export class Keyword {
  readonly name: string;
  readonly value: unknown;
  /** The schema that has the keyword. */
  readonly schema: Members;
  readonly reader: KeywordReader;

  constructor(name: string, schema: Members, reader: KeywordReader) {
    this.name = name;
    this.value = schema[name];
    this.schema = schema;
    this.reader = reader;
  }

  /** A schema, the value of the keyword unless another one is given. */
  sub(value: unknown = this.value): Subschema {
    if (typeof value !== "boolean") return isRecord(value) ? this.reader.readNode(value) : this.malformed();
    this.reader.count(1);
    return value;
  }

  /** A list of schemas. */
  list(): readonly Subschema[] {
    return Array.isArray(this.value) ? this.value.map((item) => this.sub(item)) : this.malformed();
  }

  /** Schemas by name. */
  map(): ReadonlyMap<string, Subschema> {
    return new Map(this.entries().map(([name, value]) => [name, this.sub(value)] as const));
  }

  /** The members of the value. */
  entries(): [string, unknown][] {
    return isRecord(this.value) ? Object.entries(this.value) : this.malformed();
  }

  /** A list of names. */
  names(value: unknown = this.value): readonly string[] {
    const isNames = Array.isArray(value) && value.every((name) => typeof name === "string");
    return isNames ? this.counted(value) : this.malformed();
  }

  number(): number {
    return typeof this.value === "number" ? this.value : this.malformed();
  }

  /** Counts a value and everything inside it. */
  counted<T>(value: T): T {
    this.reader.count(1);
    if (typeof value === "object" && value !== null) {
      for (const member of Object.values(value)) this.counted(member);
    }
    return value;
  }

  /**
   * A value that JSON Schema does not allow for the keyword.
   *
   * @throws {UncheckableSchemaError} always.
   */
  malformed(): never {
    throw new UncheckableSchemaError({ reason: `its "${this.name}" is not valid` });
  }
}

/** Reads a keyword; `undefined` when there is nothing to check. */
type ReadRule = (keyword: Keyword) => Rule | undefined;

/** The keywords that ask which members the others have evaluated. They come last. */
export const CLOSING: ReadonlySet<string> = new Set(["unevaluatedItems", "unevaluatedProperties"]);

/** All keywords, in the order of their findings. */
export const KEYWORDS: readonly (readonly [name: string, read: ReadRule])[] = [
  ["type", readType],
  [
    "enum",
    (keyword) => readValues(keyword, Array.isArray(keyword.value) ? keyword.value : keyword.malformed()),
  ],
  ["const", (keyword) => readValues(keyword, [keyword.value])],
  ["minimum", (keyword) => readComparison(keyword, ">=", (value, bound) => value >= bound)],
  ["maximum", (keyword) => readComparison(keyword, "<=", (value, bound) => value <= bound)],
  ["exclusiveMinimum", (keyword) => readComparison(keyword, ">", (value, bound) => value > bound)],
  ["exclusiveMaximum", (keyword) => readComparison(keyword, "<", (value, bound) => value < bound)],
  ["multipleOf", readMultipleOf],
  ["minLength", (keyword) => readSize(keyword, "characters", lengthOf)],
  ["maxLength", (keyword) => readSize(keyword, "characters", lengthOf)],
  ["minItems", (keyword) => readSize(keyword, "items", itemsOf)],
  ["maxItems", (keyword) => readSize(keyword, "items", itemsOf)],
  ["minProperties", (keyword) => readSize(keyword, "properties", membersOf)],
  ["maxProperties", (keyword) => readSize(keyword, "properties", membersOf)],
  ["required", readRequired],
  ["dependentRequired", readDependencies],
  ["dependencies", readDependencies],
  ["not", readNot],
  ["anyOf", readAlternatives],
  ["oneOf", readAlternatives],
  ["allOf", readAllOf],
  ["$ref", readReference],
  ["$dynamicRef", readReference],
  ["$recursiveRef", readReference],
  ["if", readCondition],
  ["prefixItems", readPrefixItems],
  ["items", (keyword) => readOtherItems(keyword, () => prefixLength(keyword))],
  ["contains", readContains],
  ["dependentSchemas", readDependencies],
  ["propertyNames", readPropertyNames],
  ["additionalProperties", readAdditionalProperties],
  ["properties", readProperties],
  ["$defs", (keyword) => void keyword.map()],
  ["definitions", (keyword) => void keyword.map()],
  ["unevaluatedItems", (keyword) => readOtherItems(keyword, ({ items }) => items)],
  ["unevaluatedProperties", (keyword) => readOtherProperties(keyword, (name, visit) => visit.hasName(name))],
];

/** A rule for objects, which accepts all other values. */
function forObjects(rule: (value: Members, visit: Visit) => boolean): Rule {
  return (value, visit) => !isRecord(value) || rule(value, visit);
}

/** A rule for lists, which accepts all other values. */
function forLists(rule: (value: readonly unknown[], visit: Visit) => boolean): Rule {
  return (value, visit) => !Array.isArray(value) || rule(value, visit);
}

/** `type`, with OpenAPI's `nullable`. */
function readType(keyword: Keyword): Rule {
  const types = keyword.names([keyword.value].flat());
  const names = keyword.schema["nullable"] === true ? [...types, "null"] : types;
  const tests = names.map((name) => TYPES.get(name) ?? keyword.malformed());
  return (value, visit) => tests.some((test) => test(value)) || visit.refuse({ kind: "type", types });
}

/** `enum` and `const`. */
function readValues(keyword: Keyword, allowed: readonly unknown[]): Rule {
  keyword.counted(allowed);
  const scalars = new Set(allowed.filter((value) => !isStructured(value)));
  const structured = allowed.filter(isStructured);
  return (value, visit) => {
    const isAllowed = isStructured(value)
      ? structured.some((each) => isEqual(each, value, visit.budget))
      : scalars.has(value);
    return isAllowed || visit.refuse({ kind: "values", allowed });
  };
}

function readComparison(
  keyword: Keyword,
  sign: string,
  fits: (value: number, bound: number) => boolean,
): Rule {
  const bound = keyword.number();
  const reason: Reason = { kind: "other", text: `must be ${sign} ${bound}` };
  return (value, visit) => typeof value !== "number" || fits(value, bound) || visit.refuse(reason);
}

function readMultipleOf(keyword: Keyword): Rule {
  return keyword.number() > 0 ? readComparison(keyword, "a multiple of", isMultiple) : keyword.malformed();
}

/** `minLength`, `maxItems` and the like; `sizeOf` gives `undefined` for a value without such a size. */
function readSize(
  keyword: Keyword,
  unit: string,
  sizeOf: (value: unknown, budget: Budget) => number | undefined,
): Rule {
  const bound = keyword.number();
  const isMost = keyword.name.startsWith("max");
  const text = `must not have ${isMost ? "more" : "fewer"} than ${bound} ${unit}`;
  return (value, visit) => {
    const size = sizeOf(value, visit.budget);
    if (size === undefined || (isMost ? size <= bound : size >= bound)) return true;
    return visit.refuse({ kind: "other", text });
  };
}

function readRequired(keyword: Keyword): Rule {
  const required = keyword.names();
  return forObjects((value, visit) => hasAll(value, required, { visit }));
}

/** `dependentRequired` has lists of names, `dependentSchemas` has schemas, `dependencies` may have both. */
function readDependencies(keyword: Keyword): Rule {
  const isNames = (value: unknown) =>
    keyword.name === "dependentRequired" || (keyword.name === "dependencies" && Array.isArray(value));
  const entries = keyword.entries();
  keyword.reader.count(entries.length);
  const names = new Map<string, readonly string[]>();
  const schemas = new Map<string, Subschema>();
  for (const [name, value] of entries) {
    if (isNames(value)) names.set(name, keyword.names(value));
    else schemas.set(name, keyword.sub(value));
  }
  return forObjects((value, visit) =>
    all(Object.keys(value), (requiredBy) => {
      const schema = schemas.get(requiredBy);
      const isAccepted = schema === undefined || visit.accepts(schema, value);
      return hasAll(value, names.get(requiredBy) ?? [], { visit, requiredBy }) && isAccepted;
    })
  );
}

function hasAll(
  value: Members,
  names: readonly string[],
  { visit, requiredBy }: { readonly visit: Visit; readonly requiredBy?: string },
): boolean {
  visit.budget.spendEntries(names.length);
  const by = requiredBy === undefined ? {} : { requiredBy };
  return all(
    names,
    (name) => Object.hasOwn(value, name) || visit.refuse({ kind: "missing", names: [name], ...by }),
  );
}

function readNot(keyword: Keyword): Rule {
  const schema = keyword.sub();
  return (value, visit) =>
    !visit.apart().accepts(schema, value) ||
    visit.refuse({ kind: "other", text: "has a form that is not allowed" });
}

/** `anyOf` and `oneOf`: the findings of all alternatives become one. */
function readAlternatives(keyword: Keyword): Rule {
  const schemas = keyword.list();
  const isAny = keyword.name === "anyOf" || keyword.reader.isRelaxed;
  return (value, visit) => {
    const findings = new Findings();
    let fitting = 0;
    for (const schema of schemas) {
      const branch = visit.apart(findings);
      if (!branch.accepts(schema, value)) continue;
      fitting++;
      visit.merge(branch);
    }
    if (isAny ? fitting > 0 : fitting === 1) return true;
    const union = { kind: "union", alternatives: schemas.length, fitting, place: visit.place } as const;
    const reasons = fitting > 0 ? [union] : summarizeUnion(union, findings.kept);
    for (const finding of reasons) visit.findings.add(finding);
    return false;
  };
}

function readAllOf(keyword: Keyword): Rule {
  const schemas = keyword.list();
  return (value, visit) => all(schemas, (schema) => visit.accepts(schema, value));
}

function readReference(keyword: Keyword): Rule {
  const reference = typeof keyword.value === "string" ? keyword.value : keyword.malformed();
  const target = keyword.reader.readReference(reference);
  return (value, visit) => visit.accepts(target.schema, value);
}

/** `if` with `then` and `else`. */
function readCondition(keyword: Keyword): Rule {
  const condition = keyword.sub();
  const then = keyword.sub(keyword.schema["then"] ?? true);
  const otherwise = keyword.sub(keyword.schema["else"] ?? true);
  return (value, visit) => {
    const trial = visit.apart();
    if (!trial.accepts(condition, value)) return visit.accepts(otherwise, value);
    visit.merge(trial);
    return visit.accepts(then, value);
  };
}

function readPrefixItems(keyword: Keyword): Rule {
  const schemas = keyword.list();
  return forLists((value, visit) => {
    visit.items = Math.max(visit.items, Math.min(schemas.length, value.length));
    return all(
      schemas.slice(0, value.length).entries(),
      ([index, schema]) => visit.acceptsMember(schema, index, value[index]),
    );
  });
}

function prefixLength({ schema: { prefixItems } }: Keyword): number {
  return Array.isArray(prefixItems) ? prefixItems.length : 0;
}

/** `items` and `unevaluatedItems`: a schema for the items from an index on. */
function readOtherItems(keyword: Keyword, startOf: (visit: Visit) => number): Rule {
  const schema = keyword.sub();
  return forLists((value, visit) => {
    const start = startOf(visit);
    visit.items = Infinity;
    if (schema === false && value.length > start) {
      return visit.refuse({ kind: "other", text: `must not have more than ${start} items` });
    }
    let isAccepted = true;
    for (let index = start; index < value.length; index++) {
      if (!visit.acceptsMember(schema, index, value[index])) isAccepted = false;
    }
    return isAccepted;
  });
}

/** `contains` with `minContains` and `maxContains`. */
function readContains(keyword: Keyword): Rule {
  const schema = keyword.sub();
  const { minContains, maxContains } = keyword.schema;
  const least = typeof minContains === "number" ? minContains : 1;
  const most = typeof maxContains === "number" ? maxContains : Infinity;
  const bound = most === Infinity ? "" : ` and no more than ${most}`;
  const text = `must contain at least ${least}${bound} valid item(s)`;
  return forLists((value, visit) => {
    let count = 0;
    for (const item of value) if (visit.apart().accepts(schema, item)) count++;
    return count >= least && count <= most || visit.refuse({ kind: "other", text });
  });
}

function readPropertyNames(keyword: Keyword): Rule {
  const schema = keyword.sub();
  return forObjects((value, visit) =>
    all(
      Object.keys(value),
      (name) => visit.apart().accepts(schema, name) || visit.refuse({ kind: "name", name }),
    )
  );
}

function readProperties(keyword: Keyword): Rule {
  const schemas = keyword.map();
  return forObjects((value, visit) =>
    all(Object.entries(value), ([name, member]) => {
      const schema = schemas.get(name);
      if (schema === undefined) return true;
      visit.addName(name);
      return visit.acceptsMember(schema, name, member);
    })
  );
}

/** Not checked beside `patternProperties`: which names match those is not known. */
function readAdditionalProperties(keyword: Keyword): Rule | undefined {
  const { properties, patternProperties } = keyword.schema;
  if (patternProperties !== undefined) return undefined;
  return readOtherProperties(keyword, (name) => isRecord(properties) && Object.hasOwn(properties, name));
}

/** A schema for the members that `isKnown` does not hold for. */
function readOtherProperties(keyword: Keyword, isKnown: (name: string, visit: Visit) => boolean): Rule {
  const schema = keyword.sub();
  const { properties } = keyword.schema;
  const known = isRecord(properties) ? Object.keys(properties) : [];
  return forObjects((value, visit) => {
    const isAccepted = all(Object.entries(value), ([name, member]) => {
      if (isKnown(name, visit)) return true;
      if (schema === false) return visit.refuse({ kind: "unknown", name, known });
      return visit.acceptsMember(schema, name, member);
    });
    visit.hasAllNames = true;
    return isAccepted;
  });
}
