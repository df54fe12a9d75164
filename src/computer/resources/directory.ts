/** The catalogues of all MCP servers: views over all of them, and which server owns a host. */
import type { Logger } from "../../log.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import type { DocumentShelf } from "../../organizer/shelf.ts";
import { Catalogue, type CatalogueContext } from "./server.ts";

/** The most hosts that are warned of by name at a time. */
const MAX_WARNINGS = 20;

/** All catalogues, in the servers' order of precedence. */
export class ResourceDirectory {
  readonly #fleet: Fleet;
  readonly #context: CatalogueContext;
  readonly #log: Logger;
  readonly #catalogues = new Map<SupervisedServer, Catalogue>();
  /** The claimants of each contested host, as they were told of last. */
  #contested: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(fleet: Fleet, context: CatalogueContext) {
    this.#fleet = fleet;
    this.#context = context;
    this.#log = context.log;
  }

  /** The catalogue of a server. */
  of(server: SupervisedServer): Catalogue {
    let catalogue = this.#catalogues.get(server);
    if (catalogue === undefined) {
      catalogue = new Catalogue(server, this.#context);
      this.#catalogues.set(server, catalogue);
    }
    return catalogue;
  }

  /** The windows and documents that all servers list, as they were listed last. */
  get uris(): string[] {
    return this.#ordered().flatMap(({ uris }) => uris);
  }

  /** A server is no longer of the fleet: what it showed leaves. */
  remove(server: SupervisedServer): void {
    this.#catalogues.get(server)?.onStopped();
    this.#catalogues.delete(server);
    if (this.#fleet.get(server.name) === undefined) this.#context.watch.forget(server.name);
    this.warnOfContestedHosts();
  }

  /**
   * Subscribes to a resource for the Agent.
   *
   * @throws {SmcpError} as `ResourceWatch.add()` does, and whatever the MCP server refuses it with.
   */
  async subscribe(
    request: {
      readonly server: SupervisedServer;
      readonly uri: string;
      readonly as: string;
      readonly office: string;
      readonly timeoutMs: number;
    },
  ): Promise<void> {
    const { server, uri, timeoutMs } = request;
    const { watch } = this.#context;
    const isNew = watch.add({ server: server.name, uri }, request);
    try {
      await this.of(server).watch(uri, { timeoutMs });
    } catch (error) {
      if (isNew) watch.delete(uri, server.name);
      throw error;
    }
  }

  /** Ends a subscription of the Agent's, if there is one. */
  unsubscribe(uri: string, mcpServer?: string): void {
    for (const watched of this.#context.watch.delete(uri, mcpServer)) {
      const server = this.#fleet.get(watched.server);
      if (server !== undefined) this.of(server).unwatch(watched.uri);
    }
  }

  /** The Agent has gone, or the office is left: its subscriptions end. */
  endOffice(): void {
    this.#context.watch.endOffice();
    for (const catalogue of this.#catalogues.values()) catalogue.unwatchAll();
  }

  /**
   * The server that owns a host: the first in precedence that has listed it since it was configured. A server without
   * subscriptions is not listed by itself (`docs/protocol/desktop.md#required-capability`), so it is asked only when no other one has the host.
   */
  async ownerOf(host: string, view: { readonly timeoutMs: number }): Promise<Catalogue | undefined> {
    const [shown, others] = partition(this.#ordered(), ({ isSubscribable }) => isSubscribable);
    for (const catalogues of [shown, others]) {
      const find = () => catalogues.find(({ hosts }) => hosts.has(host));
      const known = find();
      if (known !== undefined) return known;
      // A list may be on its way, and a server without listChanged does not tell of a new host.
      await Promise.all(catalogues.map((catalogue) => catalogue.refreshList(view.timeoutMs)));
      const found = find();
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The windows of all servers, each within its own deadline. */
  async windows(
    view: { readonly identity?: string | undefined; readonly timeoutMs: number },
  ): Promise<DesktopWindow[]> {
    return (await Promise.all(this.#ordered().map((catalogue) => catalogue.windows(view)))).flat();
  }

  /** The documents of all servers by the server's name, each within its own deadline. */
  async documents(view: { readonly timeoutMs: number }): Promise<ReadonlyMap<string, DocumentShelf>> {
    const shelves = new Map<string, DocumentShelf>();
    await Promise.all(
      this.#ordered().map(async (catalogue) => {
        const shelf = await catalogue.documents(view);
        if (shelf !== undefined) shelves.set(catalogue.server.name, shelf);
      }),
    );
    return shelves;
  }

  /**
   * Warns of each host that several servers claim, and again when others claim it: a read by URI reaches only the first
   * of them (`docs/protocol/resources.md#host-ownership`).
   */
  warnOfContestedHosts(): void {
    const contested = this.#contestedHosts();
    const told = this.#contested;
    this.#contested = contested;
    const fresh = [...contested].filter(([host, claimants]) =>
      told.get(host)?.join("\0") !== claimants.join("\0")
    );
    for (const [host, servers] of fresh.slice(0, MAX_WARNINGS)) {
      const [owner] = servers;
      this.#log.warn("several MCP servers claim one host; reads go to the first", { host, owner, servers });
    }
    if (fresh.length > MAX_WARNINGS) {
      this.#log.warn("several MCP servers claim more hosts", { count: fresh.length - MAX_WARNINGS });
    }
  }

  /** The hosts of several servers with these, the owner first. */
  #contestedHosts(): Map<string, readonly string[]> {
    const claimants = new Map<string, string[]>();
    for (const { hosts, server, isSubscribable } of this.#ordered()) {
      if (!isSubscribable) continue;
      for (const host of hosts) {
        const others = claimants.get(host);
        if (others === undefined) claimants.set(host, [server.name]);
        else others.push(server.name);
      }
    }
    return new Map(claimants.entries().filter(([, servers]) => servers.length > 1));
  }

  #ordered(): Catalogue[] {
    return this.#fleet.servers.map((server) => this.of(server));
  }
}

function partition<T>(values: readonly T[], test: (value: T) => boolean): [T[], T[]] {
  return [values.filter(test), values.filter((value) => !test(value))];
}
