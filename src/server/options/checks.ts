/** Names and checks that follow from the table of options. */
import { MAX_TIMEOUT_SECONDS } from "../../protocol/call.ts";
import type { ConstantName } from "./constants.ts";
import { CREDENTIAL_ROWS, JWT_ROWS } from "./credential_rows.ts";
import type { OptionKind, OptionRow } from "./row.ts";
import { type OptionName, OPTIONS } from "./table.ts";

type NumberKind = "count" | "bytes" | "ms";
/** An option of the library that is a number, but no port. */
export type NumberOption = {
  [Name in OptionName]: typeof OPTIONS[Name] extends { readonly of: "program" } ? never
    : typeof OPTIONS[Name] extends { readonly kind: NumberKind } ? Name
    : never;
}[OptionName];
/** One that has the same default on every Server. */
export type DefaultedOption = {
  [Name in NumberOption]: typeof OPTIONS[Name] extends { readonly default: number } ? Name : never;
}[NumberOption];

export const OPTION_NAMES = Object.keys(OPTIONS).filter(isOptionName);

export function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

export function rowOf(name: OptionName): OptionRow & { readonly kind: OptionKind } {
  return { kind: "text", ...OPTIONS[name] };
}

/** Such as `--max-payload`. */
export function flagOf(name: OptionName): string {
  const words = name.replace(/(?:Bytes|Ms)$/, "").replaceAll(
    /[A-Z]/g,
    (letter) => `-${letter.toLowerCase()}`,
  );
  return rowOf(name).flag ?? `--${words}`;
}

/** The name in the library, such as `trustedProxies` for `--trust-proxy`; nothing where that has no such option. */
export function libraryNameOf(name: OptionName): string | undefined {
  const { of, library } = rowOf(name);
  const isCredential = name in CREDENTIAL_ROWS || name in JWT_ROWS;
  return of === "program" ? library ?? (isCredential ? "auth" : undefined) : name;
}

/** The flag in camel case, such as `trustProxy`. */
export function camelFlagOf(name: OptionName): string {
  return flagOf(name).slice(2).replaceAll(/-[a-z]/g, ([, letter = ""]) => letter.toUpperCase());
}

/** Such as `A2C_MAX_PAYLOAD`. */
export function variableOf(name: OptionName): string {
  return rowOf(name).variable ?? `A2C_${flagOf(name).slice(2).toUpperCase().replaceAll("-", "_")}`;
}

/** The kind of the number that a constant is, by its name. */
export function kindOf(name: string): OptionKind {
  return name.endsWith("Ms") ? "ms" : name.includes("Bytes") ? "bytes" : "count";
}

const KIB = 1024;
const MIB = 1024 * KIB;

/** Writes a number as it can be given in a flag, such as `16MiB`, `4s` or `1024`. */
export function numberText(kind: OptionKind, value: number): string {
  if (kind === "bytes" && value % MIB === 0) return `${value / MIB}MiB`;
  if (kind === "bytes" && value % KIB === 0) return `${value / KIB}KiB`;
  return kind === "ms" ? `${value / 1_000}s` : String(value);
}

/** The name of a bound in refusals: of an option, or of one that nobody can set. */
export type BoundName =
  | NumberOption
  | ConstantName
  | `max${"Connections" | "Connects" | "Requests"}Per${"Principal" | "Address"}`;

/** Names a bound as operators know it and as programs do, such as `--max-payload (maxPayloadBytes)`. */
export function optionLabel(name: BoundName): string {
  // A share of another one, which an operator can raise.
  if (name === "maxConnectionsPerAddress") return optionLabel("maxSockets");
  return isOptionName(name) ? `${flagOf(name)} (${name})` : `${name} (fixed)`;
}

/** The longest time: a day, like the longest time-out of a request. A timer for more than 24 days would fire at once. */
const MAX_TIME_MS = MAX_TIMEOUT_SECONDS * 1_000;

const MAX_PORT = 65_535;

/** The least and the most of an option that is a number. */
export function rangeOf(name: OptionName): { readonly least: number; readonly most: number } {
  const { kind, least = kind === "port" ? 0 : 1 } = rowOf(name);
  const most = kind === "ms" ? MAX_TIME_MS : kind === "port" ? MAX_PORT : Number.MAX_SAFE_INTEGER;
  return { least, most };
}

/** @throws {RangeError} for a number that cannot be used. */
export function requireNumber(name: NumberOption, value: number): number {
  const { least, most } = rangeOf(name);
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const expected = most === MAX_TIME_MS
    ? `${least} to ${MAX_TIME_MS} ms`
    : least === 1
    ? "a positive integer"
    : `${least} or more, so that members can join`;
  throw new RangeError(`Cannot use ${name} "${value}": expected ${expected}`);
}

/** Returns an option, or else its default, after checking it. */
export function numberOf(
  options: { readonly [Name in DefaultedOption]?: number | undefined },
  name: DefaultedOption,
): number {
  return requireNumber(name, options[name] ?? OPTIONS[name].default);
}
