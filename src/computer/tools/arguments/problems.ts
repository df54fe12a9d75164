/** What is wrong with a call's arguments, as text for the model that made it. Never a value that it gave. */
import { shorten } from "../../../text.ts";
import type { Findings, Place, SchemaFinding } from "./run.ts";
import { closestWord } from "../../../spelling.ts";

/** The most problems that are named. */
const MAX_PROBLEMS = 10;
/** The most findings that are put into words; several may read the same. */
const MAX_WORDED = 12;
/** The most allowed values that are named. */
const MAX_VALUES = 20;
/** The longest name or value that is shown whole. */
const MAX_TEXT = 80;

/** One text a problem, each naming its argument; the most important first, and not more than can be read. */
export function describeProblems(findings: Findings): string[] {
  const told = onePerArgument(findings.kept);
  const texts = new Set<string>();
  let index = 0;
  for (; index < Math.min(told.length, MAX_WORDED) && texts.size < MAX_PROBLEMS; index++) {
    const finding = told[index];
    if (finding !== undefined) texts.add(describe(finding));
  }
  const rest = told.length - index + findings.count - findings.kept.length;
  return rest === 0 ? [...texts] : [...texts, `and ${rest} more`];
}

/** What a union says when the value is none of its alternatives; `inside` is what is wrong with each of them. */
export function toAlternative(
  union: SchemaFinding,
  inside: readonly SchemaFinding[],
): readonly SchemaFinding[] {
  const isHere = ({ place }: SchemaFinding) => place === union.place;
  const isType = (finding: SchemaFinding) => isHere(finding) && finding.keyword === "type";
  const types = inside.filter(isType);
  const rest = inside.filter((finding) => !isType(finding));
  if (inside.length === 0) return [union];
  if (rest.length === 0) {
    return [{
      ...union,
      keyword: "type",
      params: { type: unique(types.flatMap(({ params }) => params["type"])) },
    }];
  }
  if (rest.every((finding) => isHere(finding) && allowedValues(finding) !== undefined)) {
    return [{ ...union, keyword: "enum", params: { allowedValues: unique(rest.flatMap(allowedValues)) } }];
  }
  if (rest.every((finding) => isHere(finding) && finding.keyword === "required")) {
    return [{ ...union, keyword: "required", params: { missingProperty: rest.map(missingName) } }];
  }
  // All alternatives but one are of another type: what is wrong is what that one says.
  return types.length === Number(union.params["alternatives"]) - 1 ? rest : [union];
}

/** A wrong type says it all; but the values that are allowed say more. */
function onePerArgument(findings: readonly SchemaFinding[]): readonly SchemaFinding[] {
  const rank = (finding: SchemaFinding) =>
    allowedValues(finding) !== undefined ? 2 : finding.keyword === "type" ? 1 : 0;
  const best = new Map<Place, number>();
  for (const finding of findings) {
    best.set(finding.place, Math.max(best.get(finding.place) ?? 0, rank(finding)));
  }
  return findings.filter((finding) => rank(finding) === best.get(finding.place));
}

function describe(finding: SchemaFinding): string {
  const { place, keyword, params, message = "is not valid" } = finding;
  const path = toPath(place);
  const at = (name: unknown) => `argument ${quote(path + toSegment(String(name), path))}`;
  const whole = path === "" ? "the arguments object" : `argument ${quote(path)}`;
  const values = allowedValues(finding);
  if (values !== undefined) {
    return `${whole} must be ${values.length === 1 ? "" : "one of "}${listValues(values)}`;
  }
  switch (keyword) {
    case "required":
      return `${[params["missingProperty"]].flat().map(at).join(" or ")} is missing`;
    case "dependentRequired":
      return `${at(params["missingProperty"])} is missing: it is required with "${params["property"]}"`;
    case "additionalProperties":
    case "unevaluatedProperties":
      return at(params["unknownProperty"]) + unknownHint(params);
    case "propertyNames":
      return `${at(params["propertyName"])} has a name that is not allowed`;
    case "type":
      return `${whole} must be ${[params["type"]].flat().join(" or ")}`;
    case "anyOf":
    case "oneOf":
      return Number(params["fitting"]) > 1
        ? `${whole} matches more than one of the allowed forms, and must match exactly one`
        : `${whole} matches none of the allowed forms`;
    case "not":
      return `${whole} has a form that is not allowed`;
    case "false schema":
      return `${whole} is not allowed`;
    default:
      return `${whole} ${message}`;
  }
}

function missingName({ params }: SchemaFinding): unknown {
  return params["missingProperty"];
}

function unknownHint({ unknownProperty, known }: SchemaFinding["params"]): string {
  const names = known instanceof Map ? known.keys().map(String) : [];
  const closest = closestWord(String(unknownProperty), names);
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

/** A place as a program would write it: `items[2].name`; empty for the arguments as a whole. */
function toPath({ parent, key }: Place): string {
  if (parent === undefined || key === undefined) return "";
  const before = toPath(parent);
  return before + (typeof key === "number" ? `[${key}]` : toSegment(key, before));
}

function toSegment(name: string, before: string): string {
  if (before === "") return name.slice(0, 2 * MAX_TEXT);
  return /^[\w$-]{1,80}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 2 * MAX_TEXT))}]`;
}

function quote(name: string): string {
  // A name may hold anything; a text for a model stays on its line.
  // deno-lint-ignore no-control-regex
  return `"${shorten(name.replaceAll(/[\u0000-\u001f\u007f]/g, " "), MAX_TEXT)}"`;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
