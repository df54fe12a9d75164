/**
 * Checks the arguments of a call against the tool's input schema for what callers get wrong, before the confirmation and
 * the MCP server: types, allowed values, missing and unknown names. The MCP server decides on the rest.
 *
 * An MCP server may be hostile, and a schema of a few kilobytes can mean hours of work. Therefore the schema is
 * interpreted within a budget, and only keywords are read without which a schema accepts more. So what is refused here,
 * the whole schema refuses, too (`docs/decisions/arguments.md`).
 */
import { isRecord } from "../../json/json.ts";
import { closestWord } from "../../text/spelling.ts";
import { shorten } from "../../text/text.ts";

/** The most schemas that one check looks at: at worst some tens of milliseconds. */
const MAX_STEPS = 30_000;
/** How many names or values cost as much as one schema. */
const ENTRIES_PER_STEP = 8;
/** The deepest nesting of schemas, references included. */
const MAX_NESTING = 400;
const MAX_DESCRIBED = 10;
/** The most values or missing arguments of one problem that are shown. */
const MAX_SHOWN = 20;
/** The most known names that an unknown one is compared with. */
const MAX_KNOWN = 2_000;
/**
 * The longest name or value that is shown, in characters. Only what the call itself contains is cut: errors are masked
 * later, and a part of a secret in the schema would not be found.
 */
const MAX_TEXT = 80;
/** The longest reference that is followed, in characters. */
const MAX_REFERENCE = 1_024;

type Members = Readonly<Record<string, unknown>>;

export interface ArgumentVerdict {
  /** One text for each problem, which names the argument; empty when none was found. Values of the call never appear. */
  readonly problems: readonly string[];
  /** Why nothing was checked, so that the MCP server decides alone. */
  readonly uncheckedBecause?: string;
}

/** What is wrong with one argument, such as `items[2].name`; its path is empty for the arguments as a whole. */
interface Problem {
  readonly path: string;
  readonly kind: "type" | "values" | "missing" | "other";
  /** The possible types or values, or the names of missing members. */
  readonly choices: readonly unknown[];
  /** The sentence about any other problem. */
  readonly describe?: () => string;
}

export function checkArguments(schema: Members, args: Members): ArgumentVerdict {
  const check = new Check(schema);
  try {
    const found: Problem[] = [];
    check.visit(schema, args, { path: "", depth: 0, found });
    const texts = new Set(found.slice(0, MAX_DESCRIBED).map(describe));
    const rest = Math.max(0, found.length - MAX_DESCRIBED);
    return { problems: rest === 0 ? [...texts] : [...texts, `and ${rest} more`] };
  } catch (error) {
    if (error instanceof TooMuchWork) return { problems: [], uncheckedBecause: error.message };
    throw error;
  }
}

/** The schema cannot be checked within the budget. The message is a clause whose "it" is the schema. */
class TooMuchWork extends Error {
  override readonly name = "TooMuchWork";
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

interface Visit {
  readonly path: string;
  readonly depth: number;
  readonly found: Problem[];
}

class Check {
  readonly #root: Members;
  /** Up to draft 7, a reference hides the keywords beside it. */
  readonly #isAlone: boolean;
  #steps = MAX_STEPS;

  constructor(root: Members) {
    this.#root = root;
    const { $schema } = root;
    this.#isAlone = typeof $schema === "string" && /draft-0[3-7]/.test($schema);
  }

  /** Adds what a schema refuses of a value. What is malformed in a schema, or cannot be found, refuses nothing. */
  visit(schema: unknown, value: unknown, { path, depth, found }: Visit): void {
    // References inside a part with an id of its own start at that part.
    if (isRecord(schema) ? "$id" in schema && schema !== this.#root : schema !== false) return;
    this.#spend(ENTRIES_PER_STEP + sizeOf(value));
    if (depth > MAX_NESTING) throw new TooMuchWork("its references never end");
    if (!isRecord(schema)) {
      return this.#add({
        path,
        kind: "other",
        choices: [],
        describe: () => `${argument(path)} is not allowed`,
      }, found);
    }
    const inside = { path, depth: depth + 1, found };
    const { $ref } = schema;
    if (typeof $ref === "string") {
      this.visit(this.#find($ref), value, inside);
      if (this.#isAlone) return;
    }
    // Further problems of a value of another type say nothing.
    if (!this.#isListed(schema, value, inside) || !this.#hasType(schema, value, inside)) return;
    if (isRecord(value)) this.#visitMembers(schema, value, inside);
    if (Array.isArray(value)) this.#visitItems(schema, value, inside);
    for (const part of listOf(schema["allOf"])) this.visit(part, value, inside);
    this.#visitUnion(listOf(schema["anyOf"]), value, inside);
    this.#visitUnion(listOf(schema["oneOf"]), value, inside);
  }

  /** `enum` and `const`; whether two lists or objects are the same is the MCP server's to say. */
  #isListed(schema: Members, value: unknown, { path, found }: Visit): boolean {
    const { enum: values, const: only } = schema;
    const allowed = Array.isArray(values) ? values : "const" in schema ? [only] : undefined;
    if (allowed === undefined || (typeof value === "object" && value !== null)) return true;
    this.#spend(allowed.length);
    if (allowed.includes(value)) return true;
    this.#add({ path, kind: "values", choices: allowed }, found);
    return false;
  }

  /** `type`, with OpenAPI's `nullable`. */
  #hasType({ type, nullable }: Members, value: unknown, { path, found }: Visit): boolean {
    const types: readonly unknown[] = Array.isArray(type) ? type : [type];
    if (types.length > TYPES.size || !types.every((name) => TYPES.has(name))) return true;
    if (nullable === true && value === null || types.some((name) => TYPES.get(name)?.(value))) return true;
    this.#add({ path, kind: "type", choices: types }, found);
    return false;
  }

  /** `required`, `properties` and `additionalProperties`. */
  #visitMembers(schema: Members, value: Members, { path, depth, found }: Visit): void {
    const { required, patternProperties, additionalProperties } = schema;
    const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
    this.#spend(listOf(required).length);
    for (const name of listOf(required)) {
      if (typeof name !== "string" || Object.hasOwn(value, name)) continue;
      this.#add({ path, kind: "missing", choices: [name] }, found);
    }
    // Which names match a pattern is not known.
    const others = patternProperties === undefined ? additionalProperties : true;
    const isKnown = (name: string) => Object.hasOwn(properties, name);
    for (const name of others === false ? Object.keys(value).filter((each) => !isKnown(each)) : []) {
      const at = inPath(path, name);
      this.#add(
        { path: at, kind: "other", choices: [], describe: () => unknownText(at, name, properties) },
        found,
      );
    }
    for (const [name, member] of Object.entries(value)) {
      const schema = isKnown(name) ? properties[name] : others === false || others;
      this.visit(schema, member, { path: inPath(path, name), depth, found });
    }
  }

  /** `items`, unless the first items have schemas of their own. */
  #visitItems(
    { items, prefixItems }: Members,
    value: readonly unknown[],
    { path, depth, found }: Visit,
  ): void {
    if (prefixItems !== undefined || !(isRecord(items) || items === false)) return;
    for (const [index, item] of value.entries()) {
      this.visit(items, item, { path: `${path}[${index}]`, depth, found });
    }
  }

  /** `anyOf`, and `oneOf` without asking whether two of them fit: the problems of all alternatives become one. */
  #visitUnion(alternatives: readonly unknown[], value: unknown, { path, depth, found }: Visit): void {
    const refusals: Problem[][] = [];
    for (const schema of alternatives) {
      const inside: Problem[] = [];
      this.visit(schema, value, { path, depth, found: inside });
      if (inside.length === 0) return;
      refusals.push(inside);
    }
    if (refusals.length > 0) {
      for (const problem of summarizeUnion(path, refusals)) {
        this.#add(problem, found);
      }
    }
  }

  /** The part of the schema that a reference names. */
  #find(reference: string): unknown {
    if ((reference !== "#" && !reference.startsWith("#/")) || reference.length > MAX_REFERENCE) return true;
    let part: unknown = this.#root;
    for (const name of decode(reference).split("/").slice(1)) {
      this.#spend(ENTRIES_PER_STEP);
      const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof part !== "object" || part === null || !Object.hasOwn(part, key)) return true;
      part = Reflect.get(part, key);
    }
    return part;
  }

  #add(problem: Problem, found: Problem[]): void {
    this.#spend(ENTRIES_PER_STEP);
    found.push(problem);
  }

  #spend(entries: number): void {
    this.#steps -= entries / ENTRIES_PER_STEP;
    if (this.#steps < 0) throw new TooMuchWork("checking these arguments against it takes too much work");
  }
}

/** What is told of a union whose alternatives all refuse the value. */
function summarizeUnion(path: string, refusals: readonly (readonly Problem[])[]): readonly Problem[] {
  const ofAnotherType = (refusal: readonly Problem[]) =>
    refusal.every((each) => each.path === path && each.kind === "type");
  const meant = refusals.filter((refusal) => !ofAnotherType(refusal));
  const [only = []] = meant;
  if (meant.length === 1) return only;
  const alike = (meant.length === 0 ? refusals : meant).flat();
  const [{ kind } = { kind: "other" as const }] = alike;
  if (kind !== "other" && alike.every((each) => each.path === path && each.kind === kind)) {
    const choices = alike.flatMap((each) => each.choices);
    return [{ path, kind, choices: [...new Set(choices)] }];
  }
  return [{
    path,
    kind: "other",
    choices: [],
    describe: () => `${argument(path)} matches none of the allowed forms`,
  }];
}

function describe({ path, kind, choices, describe }: Problem): string {
  switch (kind) {
    case "values":
      return `${argument(path)} must be ${valuesText(choices)}`;
    case "type":
      return `${argument(path)} must be ${choices.join(" or ")}`;
    case "missing":
      return missingText(path, choices.map(String));
    case "other":
      return describe?.() ?? `${argument(path)} is wrong`;
  }
}

function unknownText(path: string, name: string, properties: object): string {
  const closest = closestWord(name, Object.keys(properties).slice(0, MAX_KNOWN));
  return `${argument(path)} is unknown${closest === undefined ? "" : `, did you mean ${quote(closest)}?`}`;
}

function valuesText(values: readonly unknown[]): string {
  const texts = values.slice(0, MAX_SHOWN).map((value) => JSON.stringify(value) ?? "null");
  const shown = texts.filter((text) => text.length <= MAX_TEXT);
  const others = values.length - shown.length;
  if (shown.length === 0 && others > 0) {
    return `${others === 1 ? "a value" : `one of ${others} values`} too long to show`;
  }
  return (values.length === 1 ? "" : "one of ") + shown.join(", ") +
    (others > 0 ? ` and ${others} more` : "");
}

function missingText(path: string, names: readonly string[]): string {
  const short = names.slice(0, MAX_SHOWN).filter((name) => name.length <= MAX_TEXT);
  const shown = short.map((name) => {
    const whole = inPath(path, name);
    return whole.length <= MAX_TEXT ? argument(whole) : `argument ${quote(name)} of ${argument(path)}`;
  });
  const others = names.length - shown.length;
  if (others > 0) shown.push(shown.length > 0 ? `one of ${others} more` : "one with a name too long to show");
  return `${shown.join(" or ")} is missing`;
}

function argument(path: string): string {
  return path === "" ? "the arguments object" : `argument ${quote(path)}`;
}

/** The path of a member as a program would write it. */
function inPath(path: string, name: string): string {
  if (path === "") return name.slice(0, 2 * MAX_TEXT);
  return path +
    (/^[\w$-]{1,80}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 2 * MAX_TEXT))}]`);
}

/** A name without control characters, since a problem is one line. */
function quote(name: string): string {
  // deno-lint-ignore no-control-regex
  return `"${shorten(name.replaceAll(/[\u0000-\u001f\u007f]/g, " "), MAX_TEXT)}"`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function sizeOf(value: unknown): number {
  return Array.isArray(value) ? value.length : isRecord(value) ? Object.keys(value).length : 0;
}

function decode(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}
