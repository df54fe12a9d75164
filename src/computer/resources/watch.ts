/** What the Agent of an office subscribed to, and what of it changed (`docs/protocol/extensions.md#subscriptions`). */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { badRequest, SmcpError } from "../../protocol/errors.ts";
import type { ResourceUpdate } from "../../protocol/resource_updates.ts";

/** How many changes are remembered beside those of subscribed resources: one for the list of each MCP server. */
const MAX_CHANGED_LISTS = 1_000;
/** The longest URI of an update that is looked at, in characters. */
const MAX_TOLD_URI_LENGTH = 8_192;
/** How many levels above an updated URI may be what was subscribed to. */
const MAX_LEVELS = 64;
/** What an update takes in an answer beside its texts, in bytes, and a character of them at most. */
const UPDATE_BYTES = 40;
const MAX_BYTES_PER_CHARACTER = 6;
/** What an answer has beside its updates. */
const ENVELOPE_BYTES = 2_048;

/** A resource that is subscribed to. */
export interface Watched {
  /** The MCP server's name. */
  readonly server: string;
  /** The URI as its MCP server lists it. */
  readonly uri: string;
}

/** Some of the changes. */
export interface WatchedChanges {
  readonly updates: ResourceUpdate[];
  /** Where to go on. */
  readonly cursor: string;
  /** Whether there are more than fit. */
  readonly hasMore: boolean;
}

interface Change {
  readonly update: ResourceUpdate;
  /** Grows with each change. */
  readonly number: number;
}

/** The subscriptions of one office after the other, and a bounded log of what changed. */
export class ResourceWatch {
  readonly #maxSubscriptions: number;
  readonly #onChange: () => void;
  /** By server, the URI as the Agent spelled it by the URI as the server lists it. */
  readonly #watched = new Map<string, Map<string, string>>();
  /** Each resource and each list once, the latest change last. */
  readonly #changes = new Map<string, Change>();
  #office: string = crypto.randomUUID();
  #last = 0;
  /** Changes up to this one may be forgotten. */
  #forgotten = 0;

  /** `onChange`: there is something new to read. */
  constructor(options: { readonly maxSubscriptions: number; readonly onChange: () => void }) {
    this.#maxSubscriptions = options.maxSubscriptions;
    this.#onChange = options.onChange;
  }

  /** Stands for the office; another one once that has ended. */
  get office(): string {
    return this.#office;
  }

  /** What is subscribed to of a server, as that lists it. */
  urisOf(server: string): ReadonlySet<string> {
    return new Set(this.#watched.get(server)?.keys());
  }

  /**
   * Adds a subscription; `false` when it is there.
   *
   * @param as The URI as the Agent spells it.
   * @param office The office that asked.
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
      throw badRequest("uri", `Cannot subscribe to "${as}": ${limit} resources are subscribed to already`);
    }
    this.#watched.set(server, uris.set(uri, as));
    return true;
  }

  /** Ends subscriptions, however their URI was spelled, of one server or of all; gives those that there were. */
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

  /** The Agent has gone, or the office is left. */
  endOffice(): void {
    this.#office = crypto.randomUUID();
    this.#watched.clear();
    this.#changes.clear();
    this.#last = this.#forgotten = 0;
  }

  /** A server is configured no more. */
  forget(server: string): void {
    this.#watched.delete(server);
    for (const [key, { update }] of this.#changes) {
      if (update.mcp_server === server) this.#changes.delete(key);
    }
  }

  /** A server told that this was updated. What is below a resource that was subscribed to belongs to that. */
  onUpdated(server: string, uri: string): void {
    const uris = this.#watched.get(server);
    if (uris === undefined || uri.length > MAX_TOLD_URI_LENGTH) return;
    for (const each of selfAndAbove(uri)) {
      const as = uris.get(each);
      if (as !== undefined) this.#note({ mcp_server: server, uri: as });
    }
  }

  /** A server may have told of updates while nobody could hear it. */
  onAllUpdated(server: string): void {
    for (const as of this.#watched.get(server)?.values() ?? []) this.#note({ mcp_server: server, uri: as });
  }

  /** What a server lists changed. */
  onListChanged(server: string): void {
    this.#note({ mcp_server: server });
  }

  /**
   * What changed since `cursor`; all that is remembered without one. Where more has changed than is remembered, or the
   * cursor is of another office, it is the list of each of `servers`.
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
    let [roomBytes, last] = [limitBytes - ENVELOPE_BYTES, since];
    for (const { update, number } of this.#changes.values()) {
      if (number <= since) continue;
      roomBytes -= sizeBytesOf(update);
      if (roomBytes < 0 && updates.length > 0) {
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
    if (this.#changes.size > this.#maxSubscriptions + MAX_CHANGED_LISTS) {
      for (const [oldest, { number }] of this.#changes) {
        this.#forgotten = number;
        this.#changes.delete(oldest);
        break;
      }
    }
    this.#onChange();
  }

  #cursorAt(number: number): string {
    return `${this.#office}.${number}`;
  }

  /** `undefined` for a cursor that was never given in this office. */
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

/** A URI, and those of the folders that it is in, with and without their slash. */
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
