/** Types, sizes and equality of JSON values, at a bounded cost. */
import { isRecord } from "../../../json.ts";
import { type Budget, tooMuchWork } from "./evaluation.ts";

/** How many characters are counted at the cost of one evaluation. */
const CHARACTERS_PER_STEP = 256;
/** How deep two values are compared. */
const MAX_COMPARED_DEPTH = 64;

/** The types of JSON Schema: which values have each of them. */
export const TYPES: ReadonlyMap<unknown, (value: unknown) => boolean> = new Map([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", Number.isInteger],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", Array.isArray],
  ["object", isRecord],
]);

/** The length of a text in Unicode code points. */
export function lengthOf(value: unknown, budget: Budget): number | undefined {
  if (typeof value !== "string") return undefined;
  budget.spend(value.length / CHARACTERS_PER_STEP);
  let length = 0;
  for (let at = 0; at < value.length; length++) at += (value.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return length;
}

/** The number of items of a list. */
export function itemsOf(value: unknown): number | undefined {
  return Array.isArray(value) ? value.length : undefined;
}

/** The number of members of an object. */
export function membersOf(value: unknown): number | undefined {
  return isRecord(value) ? Object.keys(value).length : undefined;
}

/** Whether a value is a list or an object. */
export function isStructured(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether two values are the same JSON. */
export function isEqual(one: unknown, other: unknown, budget: Budget, depth = 0): boolean {
  budget.spendEntries(1);
  if (!isStructured(one) || !isStructured(other)) return one === other;
  if (depth > MAX_COMPARED_DEPTH) throw tooMuchWork();
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const entries = Object.entries(one);
  const names = Object.keys(other);
  budget.spendEntries(entries.length + names.length);
  if (entries.length !== names.length) return false;
  return entries.every(([name, value]) =>
    Object.hasOwn(other, name) && isEqual(value, Reflect.get(other, name), budget, depth + 1)
  );
}

/** Compares numbers as they are written in decimal: 0.3 is a multiple of 0.1, which binary fractions deny. */
export function isMultiple(value: number, divisor: number): boolean {
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
