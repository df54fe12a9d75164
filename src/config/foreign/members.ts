/** How a member of an entry of another form is translated. */
import type { ConfigPath } from "../problem.ts";

export type Entry = Readonly<Record<string, unknown>>;

/** A value of the flat entry, and the place where it was written. */
export interface Part {
  /** The path in the flat entry: a member, or a member of that. */
  readonly path: ConfigPath;
  readonly value: unknown;
  /** The path in the entry as it was written. */
  readonly from: ConfigPath;
  /** What to add to the index of a list item to get its index at `from`; 0 by default. */
  readonly shift?: number;
}

/** Translates a member. It returns nothing for a member without meaning, or of a wrong type that is reported elsewhere. */
export type Member = (value: unknown, key: string, entry: Entry) => readonly Part[];
