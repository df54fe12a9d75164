/** The catalogues of all MCP servers: views over all of them, and which server owns a host. */
import type { Logger } from "../log.ts";
import type { Fleet } from "../mcp/fleet.ts";
import type { SupervisedServer } from "../mcp/supervised_server.ts";
import type { DesktopWindow } from "../organizer/desktop_window.ts";
import type { DocumentShelf } from "../organizer/document_shelf.ts";
import { Catalogue, type CatalogueContext } from "./catalogue.ts";

/** All catalogues, in the servers' order of precedence. */
export class ResourceDirectory {
  readonly #fleet: Fleet;
  readonly #context: CatalogueContext;
  readonly #log: Logger;
  readonly #catalogues = new Map<SupervisedServer, Catalogue>();
  readonly #contested = new Set<string>();

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
    return this.#ordered().flatMap((catalogue) => catalogue.uris);
  }

  /** A server is no longer of the fleet: what it showed leaves. */
  remove(server: SupervisedServer): void {
    this.#catalogues.get(server)?.onStopped();
    this.#catalogues.delete(server);
  }

  /** The server that owns a host: the first in precedence that has listed it since it was configured. */
  async ownerOf(host: string, view: { readonly timeoutMs: number }): Promise<Catalogue | undefined> {
    const find = () => this.#ordered().find((catalogue) => catalogue.hosts.has(host));
    const known = find();
    if (known !== undefined) return known;
    // A list may be on its way, and a server without listChanged does not tell of a new host.
    await Promise.all(this.#ordered().map((catalogue) => catalogue.refreshList(view.timeoutMs)));
    return find();
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

  /** Warns, once a host, where two servers claim it: a read by URI can reach only one of them (`desktop.md`, 校验规则). */
  warnOfContestedHosts(): void {
    const owners = new Map<string, string>();
    for (const { hosts, server } of this.#ordered()) {
      for (const host of hosts) {
        const owner = owners.get(host);
        if (owner === undefined) owners.set(host, server.name);
        else if (!this.#contested.has(host)) {
          this.#contested.add(host);
          this.#log.warn("two MCP servers claim one host; reads go to the first", {
            host,
            owner,
            other: server.name,
          });
        }
      }
    }
  }

  #ordered(): Catalogue[] {
    return this.#fleet.servers.map((server) => this.of(server));
  }
}
