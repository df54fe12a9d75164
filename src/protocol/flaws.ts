/** Reading answers of other peers: a bad part is left out or repaired and reported, and the rest is kept. */
import { isRecord } from "../json.ts";
import { firstIssue, type Schema, unreadable } from "./schema.ts";

/** Called for each flaw of an answer: the field, and what was done about it. */
export type OnFlaw = (field: string, what: string) => void;

/**
 * Reads an answer, or throws a 400 {@linkcode SmcpError} whose `details.field` names a part that is required. Any other
 * bad part is left out or repaired, and passed to `onFlaw`.
 */
export type AnswerReader<T> = (answer: unknown, onFlaw?: OnFlaw) => T;

/** Reads one entry of a list; `undefined` leaves it out. Calls `tell` for what it repairs and what it leaves out. */
export type ReadEntry<T, E = unknown> = (entry: E, tell: (what: string) => void) => T | undefined;

/** The most entries of one list that are left out one by one. */
export const MAX_BAD_ENTRIES = 1_000;
/** The most entries of one list that are repaired, as many as a Computer takes tools of one MCP server. */
export const MAX_REPAIRED_ENTRIES = 5_000;

/** Ignores all flaws. */
export const ignoreFlaws: OnFlaw = () => {};

/** The answer as an object; throws for anything else. */
export function toBody(what: string, answer: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(answer)) return answer;
  throw unreadable(what, what, "expected an object");
}

/**
 * The entries of a list that can be read. After {@linkcode MAX_BAD_ENTRIES} that were left out, or
 * {@linkcode MAX_REPAIRED_ENTRIES} that were repaired, the rest is left out as a whole: to find out what is wrong with
 * an entry takes far longer than to send it.
 */
export function readList<T, E = unknown>(
  list: readonly E[],
  options: {
    readonly field: string;
    readonly read: ReadEntry<T, E>;
    readonly onFlaw: OnFlaw;
    /** What an entry is called; its index by default. */
    readonly keyOf?: (entry: E) => string;
  },
): T[] {
  const { field, read, onFlaw, keyOf } = options;
  const entries: T[] = [];
  let bad = 0;
  let repaired = 0;
  for (const [index, entry] of list.entries()) {
    if (bad === MAX_BAD_ENTRIES || repaired === MAX_REPAIRED_ENTRIES) {
      onFlaw(field, `the last ${list.length - index} entries are left out, too many before them are wrong`);
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

/** Reads an object as the schema has it; where that fails, once more as `repair` leaves it. */
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

/** The object without members that are null, which is how peers in Python write what they leave out. */
export function withoutNulls(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  for (const key in value) {
    if (value[key] !== null) continue;
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  }
  return value;
}
