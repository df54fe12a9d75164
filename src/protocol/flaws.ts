/** Reading answers of other peers: a bad part is left out or repaired and reported, and the rest is kept. */
import { isRecord } from "./errors.ts";
import { firstIssue, type Schema, unreadable } from "./schema.ts";

/** Called for each flaw of an answer: the field, and what was done about it. */
export type OnFlaw = (field: string, what: string) => void;

/**
 * Reads an answer, or throws a 400 {@linkcode SmcpError} whose `details.field` names a part that is required. Any other
 * bad part is left out or repaired, and passed to `onFlaw`.
 */
export type AnswerReader<T> = (answer: unknown, onFlaw?: OnFlaw) => T;

/** Reads one entry of a list; `undefined` leaves it out. Calls `tell` for what it repairs and what it leaves out. */
export type ReadEntry<T> = (entry: unknown, tell: (what: string) => void) => T | undefined;

/** Ignores all flaws. */
export const ignoreFlaws: OnFlaw = () => {};

/** The answer as an object; throws for anything else. */
export function toBody(what: string, answer: unknown): Readonly<Record<string, unknown>> {
  if (isRecord(answer)) return answer;
  throw unreadable(what, what, "expected an object");
}

/** The entries of a list that can be read. */
export function readList<T>(
  list: readonly unknown[],
  options: { readonly field: string; readonly read: ReadEntry<T>; readonly onFlaw: OnFlaw },
): T[] {
  const { field, read, onFlaw } = options;
  const entries: T[] = [];
  for (const [index, entry] of list.entries()) {
    const value = read(entry, (what) => onFlaw(`${field}.${index}`, what));
    if (value !== undefined) entries.push(value);
  }
  return entries;
}

/** Reads an entry as the schema has it; where that fails, once more as `repair` leaves it. */
export function readWith<T>(
  schema: Schema<T>,
  repair?: (entry: Readonly<Record<string, unknown>>) => unknown,
): ReadEntry<T> {
  return (entry, tell) => {
    const parsed = schema.safeParse(entry);
    if (parsed.success) return parsed.data;
    const { field, why } = firstIssue(parsed.error);
    const where = field === undefined ? why : `${field}: ${why}`;
    const repaired = repair !== undefined && isRecord(entry) ? schema.safeParse(repair(entry)) : undefined;
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
