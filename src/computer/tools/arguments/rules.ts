/** Keywords that ask something of a value itself: its type, its size, its members' names. Linear in what they look at. */
import { isRecord } from "../../../json.ts";
import { type Rule, type Run, type SchemaFinding, type Scope, UncheckableSchemaError } from "./run.ts";

/** How many characters are counted at the cost of one evaluation. */
const CHARACTERS_PER_STEP = 256;
/** How deep two values are compared. */
const MAX_COMPARED_DEPTH = 64;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: isRecord,
};

/** `type`, with OpenAPI's `nullable`. */
export function typeRule(value: unknown, nullable: unknown): Rule {
  const names = nullable === true ? [value, "null"].flat() : [value].flat();
  const tests = names.map((name) => {
    const test = typeof name === "string" && Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
    return test ?? malformed("type");
  });
  const isOfType = (given: unknown) => tests.some((test) => test(given));
  return assertion("type", isOfType, { params: { type: value } });
}

/** `enum` and `const`. */
export function valuesRule(keyword: "enum" | "const", values: readonly unknown[]): Rule {
  const scalars = new Set(values.filter((value) => !isStructured(value)));
  const structured = values.filter(isStructured);
  const params = keyword === "enum" ? { allowedValues: values } : { allowedValue: values[0] };
  return (value, scope, run) => {
    const isAllowed = isStructured(value)
      ? structured.some((allowed) => isEqual(allowed, value, { run, depth: 0 }))
      : scalars.has(value);
    return isAllowed || refuse(scope, { keyword, params });
  };
}

/** Keywords whose value is a bound: what they bound, and what they say. */
const BOUNDS: Readonly<
  Record<string, { readonly sizeOf: SizeOf; readonly isMost: boolean; readonly what: string }>
> = {
  minLength: { sizeOf: lengthOf, isMost: false, what: "characters" },
  maxLength: { sizeOf: lengthOf, isMost: true, what: "characters" },
  minItems: { sizeOf: itemsOf, isMost: false, what: "items" },
  maxItems: { sizeOf: itemsOf, isMost: true, what: "items" },
  minProperties: { sizeOf: namesOf, isMost: false, what: "properties" },
  maxProperties: { sizeOf: namesOf, isMost: true, what: "properties" },
};

/** A size, `undefined` for a value that has none of this kind. */
type SizeOf = (value: unknown, run: Run) => number | undefined;

/** `minLength`, `maxItems` and their like. */
export function sizeRule(keyword: string, bound: unknown): Rule {
  const { sizeOf, isMost, what } = BOUNDS[keyword] ?? malformed(keyword);
  if (typeof bound !== "number") malformed(keyword);
  const message = `must not have ${isMost ? "more" : "fewer"} than ${bound} ${what}`;
  return (value, scope, run) => {
    const size = sizeOf(value, run);
    if (size === undefined || (isMost ? size <= bound : size >= bound)) return true;
    return refuse(scope, { keyword, params: {}, message });
  };
}

const COMPARISONS: Readonly<Record<string, { readonly sign: string; readonly fits: Compare }>> = {
  minimum: { sign: ">=", fits: (value, bound) => value >= bound },
  maximum: { sign: "<=", fits: (value, bound) => value <= bound },
  exclusiveMinimum: { sign: ">", fits: (value, bound) => value > bound },
  exclusiveMaximum: { sign: "<", fits: (value, bound) => value < bound },
  multipleOf: { sign: "a multiple of", fits: isMultiple },
};

type Compare = (value: number, bound: number) => boolean;

/** `minimum`, `multipleOf` and their like. */
export function numberRule(keyword: string, bound: unknown): Rule {
  const { sign, fits } = COMPARISONS[keyword] ?? malformed(keyword);
  if (typeof bound !== "number" || (keyword === "multipleOf" && bound <= 0)) malformed(keyword);
  const isTaken = (value: unknown) => typeof value !== "number" || fits(value, bound);
  return assertion(keyword, isTaken, { message: `must be ${sign} ${bound}` });
}

/** `required`. */
export function requiredRule(names: unknown): Rule {
  const required = toNames("required", names);
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    run.spendEntries(required.length);
    let isTaken = true;
    for (const missingProperty of required) {
      if (Object.hasOwn(value, missingProperty)) continue;
      isTaken = refuse(scope, { keyword: "required", params: { missingProperty } });
    }
    return isTaken;
  };
}

/** `dependentRequired`, and what `dependencies` names. */
export function dependentRequiredRule(dependencies: ReadonlyMap<string, unknown>): Rule {
  const lists = new Map(
    dependencies.entries().map(([name, names]) => [name, toNames("dependentRequired", names)] as const),
  );
  return (value, scope, run) => {
    if (!isRecord(value)) return true;
    let isTaken = true;
    for (const property of Object.keys(value)) {
      const required = lists.get(property);
      if (required === undefined) continue;
      run.spendEntries(required.length);
      for (const missingProperty of required) {
        if (Object.hasOwn(value, missingProperty)) continue;
        isTaken = refuse(scope, { keyword: "dependentRequired", params: { property, missingProperty } });
      }
    }
    return isTaken;
  };
}

/** Tells what is wrong; always false. */
export function refuse(scope: Scope, finding: Omit<SchemaFinding, "place">): false {
  scope.findings.add({ place: scope.place, ...finding });
  return false;
}

/**
 * A keyword whose value is not what JSON Schema has there.
 *
 * @throws {UncheckableSchemaError} always.
 */
export function malformed(keyword: string): never {
  throw new UncheckableSchemaError({ reason: `its "${keyword}" is not valid` });
}

function assertion(
  keyword: string,
  isTaken: (value: unknown) => boolean,
  { params = {}, message }: Partial<Pick<SchemaFinding, "params" | "message">>,
): Rule {
  return (value, scope) => isTaken(value) || refuse(scope, { keyword, params, message });
}

function toNames(keyword: string, names: unknown): readonly string[] {
  if (!Array.isArray(names) || !names.every((name) => typeof name === "string")) malformed(keyword);
  return names;
}

/** As both are written in decimal: 0.3 is a multiple of 0.1, which a division of binary fractions denies. */
function isMultiple(value: number, divisor: number): boolean {
  if (Number.isInteger(value / divisor) || !Number.isFinite(value)) return true;
  const [one, other] = [toDecimal(value), toDecimal(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  const scaled = (decimal: Decimal) => decimal.digits * 10n ** BigInt(decimal.exponent - exponent);
  return scaled(one) % scaled(other) === 0n;
}

/** `digits` times ten to the power of `exponent`. */
interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function toDecimal(value: number): Decimal {
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** In Unicode code points, which have to be counted. */
function lengthOf(value: unknown, run: Run): number | undefined {
  if (typeof value !== "string") return undefined;
  run.spend(value.length / CHARACTERS_PER_STEP);
  let length = 0;
  for (let at = 0; at < value.length; length++) at += (value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return length;
}

function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

function namesOf(value: unknown): number | undefined {
  return isRecord(value) ? Object.keys(value).length : undefined;
}

function isStructured(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether two values are the same JSON; each look at a pair has its cost. */
function isEqual(one: unknown, other: unknown, at: { readonly run: Run; readonly depth: number }): boolean {
  const { run, depth } = at;
  run.spendEntries(1);
  if (!isStructured(one) || !isStructured(other)) return one === other;
  if (depth > MAX_COMPARED_DEPTH) {
    throw new UncheckableSchemaError({ reason: "checking these arguments against it takes too much work" });
  }
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const entries = Object.entries(one);
  const names = Object.keys(other);
  run.spendEntries(entries.length + names.length);
  if (entries.length !== names.length) return false;
  return entries.every(([name, value]) =>
    Object.hasOwn(other, name) && isEqual(value, Reflect.get(other, name), { run, depth: depth + 1 })
  );
}
