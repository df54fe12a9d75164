/**
 * Checks the arguments of a call against the tool's input schema for what callers get wrong, before the confirmation and
 * the MCP server: types, allowed values, missing and unknown names. The MCP server decides on the rest.
 *
 * An MCP server may be hostile, and a schema of a few kilobytes can mean hours of work. Therefore the schema is
 * interpreted within a budget, and only keywords are read without which a schema accepts more. So what is refused here,
 * the whole schema refuses, too.
 */
import { isRecord } from "../../../json/json.ts";
import { describeProblems, type Finding, Place, type Reason, summarizeUnion } from "./problems.ts";

/** The most schemas, names and values that one check looks at: at worst some tens of milliseconds. */
const MAX_STEPS = 30_000;
/** The deepest nesting of schemas, references included. */
const MAX_NESTING = 400;
/** How many names or values cost as much as one schema. */
const ENTRIES_PER_STEP = 8;
/** How many characters of a text cost as much as one schema. */
const CHARACTERS_PER_STEP = 1_024;
/** The most findings that are kept; the others are counted. */
const MAX_FINDINGS = 1_000;
/** The longest reference, in characters, and the longest list of types that is read. */
const MAX_REFERENCE_LENGTH = 1_024;
const MAX_TYPES = 10;

type Members = Readonly<Record<string, unknown>>;

export interface ArgumentVerdict {
  /** One text for each problem; empty when none was found. */
  readonly problems: readonly string[];
  /** Why nothing was checked, so that the MCP server decides alone. */
  readonly uncheckedBecause?: string;
}

export function checkArguments(schema: Members, args: Members): ArgumentVerdict {
  const check = new Check(schema);
  try {
    const findings: Finding[] = [];
    const isAccepted = check.accepts(schema, args, { place: new Place(), findings });
    return { problems: isAccepted ? [] : describeProblems(findings, check.uncounted) };
  } catch (error) {
    if (error instanceof TooMuchWorkError) return { problems: [], uncheckedBecause: error.reason };
    throw error;
  }
}

/** The schema cannot be checked within the budget. */
class TooMuchWorkError extends Error {
  override readonly name = "TooMuchWorkError";
  readonly code = "TOO_MUCH_WORK";
  /** A clause whose "it" is the schema. */
  readonly reason: string;

  constructor({ reason }: { readonly reason: string }) {
    super(`Cannot check arguments against the input schema: ${reason}`);
    this.reason = reason;
  }
}

interface Visit {
  readonly place: Place;
  readonly findings: Finding[];
}

const TYPES: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", Number.isInteger],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", Array.isArray],
  ["object", isRecord],
]);

class Check {
  uncounted = 0;
  readonly #root: Members;
  /** Up to draft 7, a reference hides the keywords beside it. */
  readonly #isAlone: boolean;
  #steps = MAX_STEPS;
  #nesting = 0;

  constructor(root: Members) {
    this.#root = root;
    const { $schema } = root;
    this.#isAlone = typeof $schema === "string" && /draft-0[3-7]/.test($schema);
  }

  /** Whether a schema accepts a value; why it does not goes to the findings. */
  accepts(schema: unknown, value: unknown, visit: Visit): boolean {
    this.#spend(1 + costOf(value));
    if (schema === false) return this.#refuse({ kind: "forbidden" }, visit);
    // References inside a part with an id of its own start at that part.
    if (!isRecord(schema) || ("$id" in schema && schema !== this.#root)) return true;
    if (++this.#nesting > MAX_NESTING) throw new TooMuchWorkError({ reason: "its references never end" });
    const { $ref } = schema;
    const isReferred = typeof $ref !== "string" || this.accepts(this.#find($ref), value, visit);
    const isAccepted = typeof $ref === "string" && this.#isAlone || this.#obeys(schema, value, visit);
    this.#nesting--;
    return isReferred && isAccepted;
  }

  #obeys(schema: Members, value: unknown, visit: Visit): boolean {
    const results = [
      this.#hasType(schema, value, visit),
      this.#isListed(schema, value, visit),
      !isRecord(value) || this.#hasMembers(schema, value, visit),
      !Array.isArray(value) || this.#hasItems(schema, value, visit),
      ...listOf(schema["allOf"]).map((part) => this.accepts(part, value, visit)),
      this.#fitsOne(schema["anyOf"], value, visit),
      this.#fitsOne(schema["oneOf"], value, visit),
    ];
    return results.every((isAccepted) => isAccepted);
  }

  /** `type`, with OpenAPI's `nullable`. */
  #hasType({ type, nullable }: Members, value: unknown, visit: Visit): boolean {
    if (Array.isArray(type) && type.length > MAX_TYPES) return true;
    const types = namesOf([type].flat());
    const isOfType = nullable === true && value === null || types.some((name) => TYPES.get(name)?.(value));
    // What is malformed refuses nothing.
    if (isOfType || type === undefined || ![type].flat().every((name) => TYPES.has(name))) return true;
    return this.#refuse({ kind: "type", types }, visit);
  }

  /** `enum` and `const`; whether two lists or objects are the same is the MCP server's to say. */
  #isListed(schema: Members, value: unknown, visit: Visit): boolean {
    const { enum: values, const: only } = schema;
    const allowed = Array.isArray(values) ? values : "const" in schema ? [only] : undefined;
    if (allowed === undefined || isStructured(value)) return true;
    this.#spend(allowed.length / ENTRIES_PER_STEP);
    return allowed.includes(value) || this.#refuse({ kind: "values", allowed }, visit);
  }

  /** `required`, `properties` and `additionalProperties`. */
  #hasMembers(schema: Members, value: Members, visit: Visit): boolean {
    const { patternProperties, additionalProperties = true } = schema;
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    this.#spend(listOf(schema["required"]).length / ENTRIES_PER_STEP);
    const required = namesOf(schema["required"]);
    const missing = required.filter((name) => !Object.hasOwn(value, name));
    for (const name of missing) this.#refuse({ kind: "missing", names: [name] }, visit);
    const isOther = (name: string) => !Object.hasOwn(properties, name);
    // Which names match a pattern is not known.
    const others = patternProperties === undefined ? additionalProperties : true;
    const unknown = others === false ? Object.keys(value).filter(isOther) : [];
    for (const name of unknown) this.#refuse({ kind: "unknown", name, properties }, visit);
    let isAccepted = missing.length === 0 && unknown.length === 0;
    for (const [name, member] of Object.entries(value)) {
      const schema = isOther(name) ? others === false || others : properties[name];
      if (schema === true) continue;
      const inside = { place: visit.place.child(name), findings: visit.findings };
      if (!this.accepts(schema, member, inside)) isAccepted = false;
    }
    return isAccepted;
  }

  /** `items`, unless the first items have schemas of their own. */
  #hasItems({ items, prefixItems }: Members, value: readonly unknown[], { place, findings }: Visit): boolean {
    if (prefixItems !== undefined || !(isRecord(items) || items === false)) return true;
    let isAccepted = true;
    for (const [index, item] of value.entries()) {
      if (!this.accepts(items, item, { place: place.child(index), findings })) isAccepted = false;
    }
    return isAccepted;
  }

  /** `anyOf`, and `oneOf` without asking whether two of them fit: the findings of all alternatives become one. */
  #fitsOne(schemas: unknown, value: unknown, { place, findings }: Visit): boolean {
    const alternatives = listOf(schemas);
    if (alternatives.length === 0) return true;
    const inside: Finding[] = [];
    if (alternatives.some((schema) => this.accepts(schema, value, { place, findings: inside }))) return true;
    const union = { kind: "union", alternatives: alternatives.length, place } as const;
    for (const finding of summarizeUnion(union, inside)) this.#keep(finding, findings);
    return false;
  }

  /** The part of the schema that a reference names; what cannot be found accepts everything. */
  #find(reference: string): unknown {
    if (!reference.startsWith("#") || reference.length > MAX_REFERENCE_LENGTH) return true;
    let found: unknown = this.#root;
    for (const part of decode(reference.slice(1)).split("/").slice(1)) {
      this.#spend(1);
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      if (!isStructured(found) || !Object.hasOwn(found, key)) return true;
      found = Reflect.get(found, key);
    }
    return reference === "#" || reference.startsWith("#/") ? found : true;
  }

  #refuse(reason: Reason, { place, findings }: Visit): false {
    this.#keep({ ...reason, place }, findings);
    return false;
  }

  #keep(finding: Finding, findings: Finding[]): void {
    if (findings.length < MAX_FINDINGS) findings.push(finding);
    else this.uncounted++;
  }

  #spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) {
      throw new TooMuchWorkError({ reason: "checking these arguments against it takes too much work" });
    }
  }
}

function isStructured(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function namesOf(value: unknown): readonly string[] {
  return listOf(value).filter((name) => typeof name === "string");
}

function costOf(value: unknown): number {
  if (typeof value === "string") return value.length / CHARACTERS_PER_STEP;
  if (Array.isArray(value)) return value.length / ENTRIES_PER_STEP;
  return isRecord(value) ? Object.keys(value).length / ENTRIES_PER_STEP : 0;
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
