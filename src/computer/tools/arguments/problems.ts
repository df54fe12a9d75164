/** Describes what is wrong with the arguments of a call, for the model that made it. Values of the call never appear. */
import { closestWord } from "../../../spelling.ts";
import { shorten } from "../../../text.ts";

export type Reason =
  | { readonly kind: "type"; readonly types: readonly string[] }
  | { readonly kind: "values"; readonly allowed: readonly unknown[] }
  /** One of `names` is missing. */
  | { readonly kind: "missing"; readonly names: readonly string[] }
  /** `properties`: their names may have been meant. */
  | { readonly kind: "unknown"; readonly name: string; readonly properties: object }
  | { readonly kind: "union"; readonly alternatives: number }
  | { readonly kind: "forbidden" };

/** A reason at a place in the arguments. */
export type Finding = Reason & { readonly place: Place };

/** A place in the arguments; the same place is always the same object. */
export class Place {
  /** The name or index in `parent`; undefined for the arguments as a whole. */
  readonly key: string | number | undefined;
  readonly parent: Place | undefined;
  #children: Map<string | number, Place> | undefined;

  constructor(at?: { readonly parent: Place; readonly key: string | number }) {
    this.key = at?.key;
    this.parent = at?.parent;
  }

  child(key: string | number): Place {
    const children = this.#children ??= new Map();
    let child = children.get(key);
    if (child === undefined) children.set(key, child = new Place({ parent: this, key }));
    return child;
  }
}

const MAX_PROBLEMS = 10;
/** The most findings that are described; several of them may give the same text. */
const MAX_DESCRIBED = 12;
const MAX_VALUES = 20;
/** The most known names that an unknown one is compared with. */
const MAX_KNOWN = 2_000;
/** The longest name or value that is shown whole, in characters. */
const MAX_TEXT = 80;

/**
 * One text for each problem, which names the argument.
 *
 * @param uncounted How many further findings there are.
 */
export function describeProblems(findings: readonly Finding[], uncounted: number): string[] {
  const chosen = mostTelling(findings);
  const texts = new Set<string>();
  let described = 0;
  for (const finding of chosen.slice(0, MAX_DESCRIBED)) {
    if (texts.size >= MAX_PROBLEMS) break;
    texts.add(describe(finding));
    described++;
  }
  const rest = chosen.length - described + uncounted;
  return rest === 0 ? [...texts] : [...texts, `and ${rest} more`];
}

/** Describes a union whose alternatives all reject the value; `inside` are the findings of all alternatives. */
export function summarizeUnion(
  union: Finding & { readonly kind: "union" },
  inside: readonly Finding[],
): readonly Finding[] {
  const { place, alternatives } = union;
  if (inside.length === 0) return [union];
  const types = inside.flatMap((each) => each.place === place && each.kind === "type" ? [each] : []);
  const rest = inside.filter((each) => each.place !== place || each.kind !== "type");
  if (rest.length === 0) return [{ place, kind: "type", types: unique(types.flatMap((each) => each.types)) }];
  const values = rest.flatMap((each) => each.place === place && each.kind === "values" ? [each] : []);
  if (values.length === rest.length) {
    return [{ place, kind: "values", allowed: unique(values.flatMap(({ allowed }) => allowed)) }];
  }
  const missing = rest.flatMap((each) => each.place === place && each.kind === "missing" ? [each] : []);
  if (missing.length === rest.length) {
    return [{ place, kind: "missing", names: missing.flatMap(({ names }) => names) }];
  }
  // Only one alternative is of the value's type: its findings are the reason.
  return types.length === alternatives - 1 ? rest : [union];
}

/** For each place the findings that say most: allowed values say more than a type, which says more than the others. */
function mostTelling(findings: readonly Finding[]): readonly Finding[] {
  const rank = ({ kind }: Finding) => kind === "values" ? 2 : kind === "type" ? 1 : 0;
  const best = new Map<Place, number>();
  for (const finding of findings) {
    best.set(finding.place, Math.max(best.get(finding.place) ?? 0, rank(finding)));
  }
  return findings.filter((finding) => rank(finding) === best.get(finding.place));
}

function describe(finding: Finding): string {
  const path = toPath(finding.place);
  const member = (name: string) => `argument ${quote(path + toSegment(name, path))}`;
  const whole = path === "" ? "the arguments object" : `argument ${quote(path)}`;
  switch (finding.kind) {
    case "values":
      return `${whole} must be ${finding.allowed.length === 1 ? "" : "one of "}${
        listValues(finding.allowed)
      }`;
    case "type":
      return `${whole} must be ${finding.types.join(" or ")}`;
    case "missing":
      return `${finding.names.map(member).join(" or ")} is missing`;
    case "unknown": {
      const closest = closestWord(finding.name, Object.keys(finding.properties).slice(0, MAX_KNOWN));
      const hint = closest === undefined ? "" : `, did you mean ${quote(closest)}?`;
      return `${member(finding.name)} is unknown${hint}`;
    }
    case "union":
      return `${whole} matches none of the allowed forms`;
    case "forbidden":
      return `${whole} is not allowed`;
  }
}

function listValues(values: readonly unknown[]): string {
  const shown = values.slice(0, MAX_VALUES).map((value) =>
    shorten(JSON.stringify(value) ?? "null", MAX_TEXT)
  );
  return shown.join(", ") + (values.length > MAX_VALUES ? ` and ${values.length - MAX_VALUES} more` : "");
}

/** A place as a program would write it, such as `items[2].name`; empty for the arguments as a whole. */
function toPath({ parent, key }: Place): string {
  if (parent === undefined || key === undefined) return "";
  const before = toPath(parent);
  return before + (typeof key === "number" ? `[${key}]` : toSegment(key, before));
}

function toSegment(name: string, before: string): string {
  if (before === "") return name.slice(0, 2 * MAX_TEXT);
  return /^[\w$-]{1,80}$/.test(name) ? `.${name}` : `[${JSON.stringify(name.slice(0, 2 * MAX_TEXT))}]`;
}

/** A name without control characters, since a problem is one line. */
function quote(name: string): string {
  // deno-lint-ignore no-control-regex
  return `"${shorten(name.replaceAll(/[\u0000-\u001f\u007f]/g, " "), MAX_TEXT)}"`;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
