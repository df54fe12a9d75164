/** A list that an MCP server hands out page by page, perhaps without end. */
import type { EntryWarning } from "./entries.ts";
import { ServerTimeoutError } from "./errors.ts";

/** The most pages of one list that are followed. */
const MAX_LIST_PAGES = 10_000;
/** The most entries of one list that are kept. */
const MAX_LIST_ENTRIES = 250_000;

/** A page of a list as it came. */
export interface ListPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: string | undefined;
}

/** How to read a list. */
export interface ListOptions<T> {
  /** What is listed, for a warning. */
  readonly what: string;
  readonly readPage: (cursor: string | undefined, timeoutMs: number) => Promise<ListPage>;
  /** Reads an entry; `undefined` leaves it out. */
  readonly readEntry: (entry: unknown, warn: EntryWarning) => T | undefined;
  /** The time for all pages together. */
  readonly timeoutMs: number;
  readonly warn: EntryWarning;
}

/** Reads pages until the end. A list that does not end in time, or turns in a circle, gives what was read so far. */
export async function readAllPages<T>(options: ListOptions<T>): Promise<T[]> {
  const { what, readPage, readEntry, timeoutMs, warn } = options;
  const items: T[] = [];
  const cursors = new Set<string>();
  const deadlineMs = performance.now() + timeoutMs;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES && items.length < MAX_LIST_ENTRIES; page++) {
    const remainingMs = deadlineMs - performance.now();
    if (page > 0 && remainingMs <= 0) break;
    const result = await readPage(cursor, Math.max(1, remainingMs)).catch((error) => {
      if (page > 0 && error instanceof ServerTimeoutError) return undefined;
      throw error;
    });
    if (result === undefined) break;
    for (const entry of result.entries) {
      const item = readEntry(entry, warn);
      if (item !== undefined) items.push(item);
    }
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
    if (cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  warn(`the list of ${what} does not end; what was read so far is used`);
  return items;
}
