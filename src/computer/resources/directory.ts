/** The resources of all MCP servers: windows and documents for the views, routes for reads, subscriptions of the Agent. */
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { runInTurns } from "../../async/turns.ts";
import { arrangeDesktop } from "../../organizer/desktop.ts";
import { type DocumentShelf, type FinderQueryOptions, organizeShelves } from "../../organizer/finder.ts";
import type { OrganizerWarning } from "../../organizer/warning.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import { badRequest } from "../../protocol/errors.ts";
import { DEFAULT_FINDER_LIMIT, type FinderPage } from "../../protocol/finder.ts";
import type { SubscribeResourceReq } from "../../protocol/resource_updates.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { shorten } from "../../text/text.ts";
import { windowIdentity } from "../../uri/window_uri.ts";
import { toReadError } from "../shared/failures.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { parseResourceUri } from "./resource_uri.ts";
import { ResourceRoutes, withCapability } from "./route.ts";
import { type ResourceSkills, ServerResources } from "./server_resources.ts";
import { ResourceWatch, type WatchedChanges } from "./watch.ts";

const MAX_URI_LENGTH = 8_192;
const MAX_SHOWN_URI_LENGTH = 200;

export interface DesktopOptions {
  /** The most windows; none at 0 and below; all by default. */
  readonly size?: number | undefined;
  /** The URI of the only window to show. */
  readonly window?: string | undefined;
  readonly timeoutMs: number;
}

export interface DirectoryContext extends SharedParts {
  /** The skills that servers list among their resources. */
  readonly skills: ResourceSkills;
  /** `servers`: the MCP server of each tool call, oldest first. */
  readonly history: { readonly servers: readonly string[] };
}

/** The resources of each server of the fleet, in its order of precedence. */
export class ResourceDirectory {
  /** Finds the server of a read. */
  readonly routes: ResourceRoutes;
  readonly #fleet: Fleet;
  readonly #context: DirectoryContext;
  /** The subscriptions of the Agent. */
  readonly #watch: ResourceWatch;
  readonly #servers = new Map<SupervisedServer, ServerResources>();

  constructor(context: DirectoryContext) {
    this.#fleet = context.fleet;
    this.#context = context;
    const { limits: { maxSubscriptions }, onChange } = context;
    this.#watch = new ResourceWatch({ maxSubscriptions, onChange: () => onChange("resources") });
    const getServerResources = (server: SupervisedServer) => this.getServerResources(server);
    this.routes = new ResourceRoutes({ ...context, getServerResources });
  }

  getServerResources(server: SupervisedServer): ServerResources {
    let resources = this.#servers.get(server);
    if (resources === undefined) {
      const parts = { watch: this.#watch, onHostsChange: () => this.routes.update() };
      resources = new ServerResources(server, { ...this.#context, ...parts });
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
    if (this.#fleet.get(server.name) === undefined) this.#watch.forget(server.name);
    this.routes.update();
  }

  /**
   * The windows of a Desktop in its order, before rendering. Each server has its own deadline.
   *
   * @throws {SmcpError} 400 when `window` is not a window URI.
   */
  async windows({ size, window, timeoutMs }: DesktopOptions): Promise<DesktopWindow[]> {
    const identity = window === undefined ? undefined : identityOf(window);
    if (size !== undefined && size <= 0) return [];
    const view = { identity, timeoutMs };
    const windows = (await Promise.all(this.#ordered().map((resources) => resources.windows(view)))).flat();
    const onWarning = ({ code: kind, message, server, uri }: OrganizerWarning) =>
      this.#context.warnOnce.warn(message, { server, uri, kind });
    return arrangeDesktop(windows, { size, history: this.#context.history.servers, onWarning });
  }

  /**
   * Searches the Finder.
   *
   * @param query `timeoutMs`: how long it may take.
   * @throws {SmcpError} 400 for an invalid `offset` or `limit`, too many keywords, or texts that are too long.
   */
  async finder(
    { query: words, ...query }: Omit<FinderQueryOptions, "history"> & {
      /** Words to search in the text of documents, in place of the filters. */
      readonly query?: string | undefined;
      readonly timeoutMs: number;
    },
  ): Promise<FinderPage> {
    const page = words === undefined || words === ""
      ? await this.#list(query)
      : await this.#search(words, query);
    const told = [page.notice, ...this.#ordered().map(({ notice }) => notice)];
    const notices = new Set(told.filter((notice) => notice !== undefined));
    return notices.size === 0 ? page : { ...page, notice: [...notices].join(" ") };
  }

  async #list(
    query: Omit<FinderQueryOptions, "history"> & { readonly timeoutMs: number },
  ): Promise<FinderPage> {
    const shelves = await this.documents(query);
    return await runInTurns(organizeShelves(shelves, { ...query, history: this.#context.history.servers }));
  }

  async #search(
    query: string,
    { offset = 0, limit = DEFAULT_FINDER_LIMIT, timeoutMs }: Pick<FinderQueryOptions, "offset" | "limit"> & {
      readonly timeoutMs: number;
    },
  ): Promise<FinderPage> {
    const found = await Promise.all(this.#ordered().map((resources) => resources.searched({ timeoutMs })));
    const servers = found.filter((server) => server !== undefined);
    const { limits, history } = this.#context;
    const withinMs = Math.min(timeoutMs, limits.viewDeadlineMs);
    // Loaded with the first search: few documents know it.
    const { searchTexts } = await import("./text_search.ts");
    return await searchTexts(servers, { query, offset, limit, history: history.servers, withinMs });
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
    const watch = this.#watch;
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
    for (const watched of this.#watch.delete(uri, mcpServer)) {
      const server = this.#fleet.get(watched.server);
      if (server !== undefined) this.getServerResources(server).unwatch(watched.uri);
    }
  }

  /** The changes since `cursor`, as many as fit into `limitBytes`. */
  updates(cursor: string | undefined, limitBytes: number): WatchedChanges {
    const servers = this.#fleet.servers.map(({ name }) => name);
    return this.#watch.read(cursor, { servers, limitBytes });
  }

  /** Ends all subscriptions of the Agent, which has left or whose office was left. */
  endAgent(): void {
    this.#watch.endOffice();
    for (const resources of this.#servers.values()) resources.unwatchAll();
  }

  #ordered(): ServerResources[] {
    return this.#fleet.servers.map((server) => this.getServerResources(server));
  }
}

function identityOf(window: string): string {
  const identity = window.length > MAX_URI_LENGTH ? undefined : windowIdentity(window);
  if (identity !== undefined) return identity;
  const shown = shorten(window, MAX_SHOWN_URI_LENGTH);
  throw badRequest("window", `Cannot show window "${shown}": invalid window:// URI`);
}
