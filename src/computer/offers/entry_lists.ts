/** A kind of entries that MCP servers list, such as templates of resources or prompts, for one server or for all. */
import { settledWithin } from "../../async/abortable.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { fitsApproximately } from "../../json/json.ts";
import { describeError } from "../../text/text.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { ask } from "../resources/read.ts";
import type { ResourceRoutes } from "../resources/route.ts";

export interface ListedEntry<T> {
  readonly server: string;
  readonly entry: T;
}

export interface EntryListsContext<T> extends Pick<SharedParts, "fleet" | "limits" | "warnOnce"> {
  readonly routes: ResourceRoutes;
  readonly kind: "templates" | "prompts";
  /** The capability that a server needs to have such a list. */
  readonly capability: "resources" | "prompts";
  /** The entries in a warning, for example `resource templates`. */
  readonly what: string;
  /** Translates an entry for this wire; `undefined` leaves the entry out. */
  readonly toEntry: (entry: unknown, server: string) => T | undefined;
}

/** Lists the entries of one kind. Requests at the same time share one list of a server. */
export class EntryLists<T> {
  readonly #context: EntryListsContext<T>;
  readonly #listing = new Map<SupervisedServer, Promise<readonly ListedEntry<T>[]>>();

  constructor(context: EntryListsContext<T>) {
    this.#context = context;
  }

  /** Lists the entries of all servers in order of precedence, without those of a server that fails or is late. */
  async all({ timeoutMs }: { readonly timeoutMs: number }): Promise<ListedEntry<T>[]> {
    const { fleet, limits, warnOnce, capability, what } = this.#context;
    const withinMs = Math.min(timeoutMs, limits.viewDeadlineMs);
    const servers = fleet.servers.filter(({ connection }) => connection?.capabilities[capability] === true);
    const lists = await Promise.all(servers.map(async (server) => {
      const entries = await settledWithin(this.#list(server), withinMs);
      if (entries === undefined) {
        warnOnce.warn(`MCP server is slow; its ${what} are left out`, { server: server.name });
      }
      return entries ?? [];
    }));
    return lists.flat();
  }

  /**
   * Lists one page of the named server, else the entries of all servers.
   *
   * @throws {SmcpError} as `client:get_resources` is answered.
   */
  async page(
    name: string | undefined,
    { cursor, timeoutMs }: { readonly cursor?: string | undefined; readonly timeoutMs: number },
  ): Promise<{ readonly entries: ListedEntry<T>[]; readonly nextCursor?: string }> {
    if (name === undefined) return { entries: await this.all({ timeoutMs }) };
    const { routes, kind, capability } = this.#context;
    const server = routes.findServer(name, capability);
    const { entries, nextCursor } = await ask(
      { server },
      (connection) => connection.listEntriesPage(kind, cursor, { timeoutMs }),
    );
    return { entries: this.#read(server, entries), ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  /** Never rejects. */
  #list(server: SupervisedServer): Promise<readonly ListedEntry<T>[]> {
    let listing = this.#listing.get(server);
    if (listing === undefined) {
      listing = this.#listOnce(server).finally(() => this.#listing.delete(server));
      this.#listing.set(server, listing);
    }
    return listing;
  }

  async #listOnce(server: SupervisedServer): Promise<readonly ListedEntry<T>[]> {
    const { warnOnce, kind, what, limits: { readTimeoutMs: timeoutMs } } = this.#context;
    try {
      return this.#read(
        server,
        await server.use((connection) => connection.listEntries(kind, { timeoutMs })),
      );
    } catch (error) {
      warnOnce.warn(`cannot list ${what}`, { server: server.name, error: describeError(error) });
      return [];
    }
  }

  /** Leaves out invalid entries and those beyond the limits. */
  #read(server: SupervisedServer, entries: readonly unknown[]): ListedEntry<T>[] {
    const { limits: { maxListed, maxEntryBytes }, toEntry, what, warnOnce } = this.#context;
    const listed: ListedEntry<T>[] = [];
    let leftOut = 0;
    for (const each of entries) {
      const fits = listed.length < maxListed && fitsApproximately(each, maxEntryBytes);
      const entry = fits ? toEntry(each, server.name) : undefined;
      if (entry !== undefined) listed.push({ server: server.name, entry });
      else leftOut++;
    }
    if (leftOut > 0) {
      const fields = { server: server.name, count: leftOut, maxListed, maxEntryBytes };
      warnOnce.warn(`${what} are left out: too many, too large, or without a name or template`, fields);
    }
    return listed;
  }
}
