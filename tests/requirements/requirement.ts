/** One sentence that the specification asks to be true. */
export interface Requirement {
  /** Stable, short and telling; never reused for another meaning. */
  readonly id: string;
  /** The page of the specification and the anchor of its section, as a path from the root of the repository. */
  readonly source: string;
  /** What is asked, in one English sentence. */
  readonly text: string;
  /** Why no test proves it. */
  readonly missing?: string;
}

type Entry = string | { readonly text: string; readonly missing: string };

/** The requirements of one section of a page, given as a text by id. */
export function section(source: string, entries: Readonly<Record<string, Entry>>): Requirement[] {
  return Object.entries(entries).map(([id, entry]) =>
    typeof entry === "string" ? { id, source, text: entry } : { id, source, ...entry }
  );
}
