/** Pages of lists. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";

/** The most bytes of the entries of a page: clients refuse events of 1 MiB. */
const MAX_PAGE_BYTES = 800_000;

export interface PageRequest<Item> {
  readonly size: number;
  /** The `nextCursor` of the page before; the first page when absent. */
  readonly cursor: string | undefined;
  readonly keyOf: (item: Item) => string;
}

/** A page of a list, and the member `nextCursor` when another one follows. */
export interface Page<Item> {
  readonly page: readonly Item[];
  readonly next: { readonly nextCursor?: string };
}

/**
 * A page of a list. A cursor holds the key of the last entry before it and its position, so that a list that changes
 * meanwhile repeats and skips as little as possible.
 *
 * @throws {ProtocolError} `cursor` is not one of ours.
 */
export function pageOf<Item extends object>(
  all: readonly Item[],
  { size, cursor, keyOf }: PageRequest<Item>,
): Page<Item> {
  const start = cursor === undefined ? 0 : startAfter(all, cursor, keyOf);
  const page = fittingPart(all.slice(start, start + size));
  const last = page.at(-1);
  const end = start + page.length;
  const next = last === undefined || end >= all.length ? {} : { nextCursor: `${end}:${keyOf(last)}` };
  return { page, next };
}

/** The first entries, as many as a page has room for; one at least. */
function fittingPart<Item extends object>(entries: readonly Item[]): readonly Item[] {
  let left = MAX_PAGE_BYTES;
  const end = entries.findIndex((entry, index) => (left -= sizeOf(entry)) < 0 && index > 0);
  return end < 0 ? entries : entries.slice(0, end);
}

const encoder = new TextEncoder();
/** Entries are measured once: they stay the same objects while a list is read page by page. */
const sizes = new WeakMap<object, number>();

function sizeOf(entry: object): number {
  const size = sizes.get(entry) ?? encoder.encode(JSON.stringify(entry)).length + 1;
  sizes.set(entry, size);
  return size;
}

function startAfter<Item>(all: readonly Item[], cursor: string, keyOf: (item: Item) => string): number {
  const [, position = "", key = ""] = /^(\d{1,9}):(.*)$/s.exec(cursor) ?? [];
  if (position === "") {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      "Cannot go on with the list: its cursor is unknown. Begin with the first page",
    );
  }
  const expected = all[Number(position) - 1];
  if (expected !== undefined && keyOf(expected) === key) return Number(position);
  // A Computer may list a key twice: after the last of them, the pages come to an end.
  const index = all.findLastIndex((item) => keyOf(item) === key);
  return index < 0 ? Number(position) : index + 1;
}
