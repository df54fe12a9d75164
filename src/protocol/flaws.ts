/** Reads answers of other peers: an invalid part is left out or repaired, and reported; the rest is kept. */
import { isRecord } from "../json/json.ts";
import { firstIssue, type Schema } from "./schemas/schema.ts";
import { unreadable } from "./errors.ts";

/** Receives each flaw of an answer: the field, and what was done about it. */
export type OnFlaw = (field: string, what: string) => void;

/**
 * Reads an answer. Throws a 400 {@linkcode SmcpError} whose `details.field` names a required part that is invalid. Any
 * other invalid part is left out or repaired, and passed to `onFlaw`.
 */
export type AnswerReader<T> = (answer: unknown, onFlaw?: OnFlaw) => T;

/** Reads one entry of a list; `undefined` leaves the entry out. Calls `tell` when it repairs or leaves out a part. */
export type ReadEntry<T, E = unknown> = (entry: E, tell: (what: string) => void) => T | undefined;

/** The most invalid entries of one list that are reported one by one. */
export const MAX_BAD_ENTRIES = 1_000;
/** The most entries of one list that are repaired: the limit of a Computer for the tools of one MCP server. */
export const MAX_REPAIRED_ENTRIES = 5_000;

export const ignoreFlaws: OnFlaw = () => {};

/** Returns an answer that is an object; throws a 400 for any other value. */
export function toBody(what: string, answer: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(answer)) return answer;
  throw unreadable(what, what, "expected an object");
}

export function reqIdOf(body: Readonly<Record<string, unknown>>): string {
  return typeof body["req_id"] === "string" ? body["req_id"] : "";
}

/**
 * Reads the valid entries of a list. After {@linkcode MAX_BAD_ENTRIES} entries that were left out, or
 * {@linkcode MAX_REPAIRED_ENTRIES} that were repaired, the rest of the list is left out: to find the problem of an entry
 * takes much longer than to send the entry.
 */
export function readList<T, E = unknown>(
  list: readonly E[],
  options: {
    readonly field: string;
    readonly read: ReadEntry<T, E>;
    readonly onFlaw: OnFlaw;
    /** The name of an entry in reports; its index by default. */
    readonly keyOf?: (entry: E) => string;
  },
): T[] {
  const { field, read, onFlaw, keyOf } = options;
  const entries: T[] = [];
  let bad = 0;
  let repaired = 0;
  for (const [index, entry] of list.entries()) {
    if (bad === MAX_BAD_ENTRIES || repaired === MAX_REPAIRED_ENTRIES) {
      onFlaw(
        field,
        `the last ${list.length - index} entries are left out, too many entries before them are invalid`,
      );
      break;
    }
    let isTold = false;
    const value = read(entry, (what) => {
      isTold = true;
      onFlaw(`${field}.${keyOf?.(entry) ?? index}`, what);
    });
    if (value === undefined) bad++;
    else entries.push(value);
    if (value !== undefined && isTold) repaired++;
  }
  return entries;
}

/** Reads an object by a schema; if that fails, reads the result of `repair`. */
export function readWith<T>(
  schema: Schema<T>,
  repair?: (entry: Readonly<Record<string, unknown>>) => unknown,
): ReadEntry<T> {
  return (entry, tell) => {
    if (!isRecord(entry)) return void tell("left out, expected an object");
    const parsed = schema.safeParse(entry);
    if (parsed.success) return parsed.data;
    const { field, why } = firstIssue(parsed.error);
    const where = field === undefined ? why : `${field}: ${why}`;
    const repaired = repair !== undefined ? schema.safeParse(repair(entry)) : undefined;
    if (repaired?.success !== true) return void tell(`left out, ${where}`);
    tell(`repaired, ${where}`);
    return repaired.data;
  };
}

/** Removes members that are null: peers in Python write null for absent members. */
export function withoutNulls(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const key in value) {
    if (value[key] !== null) continue;
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  }
  return value;
}

/**
 * Reads the list of an answer. `null` is an empty list. A missing list is an error: the reference Server removes every
 * member but the request's id from an error that it does not know.
 */
export function listOf<T>(
  body: Readonly<Record<string, unknown>>,
  options: {
    readonly what: string;
    readonly field: string;
    readonly read: ReadEntry<T>;
    readonly onFlaw: OnFlaw;
  },
): T[] {
  const { what, field, onFlaw } = options;
  const list = body[field];
  if (Array.isArray(list)) return readList(list, options);
  if (list !== null) throw unreadable(what, field, "expected a list");
  onFlaw(field, "null, read as an empty list");
  return [];
}

/** Reads the cursor of a page; anything but a text means the last page. */
export function readNextCursor(cursor: unknown, onFlaw: OnFlaw): { next_cursor?: string } {
  if (typeof cursor === "string") return { next_cursor: cursor };
  if (cursor !== undefined && cursor !== null) onFlaw("next_cursor", "left out, expected a string");
  return {};
}
