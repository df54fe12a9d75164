/** Reads the members of a peer's object. A member of a wrong type counts as missing. */
import type { TableCell } from "../protocol/dpe_content.ts";
import { toPlainText } from "./plain_text.ts";

export type Members = Readonly<Record<string, unknown>>;

export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** A list with its items as strings, or `undefined`. */
export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(toPlainText) : undefined;
}

/** A string, number or boolean unchanged, a missing value as an empty cell, and other values as JSON. */
export function cellOf(value: unknown): TableCell {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return value;
  return value === undefined ? null : toPlainText(value);
}

/** All members of an object, with those in `read` replaced; members that are `undefined` there are removed. */
export function withMembers<Read extends object>(content: Members, read: Read): Members & Read {
  const members: Record<string, unknown> = { ...content, ...read };
  for (const [name, value] of Object.entries(read)) {
    if (value === undefined) delete members[name];
  }
  // The members that are spread last have the types of `read`.
  return members as Members & Read;
}
