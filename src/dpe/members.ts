/** Reading the members of a stranger's object; one of a wrong type counts as missing. */
import type { TableCell } from "../protocol/dpe_content.ts";
import { toPlainText } from "./plain_text.ts";

/** What a stranger sent. */
export type Members = Readonly<Record<string, unknown>>;

/** A text, or `undefined`. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** A number that can be counted with, or `undefined`. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** `true`, `false`, or `undefined`. */
export function booleanOf(value: unknown): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

/** A list whose items are made texts, or `undefined`. */
export function textsOf(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.map(toPlainText) : undefined;
}

/** A simple value as it is, nothing as an empty cell, and the rest as JSON. */
export function cellOf(value: unknown): TableCell {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return value;
  return value === undefined ? null : toPlainText(value);
}

/** All members, with these as they were read; one that was read as `undefined` is left out. */
export function withMembers<Read extends object>(content: Members, read: Read): Members & Read {
  const members: Record<string, unknown> = { ...content, ...read };
  for (const [name, value] of Object.entries(read)) {
    if (value === undefined) delete members[name];
  }
  // What was spread last has the types of `read`
  return members as Members & Read;
}
