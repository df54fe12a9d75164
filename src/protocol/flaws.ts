/** Reading answers of other peers: one bad part costs that part, and is told. */
import { isRecord } from "./errors.ts";
import { firstIssue, type Schema, unreadable } from "./schema.ts";

/** Told of what an answer has wrong, and what was made of it: where, and what. */
export type OnFlaw = (field: string, what: string) => void;

/**
 * Reads an answer, or throws a 400 {@linkcode SmcpError} whose `details.field` says what it cannot do without. Of
 * anything else that is wrong, only that part is left out or repaired, and `onFlaw` hears of it.
 */
export type AnswerReader<T> = (answer: unknown, onFlaw?: OnFlaw) => T;

/** Reads one entry of a list; `undefined` leaves it out. It tells what it repairs and why it leaves something out. */
export type ReadEntry<T> = (entry: unknown, tell: (what: string) => void) => T | undefined;

/** Hears nothing. */
export const ignoreFlaws: OnFlaw = () => {};

/** The answer as an object. Throws where it is none: there is nothing to go on with. */
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
