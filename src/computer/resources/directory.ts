/** The resources of all MCP servers: windows and documents for the views, routes for reads, subscriptions of the Agent. */
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import type { DocumentShelf } from "../../organizer/shelf.ts";
import type { SubscribeResourceReq } from "../../protocol/resource_updates.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { toReadError } from "../failures.ts";
import { parseResourceUri } from "./resource_uri.ts";
import { ResourceRoutes, type ResourceRoutesContext, withCapability } from "./route.ts";
import { ServerResources, type ServerResourcesContext } from "./server_resources.ts";
import type { WatchedChanges } from "./watch.ts";

export interface ResourceDirectoryContext
  extends Omit<ServerResourcesContext, "onHostsChange">, Pick<ResourceRoutesContext, "writtenNameOf"> {}

/** The resources of each server of the fleet, in its order of precedence. */
export class ResourceDirectory {
  /** Finds the server of a read. */
  readonly routes: ResourceRoutes;
  readonly #fleet: Fleet;
  readonly #context: ResourceDirectoryContext;
  readonly #servers = new Map<SupervisedServer, ServerResources>();

  constructor(fleet: Fleet, context: ResourceDirectoryContext) {
    this.#fleet = fleet;
    this.#context = context;
    this.routes = new ResourceRoutes({
      fleet,
      writtenNameOf: context.writtenNameOf,
      getServerResources: (server) => this.getServerResources(server),
      log: context.log,
    });
  }

  getServerResources(server: SupervisedServer): ServerResources {
    let resources = this.#servers.get(server);
    if (resources === undefined) {
      const onHostsChange = () => this.routes.update();
      resources = new ServerResources(server, { ...this.#context, onHostsChange });
      this.#servers.set(server, resources);
    }
    return resources;
  }

  /** The listed URIs of the windows and documents of all servers. */
  get uris(): string[] {
    return this.#ordered().flatMap(({ uris }) => uris);
  }

  remove(server: SupervisedServer): void {
    this.#servers.get(server)?.onStopped();
    this.#servers.delete(server);
    if (this.#fleet.get(server.name) === undefined) this.#context.watch.forget(server.name);
    this.routes.update();
  }

  /** The windows of all servers. Each server has its own deadline. */
  async windows(
    view: { readonly identity?: string | undefined; readonly timeoutMs: number },
  ): Promise<DesktopWindow[]> {
    return (await Promise.all(this.#ordered().map((resources) => resources.windows(view)))).flat();
  }

  /** The documents of all servers, by the server's name. Each server has its own deadline. */
  async documents(view: { readonly timeoutMs: number }): Promise<ReadonlyMap<string, DocumentShelf>> {
    const shelves = new Map<string, DocumentShelf>();
    await Promise.all(
      this.#ordered().map(async (resources) => {
        const shelf = await resources.documents(view);
        if (shelf !== undefined) shelves.set(resources.server.name, shelf);
      }),
    );
    return shelves;
  }

  /**
   * Subscribes to a resource for the Agent.
   *
   * @throws {SmcpError} as a read of the URI does, as {@linkcode ResourceWatch.add} does, or when the server refuses.
   */
  async subscribe(request: SubscribeResourceReq): Promise<void> {
    const { watch } = this.#context;
    const { office } = watch;
    const timeoutMs = timeoutMsOf(request);
    const parsed = parseResourceUri(request.uri);
    const found = await this.routes.find(parsed, { mcpServer: request.mcp_server, timeoutMs });
    const server = withCapability(found.server, "resources.subscribe");
    const uri = found.spelling;
    const isNew = watch.add({ server: server.name, uri }, { as: request.uri, office });
    try {
      await this.getServerResources(server).watch(uri, { timeoutMs });
    } catch (error) {
      if (isNew) watch.delete(uri, server.name);
      const dpe = parsed.kind === "dpe" ? parsed.dpe : undefined;
      throw toReadError(error, { ...found, uri, dpe });
    }
  }

  /** Ends a subscription of the Agent; ignores a URI without subscription. */
  unsubscribe(uri: string, mcpServer?: string): void {
    for (const watched of this.#context.watch.delete(uri, mcpServer)) {
      const server = this.#fleet.get(watched.server);
      if (server !== undefined) this.getServerResources(server).unwatch(watched.uri);
    }
  }

  /** The changes since `cursor`, as many as fit into `limitBytes`. */
  updates(cursor: string | undefined, limitBytes: number): WatchedChanges {
    const servers = this.#fleet.servers.map(({ name }) => name);
    return this.#context.watch.read(cursor, { servers, limitBytes });
  }

  /** Ends all subscriptions of the Agent, which has left or whose office was left. */
  endAgent(): void {
    this.#context.watch.endOffice();
    for (const resources of this.#servers.values()) resources.unwatchAll();
  }

  #ordered(): ServerResources[] {
    return this.#fleet.servers.map((server) => this.getServerResources(server));
  }
}
