/**
 * Shortens lists that are too large for one answer. Each MCP server has a fair share of the answer: a server within its
 * share keeps all of its items, and the others are cut to it.
 */
import { visitInTurns } from "../../async/turns.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";

/** The bytes of an answer without its list: member names, request id, counts. */
const ENVELOPE_BYTES = 1_024;
export interface ListItem<T> {
  readonly server: string;
  /** The object for which the size is remembered; items with the same key have the same size. */
  readonly key: object;
  readonly render: () => T;
}

export interface FitOptions {
  /** The items in a warning, for example `tools`. */
  readonly what: string;
  /** The most bytes of the answer. */
  readonly limitBytes: number;
  /** Which items of a server are kept: the first ones that fit, or as many as possible. */
  readonly keeps: "first" | "most";
}

interface SizedItem<T> {
  readonly item: ListItem<T>;
  readonly index: number;
  readonly bytes: number;
}

/** Fits lists into answers: the servers with the most bytes lose most, with a warning. */
export class ListAnswers {
  readonly #maxBytes: number;
  readonly #warnOnce: WarnOnce;
  /** The bytes of each item and a comma, measured once. */
  readonly #itemBytes = new WeakMap<object, number>();

  /** @param options `maxListAnswerBytes`: the most bytes of a list, whatever the connection takes. */
  constructor(options: { readonly maxListAnswerBytes: number; readonly warnOnce: WarnOnce }) {
    this.#maxBytes = options.maxListAnswerBytes;
    this.#warnOnce = options.warnOnce;
  }

  /** Returns the items that fit, in their order, and logs for each server what is left out. */
  async fit<T>(items: readonly ListItem<T>[], { what, limitBytes, keeps }: FitOptions): Promise<T[]> {
    const mostBytes = Math.min(limitBytes, this.#maxBytes);
    const freeBytes = mostBytes - ENVELOPE_BYTES;
    const byServer = new Map<string, SizedItem<T>[]>();
    let totalBytes = 0;
    let index = 0;
    await visitInTurns(items, (item) => {
      const sized = { item, index: index++, bytes: this.#bytesOf(item) };
      totalBytes += sized.bytes;
      const others = byServer.get(item.server);
      if (others === undefined) byServer.set(item.server, [sized]);
      else others.push(sized);
    });
    if (totalBytes <= freeBytes) return items.map(({ render }) => render());
    const shareBytes = fairShare([...byServer.values()].map(sumBytes), freeBytes);
    const kept: SizedItem<T>[] = [];
    for (const [server, sized] of byServer) {
      const { stay, leave } = cutTo(sized, shareBytes, keeps);
      kept.push(...stay);
      if (leave.length === 0) continue;
      this.#warnOnce.warn(`${what} are left out of an answer: too large`, {
        server,
        count: leave.length,
        bytes: sumBytes(leave),
        limit: mostBytes,
      });
    }
    return kept.sort((one, other) => one.index - other.index).map(({ item }) => item.render());
  }

  #bytesOf({ key, render }: ListItem<unknown>): number {
    let bytes = this.#itemBytes.get(key);
    if (bytes === undefined) this.#itemBytes.set(key, bytes = jsonBytes(render()) + 1);
    return bytes;
  }
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

function sumBytes(items: readonly { readonly bytes: number }[]): number {
  return items.reduce((sum, { bytes }) => sum + bytes, 0);
}

const encoder = new TextEncoder();

function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value) ?? "").byteLength;
}
