/** A list that an MCP server hands out page by page, perhaps without end. */
import { approximateSizeBytes } from "../protocol/size.ts";
import type { EntryWarning } from "./entries.ts";
import { ServerTimeoutError } from "./errors.ts";
import { MAX_LIST_ENTRIES, MAX_LIST_PAGES } from "./limits.ts";

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
  /** The most bytes of all pages together. */
  readonly maxBytes: number;
  /** The time for all pages together. */
  readonly timeoutMs: number;
  readonly warn: EntryWarning;
  /** Hears of each page how many bytes the list has by then. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * Reads pages until the end. A list that does not end in time, holds too much, or turns in a circle, gives what was
 * read so far.
 */
export async function readAllPages<T>(options: ListOptions<T>): Promise<T[]> {
  const { what, readPage, readEntry, timeoutMs, maxBytes, warn, onBytes } = options;
  const items: T[] = [];
  const cursors = new Set<string>();
  const deadlineMs = performance.now() + timeoutMs;
  let bytes = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_LIST_PAGES; page++) {
    const remainingMs = deadlineMs - performance.now();
    if (page > 0 && remainingMs <= 0) break;
    const result = await readPage(cursor, Math.max(1, remainingMs)).catch((error) => {
      if (page > 0 && error instanceof ServerTimeoutError) return undefined;
      throw error;
    });
    if (result === undefined) break;
    for (const entry of result.entries) {
      bytes += approximateSizeBytes(entry);
      if (bytes > maxBytes || items.length >= MAX_LIST_ENTRIES) {
        onBytes?.(bytes);
        return cutShort(items, { what, maxBytes, warn });
      }
      const item = readEntry(entry, warn);
      if (item !== undefined) items.push(item);
    }
    onBytes?.(bytes);
    cursor = result.nextCursor;
    if (cursor === undefined) return items;
    bytes += approximateSizeBytes(cursor);
    if (bytes > maxBytes) return cutShort(items, { what, maxBytes, warn });
    if (cursors.has(cursor)) break;
    cursors.add(cursor);
  }
  warn(`the list of ${what} does not end; what was read so far is used`);
  return items;
}

function cutShort<T>(items: T[], list: Pick<ListOptions<T>, "what" | "maxBytes" | "warn">): T[] {
  const { what, maxBytes, warn } = list;
  warn(
    `the list of ${what} is longer than ${maxBytes} bytes or ${MAX_LIST_ENTRIES} entries; ` +
      "the rest is left out",
  );
  return items;
}
