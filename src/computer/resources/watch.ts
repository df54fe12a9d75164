/** The subscriptions of the Agent of an office, and a log of the changes (`docs/protocol/extensions.md#subscriptions`). */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import type { ResourceUpdate } from "../../protocol/resource_updates.ts";

/** How many changed lists the log holds, one for each MCP server, in addition to the changes of resources. */
const MAX_CHANGED_LISTS = 1_000;
const MAX_TOLD_URI_LENGTH = 8_192;
/** How many levels above an updated URI a subscribed URI may be. */
const MAX_LEVELS = 64;
/** The bytes of an update in an answer without its strings, and the most bytes of one character. */
const UPDATE_BYTES = 40;
const MAX_BYTES_PER_CHARACTER = 6;
const ENVELOPE_BYTES = 2_048;

export interface Watched {
  readonly server: string;
  /** The URI as its MCP server lists it. */
  readonly uri: string;
}

export interface WatchedChanges {
  readonly updates: ResourceUpdate[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

interface Change {
  readonly update: ResourceUpdate;
  readonly number: number;
}

/** The subscriptions of the Agent in the current office, and a bounded log of changes. */
export class ResourceWatch {
  readonly #maxSubscriptions: number;
  readonly #onChange: () => void;
  /** For each server: the URI as the Agent spells it, by the URI as the server lists it. */
  readonly #watched = new Map<string, Map<string, string>>();
  /** The latest change of each resource and each list, in order. */
  readonly #changes = new Map<string, Change>();
  #office: string = crypto.randomUUID();
  #last = 0;
  /** The number of the last change that may be missing in the log. */
  #forgotten = 0;

  constructor(options: { readonly maxSubscriptions: number; readonly onChange: () => void }) {
    this.#maxSubscriptions = options.maxSubscriptions;
    this.#onChange = options.onChange;
  }

  /** An id of the current office, which changes when the office ends. */
  get office(): string {
    return this.#office;
  }

  urisOf(server: string): ReadonlySet<string> {
    return new Set(this.#watched.get(server)?.keys());
  }

  /**
   * Adds a subscription; returns `false` when it exists.
   *
   * @param as the URI as the Agent spells it
   * @param office the office of the request
   * @throws {SmcpError} 400 when there are too many, 4103 when the office has ended.
   */
  add({ server, uri }: Watched, { as, office }: { readonly as: string; readonly office: string }): boolean {
    if (office !== this.#office) {
      throw new SmcpError(ErrorCode.NOT_IN_ROOM, `Cannot subscribe to "${as}": the office was left`);
    }
    const uris = this.#watched.get(server) ?? new Map();
    if (uris.has(uri)) return false;
    const limit = this.#maxSubscriptions;
    if (this.#watched.values().reduce((sum, { size }) => sum + size, 0) >= limit) {
      throw badRequest("uri", `Cannot subscribe to "${as}": the limit of ${limit} subscriptions is reached`);
    }
    this.#watched.set(server, uris.set(uri, as));
    return true;
  }

  /** Ends the subscriptions of a URI in either spelling, at one server or at all; returns them. */
  delete(uri: string, server?: string): Watched[] {
    const found = [...this.#watched].filter(([name]) => server === undefined || name === server)
      .flatMap(([name, uris]) =>
        [...uris].filter((spellings) => spellings.includes(uri)).map(([each, as]) => ({
          server: name,
          uri: each,
          as,
        }))
      );
    for (const { server, uri, as } of found) {
      this.#watched.get(server)?.delete(uri);
      this.#changes.delete(keyOf({ mcp_server: server, uri: as }));
    }
    return found;
  }

  /** The Agent or this Computer has left the office: forgets everything. */
  endOffice(): void {
    this.#office = crypto.randomUUID();
    this.#watched.clear();
    this.#changes.clear();
    this.#last = this.#forgotten = 0;
  }

  /** A server was removed from the configuration. */
  forget(server: string): void {
    this.#watched.delete(server);
    for (const [key, { update }] of this.#changes) {
      if (update.mcp_server === server) this.#changes.delete(key);
    }
  }

  /** A server announced an update. An update of a URI below a subscribed URI is an update of the subscribed one. */
  onUpdated(server: string, uri: string): void {
    const uris = this.#watched.get(server);
    if (uris === undefined || uri.length > MAX_TOLD_URI_LENGTH) return;
    for (const each of selfAndAbove(uri)) {
      const as = uris.get(each);
      if (as !== undefined) this.#note({ mcp_server: server, uri: as });
    }
  }

  /** All subscribed resources of a server may have changed without an announcement. */
  onAllUpdated(server: string): void {
    for (const as of this.#watched.get(server)?.values() ?? []) this.#note({ mcp_server: server, uri: as });
  }

  onListChanged(server: string): void {
    this.#note({ mcp_server: server });
  }

  /**
   * Reads the changes since `cursor`, or the whole log without a cursor. If the log does not reach back to the cursor, or
   * the cursor belongs to another office, the lists of all `servers` are reported as changed.
   */
  read(
    cursor: string | undefined,
    { servers, limitBytes }: { readonly servers: readonly string[]; readonly limitBytes: number },
  ): WatchedChanges {
    const since = cursor === undefined ? 0 : this.#numberOf(cursor);
    if (since === undefined || since < this.#forgotten) {
      const updates = servers.map((mcp_server) => ({ mcp_server }));
      return { updates, cursor: this.#cursorAt(this.#last), hasMore: false };
    }
    const updates: ResourceUpdate[] = [];
    let [freeBytes, last] = [limitBytes - ENVELOPE_BYTES, since];
    for (const { update, number } of this.#changes.values()) {
      if (number <= since) continue;
      freeBytes -= sizeBytesOf(update);
      if (freeBytes < 0 && updates.length > 0) {
        return { updates, cursor: this.#cursorAt(last), hasMore: true };
      }
      updates.push(update);
      last = number;
    }
    return { updates, cursor: this.#cursorAt(this.#last), hasMore: false };
  }

  #note(update: ResourceUpdate): void {
    const key = keyOf(update);
    this.#changes.delete(key);
    this.#changes.set(key, { update, number: ++this.#last });
    const [oldest = key] = this.#changes.keys();
    if (this.#changes.size > this.#maxSubscriptions + MAX_CHANGED_LISTS) {
      this.#forgotten = this.#changes.get(oldest)?.number ?? 0;
      this.#changes.delete(oldest);
    }
    this.#onChange();
  }

  #cursorAt(number: number): string {
    return `${this.#office}.${number}`;
  }

  /** The number in a cursor; `undefined` for a cursor that was not issued in this office. */
  #numberOf(cursor: string): number | undefined {
    const [office, number = ""] = cursor.split(".", 2);
    if (office !== this.#office || !/^\d{1,16}$/.test(number)) return undefined;
    return Number(number) > this.#last ? undefined : Number(number);
  }
}

function keyOf({ mcp_server, uri }: ResourceUpdate): string {
  return JSON.stringify([mcp_server, uri]);
}

function sizeBytesOf({ mcp_server, uri = "" }: ResourceUpdate): number {
  return UPDATE_BYTES + (mcp_server.length + uri.length) * MAX_BYTES_PER_CHARACTER;
}

/** A URI and the URIs of all folders above it, with and without their trailing slash. */
function* selfAndAbove(uri: string): Generator<string> {
  yield uri;
  let end = uri.length;
  for (let level = 0; level < MAX_LEVELS; level++) {
    end = uri.lastIndexOf("/", end - 1);
    if (end <= 0) return;
    if (end + 1 < uri.length) yield uri.slice(0, end + 1);
    yield uri.slice(0, end);
  }
}
