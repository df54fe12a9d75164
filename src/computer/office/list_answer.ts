/**
 * Shortens lists that are too large for one answer. Each MCP server has a fair share of the answer: a server within its
 * share keeps all of its items, and the others are cut to it.
 */
import { visitInTurns } from "../../async/turns.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";

/** The bytes of an answer without its list: member names, request id, counts. */
const ENVELOPE_BYTES = 1_024;
const MAX_NAMED = 5;

export interface ListItem<T> {
  readonly server: string;
  readonly name: string;
  /** The object for which the size is remembered; items with the same key have the same size. */
  readonly key: object;
  readonly render: () => T;
}

export interface FitOptions {
  /** The items in a warning, for example `tools`. */
  readonly what: string;
  readonly limitBytes: number;
  /** Which items of a server are kept: the first ones that fit, or as many as possible. */
  readonly keeps: "first" | "most";
  readonly warnOnce: WarnOnce;
}

interface SizedItem<T> {
  readonly item: ListItem<T>;
  readonly index: number;
  readonly bytes: number;
}

/** Measures the JSON of each item once. */
export class ItemSizes {
  readonly #bytes = new WeakMap<object, number>();

  /** The bytes of an item and a comma. */
  sizeBytes({ key, render }: ListItem<unknown>): number {
    let bytes = this.#bytes.get(key);
    if (bytes === undefined) this.#bytes.set(key, bytes = jsonBytes(render()) + 1);
    return bytes;
  }
}

/** Returns the items that fit, in their order, and logs for each server what is left out. */
export async function fitList<T>(
  items: readonly ListItem<T>[],
  sizes: ItemSizes,
  options: FitOptions,
): Promise<T[]> {
  if (options.limitBytes === Infinity) return items.map(({ render }) => render());
  const freeBytes = options.limitBytes - ENVELOPE_BYTES;
  const byServer = new Map<string, SizedItem<T>[]>();
  let totalBytes = 0;
  let index = 0;
  await visitInTurns(items, (item) => {
    const sized = { item, index: index++, bytes: sizes.sizeBytes(item) };
    totalBytes += sized.bytes;
    const others = byServer.get(item.server);
    if (others === undefined) byServer.set(item.server, [sized]);
    else others.push(sized);
  });
  if (totalBytes <= freeBytes) return items.map(({ render }) => render());
  const shareBytes = fairShare([...byServer.values()].map(sumBytes), freeBytes);
  const kept: SizedItem<T>[] = [];
  for (const [server, sized] of byServer) {
    const { stay, leave } = cutTo(sized, shareBytes, options.keeps);
    kept.push(...stay);
    if (leave.length > 0) warnOfLeftOut(server, leave, options);
  }
  return kept.sort((one, other) => one.index - other.index).map(({ item }) => item.render());
}

/** The largest share for which the sizes, each cut to the share, add up to at most `freeBytes`. */
export function fairShare(sizes: readonly number[], freeBytes: number): number {
  let free = Math.max(0, freeBytes);
  const ascending = sizes.toSorted((one, other) => one - other);
  for (const [index, size] of ascending.entries()) {
    const share = free / (ascending.length - index);
    if (size > share) return share;
    free -= size;
  }
  return Infinity;
}

function cutTo<T>(
  items: readonly SizedItem<T>[],
  shareBytes: number,
  keeps: FitOptions["keeps"],
): { readonly stay: SizedItem<T>[]; readonly leave: SizedItem<T>[] } {
  const stay: SizedItem<T>[] = [];
  const leave: SizedItem<T>[] = [];
  let freeBytes = shareBytes;
  for (const each of keeps === "first" ? items : items.toSorted((one, other) => one.bytes - other.bytes)) {
    if (each.bytes > freeBytes) leave.push(each);
    else {
      freeBytes -= each.bytes;
      stay.push(each);
    }
  }
  return { stay, leave };
}

function warnOfLeftOut<T>(
  server: string,
  items: readonly SizedItem<T>[],
  { what, limitBytes, warnOnce }: FitOptions,
): void {
  const largest = items.toSorted((one, other) => other.bytes - one.bytes).slice(0, MAX_NAMED);
  warnOnce.warn(`${what} are left out of an answer: too large`, {
    server,
    count: items.length,
    bytes: sumBytes(items),
    largest: largest.map(({ item }) => item.name),
    limit: limitBytes,
  });
}

function sumBytes(items: readonly { readonly bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

const encoder = new TextEncoder();

function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value) ?? "").byteLength;
}
