/** What is wrong with a call's arguments, as text for the model that made it. Never a value that it gave. */
import { shorten } from "../protocol/shorten.ts";
import { closestWord } from "./spelling.ts";

/** One finding of the schema engine, as far as it is read here. */
export interface SchemaFinding {
  /** A JSON Pointer into the arguments. */
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string | undefined;
  /** The keyword's value. */
  readonly schema?: unknown;
  /** The schema in which the keyword stands. */
  readonly parentSchema?: Readonly<Record<string, unknown>> | undefined;
  /** The name that a finding about a name is about. */
  readonly propertyName?: string | undefined;
}

/** The most problems that are named. */
const MAX_PROBLEMS = 10;
/** The most allowed values that are named. */
const MAX_VALUES = 20;
/** The longest name or value that is shown whole. */
const MAX_TEXT = 80;

/** One text a problem, each naming its argument; the most important first, and not more than can be read. */
export function describeProblems(
  findings: readonly SchemaFinding[],
  args: Readonly<Record<string, unknown>>,
): string[] {
  const told = onePerArgument(joinAlternatives(findings));
  const texts = [...new Set(told.map((finding) => describe(finding, args)))];
  if (texts.length <= MAX_PROBLEMS) return texts;
  return [...texts.slice(0, MAX_PROBLEMS), `and ${texts.length - MAX_PROBLEMS} more`];
}

/** Findings of an `anyOf` or `oneOf` come right before it, one or more an alternative: they become one. */
function joinAlternatives(findings: readonly SchemaFinding[]): SchemaFinding[] {
  const joined: SchemaFinding[] = [];
  for (const finding of findings) {
    const { keyword, instancePath, propertyName } = finding;
    // The finding that follows tells of the name, or of what stands in "then" and "else".
    if (propertyName !== undefined || keyword === "if") continue;
    if (keyword !== "anyOf" && keyword !== "oneOf") {
      joined.push(finding);
      continue;
    }
    const isInside = ({ instancePath: path }: SchemaFinding) => `${path}/`.startsWith(`${instancePath}/`);
    const inside = joined.splice(joined.findLastIndex((earlier) => !isInside(earlier)) + 1);
    joined.push(...toAlternative(finding, inside));
  }
  return joined;
}

function toAlternative(union: SchemaFinding, inside: readonly SchemaFinding[]): readonly SchemaFinding[] {
  const { instancePath, schema } = union;
  const here = inside.filter((finding) => finding.instancePath === instancePath);
  const types = here.filter(({ keyword }) => keyword === "type");
  const rest = inside.filter((finding) => !types.includes(finding));
  if (inside.length === 0) return [union];
  if (rest.length === 0) {
    return [{
      ...union,
      keyword: "type",
      params: { type: unique(types.flatMap(({ params }) => params["type"])) },
    }];
  }
  if (
    rest.every((finding) => finding.instancePath === instancePath && allowedValues(finding) !== undefined)
  ) {
    return [{ ...union, keyword: "enum", params: { allowedValues: unique(rest.flatMap(allowedValues)) } }];
  }
  if (rest.every((finding) => finding.instancePath === instancePath && finding.keyword === "required")) {
    return [{ ...union, keyword: "required", params: { missingProperty: rest.map(missingName) } }];
  }
  // All alternatives but one are of another type: what is wrong is what that one says.
  const alternatives = Array.isArray(schema) ? schema.length : 0;
  return types.length === alternatives - 1 ? rest : [union];
}

/** A wrong type says it all; but the values that are allowed say more. */
function onePerArgument(findings: readonly SchemaFinding[]): readonly SchemaFinding[] {
  const rank = (finding: SchemaFinding) =>
    allowedValues(finding) !== undefined ? 2 : finding.keyword === "type" ? 1 : 0;
  const best = new Map<string, number>();
  for (const finding of findings) {
    best.set(finding.instancePath, Math.max(best.get(finding.instancePath) ?? 0, rank(finding)));
  }
  return findings.filter((finding) => rank(finding) === best.get(finding.instancePath));
}

function describe(finding: SchemaFinding, args: Readonly<Record<string, unknown>>): string {
  const { instancePath, keyword, params, message = "is not valid" } = finding;
  const path = toPath(instancePath, args);
  const at = (name: unknown) => `argument ${quote(path + toSegment(String(name), path))}`;
  const whole = path === "" ? "the whole of the arguments" : `argument ${quote(path)}`;
  const values = allowedValues(finding);
  if (values !== undefined) {
    return `${whole} must be ${values.length === 1 ? "" : "one of "}${listValues(values)}`;
  }
  switch (keyword) {
    case "required":
      return `${[params["missingProperty"]].flat().map(at).join(" or ")} is missing`;
    case "dependentRequired":
    case "dependencies":
      return `${at(params["missingProperty"])} is missing: it goes with "${params["property"]}"`;
    case "additionalProperties":
      return at(params["additionalProperty"]) + unknownHint(finding, params["additionalProperty"]);
    case "unevaluatedProperties":
      return at(params["unevaluatedProperty"]) + unknownHint(finding, params["unevaluatedProperty"]);
    case "propertyNames":
      return `${at(params["propertyName"])} has a name that is not allowed`;
    case "type":
      return `${whole} must be ${[params["type"]].flat().join(" or ")}`;
    case "anyOf":
    case "oneOf":
      return `${whole} has none of the forms that are allowed`;
    case "not":
      return `${whole} has a form that is not allowed`;
    case "false schema":
      return `${whole} is not allowed`;
    default:
      return `${whole} ${message.replace("NOT", "not")}`;
  }
}

function missingName({ params }: SchemaFinding): unknown {
  return params["missingProperty"];
}

function unknownHint({ parentSchema }: SchemaFinding, name: unknown): string {
  const known = parentSchema?.["properties"];
  const names = typeof known === "object" && known !== null ? Object.keys(known) : [];
  const closest = closestWord(String(name), names);
  return ` is unknown${closest === undefined ? "" : `, did you mean ${quote(closest)}?`}`;
}

function allowedValues({ keyword, params }: SchemaFinding): readonly unknown[] | undefined {
  if (keyword === "const") return [params["allowedValue"]];
  const values = params["allowedValues"];
  return keyword === "enum" && Array.isArray(values) ? values : undefined;
}

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((value) =>
    shorten(JSON.stringify(value) ?? "null", MAX_TEXT)
  );
  return shown.join(", ") + (values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : "");
}

/** A JSON Pointer as a program would write it: `items[2].name`. */
function toPath(pointer: string, args: Readonly<Record<string, unknown>>): string {
  let path = "";
  let value: unknown = args;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path += Array.isArray(value) ? `[${key}]` : toSegment(key, path);
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  }
  return path;
}

function toSegment(name: string, before: string): string {
  if (before === "") return name;
  return /^[\w$-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

function quote(name: string): string {
  // A name may hold anything; a text for a model stays on its line.
  // deno-lint-ignore no-control-regex
  return `"${shorten(name.replaceAll(/[\u0000-\u001f\u007f]/g, " "), MAX_TEXT)}"`;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
