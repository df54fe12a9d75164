/** The resources of one MCP server: what it lists, what of that is known to hold, and what changed. */
import { forEachBounded } from "../../async/pool.ts";
import { visitInTurns } from "../../async/turns.ts";
import type { Logger } from "../../log.ts";
import type { McpConnection } from "../../mcp/connection.ts";
import { ServerList } from "../../mcp/server_list.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import type { DocumentShelf } from "../../organizer/shelf.ts";
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import { windowIdentity } from "../../uri/window_identity.ts";
import { DocumentView } from "./documents.ts";
import { EntryCache } from "./cache.ts";
import { ByteBudget } from "./byte_budget.ts";
import type { ListLimits, ReadLimits } from "../limits.ts";
import { ListWarnings } from "./list_warnings.ts";
import {
  documentKey,
  keysDiffer,
  MAX_HOSTS,
  NO_RESOURCES,
  ResourceSorter,
  sameWindows,
  type SortedResources,
} from "./kinds.ts";
import type { ResourceWatch } from "./watch.ts";
import { Subscriptions } from "./subscriptions.ts";

/** What a catalogue needs. */
export interface CatalogueContext {
  readonly limits: ReadLimits & ListLimits;
  readonly log: Logger;
  /** For what is wrong with a resource, each time that it is read. */
  readonly warnOnce: WarnOnce;
  readonly onDesktopChange: () => void;
  readonly onFinderChange: () => void;
  /** What the Agent subscribed to; hears of what changed. */
  readonly watch: ResourceWatch;
  /** The server has listed a host for the first time, or takes part otherwise than before. */
  readonly onHostsChange: () => void;
}

/**
 * What one server lists, and the values behind it. Only a server that announces `resources.subscribe` takes part in
 * Desktop and Finder (`docs/protocol/desktop.md#required-capability`); the others can be read from all the same.
 */
export class Catalogue {
  readonly server: SupervisedServer;
  readonly #context: CatalogueContext;
  readonly #list: ServerList<McpResource, SortedResources>;
  readonly #subscriptions: Subscriptions;
  readonly #windows: EntryCache<readonly ResourceContents[]>;
  readonly #documents: DocumentView;
  readonly #hosts = new Set<string>();
  readonly #windowBytes: ByteBudget;
  readonly #warnings: ListWarnings;
  #listed: SortedResources = NO_RESOURCES;
  #takesPart = false;
  #isSubscribable = true;
  /** Nothing was listed in this session yet. */
  #isNewSession = true;

  constructor(server: SupervisedServer, context: CatalogueContext) {
    this.server = server;
    this.#context = context;
    const { limits, log } = context;
    const warnings = this.#warnings = new ListWarnings(server.name, context);
    const { concurrency, readTimeoutMs: timeoutMs } = limits;
    this.#list = new ServerList({
      server,
      kind: "resources",
      read: (connection) => connection.listResources({ timeoutMs }),
      take: (resources) => this.#sort(resources),
      onList: (listed) => this.#update(listed),
      onFailure: (error) => warnings.ofFailure("cannot list resources", { error }),
    });
    this.#subscriptions = new Subscriptions({
      server,
      limits: { timeoutMs },
      concurrency,
      log,
      onSubscribed: (uri) => this.#onSubscribed(uri),
    });
    const reading = {
      read: (uri: string) => this.#read(uri),
      onFailure: (uri: string, error: unknown) =>
        warnings.ofFailure("cannot read a resource", { uri, error }),
      concurrency,
      now: () => performance.now(),
    };
    this.#windowBytes = new ByteBudget({
      eachBytes: limits.maxWindowBytes,
      totalBytes: limits.maxWindowsBytes,
    });
    this.#windows = new EntryCache({
      ...reading,
      maxAgeMs: limits.windowMaxAgeMs,
      read: (uri: string) => this.#readWindow(uri),
      onValue: (uri, contents) => contents === undefined && this.#windowBytes.release(uri),
    });
    this.#documents = new DocumentView({
      ...reading,
      maxAgeMs: limits.documentMaxAgeMs,
      limits,
      server: server.name,
      subscribe: (uri) => this.#subscriptions.subscribe(uri),
      log,
      warnings,
    });
  }

  /** The hosts that the server has listed since it was configured. */
  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  /**
   * Whether the server announced `resources.subscribe` when it ran last: what it lists is then shown, and its hosts are
   * its own before those of servers that do not (`docs/protocol/desktop.md#required-capability`).
   */
  get isSubscribable(): boolean {
    return this.#isSubscribable;
  }

  /** The windows and documents that the server lists. */
  get uris(): string[] {
    return [...this.#listed.windowUris.values(), ...this.#listed.documentUris.values()];
  }

  /** The URI under which the server lists the window that `identity` stands for. */
  listedWindow(identity: string): string | undefined {
    return this.#listed.windowUris.get(identity);
  }

  /** Whether the server lists the document that `key` stands for. */
  hasDocument(key: string): boolean {
    return this.#listed.documentUris.has(key);
  }

  /** How many pages a listed document has, if that is known. */
  pageCount(key: string): number | undefined {
    return this.#documents.summaryOf(key)?.page_count;
  }

  /** The server's windows; `identity` asks for one of them. Within the deadline, else as last known. */
  async windows(
    view: { readonly identity?: string | undefined; readonly timeoutMs: number },
  ): Promise<DesktopWindow[]> {
    const { identity } = view;
    const resources = () =>
      identity === undefined
        ? this.#listed.windows
        : this.#listed.windows.filter(({ uri }) => windowIdentity(uri) === identity);
    const isShown = await this.#refresh(
      view.timeoutMs,
      (withinMs) => this.#windows.refresh(resources().map(({ uri }) => uri), withinMs),
    );
    if (!isShown) return [];
    return resources().map((resource) => ({
      server: this.server.name,
      resource,
      contents: this.#windows.get(resource.uri),
    }));
  }

  /** The server's documents, `undefined` when it shows none. Within the deadline, else as last known. */
  async documents(view: { readonly timeoutMs: number }): Promise<DocumentShelf | undefined> {
    const isShown = await this.#refresh(view.timeoutMs, (withinMs) => this.#documents.refresh(withinMs));
    return isShown ? this.#documents.shelf : undefined;
  }

  /** Lists anew where the list may have changed. Within the deadline, else in the background. */
  async refreshList(timeoutMs: number): Promise<void> {
    if (!await this.#list.refresh(this.#within(timeoutMs))) this.#warnOfSlowness();
  }

  /** A new session: nothing that was promised in the last one holds. */
  onRunning(connection: McpConnection): void {
    const { resources, subscribe } = connection.capabilities;
    const isSubscribable = resources && subscribe;
    if (!isSubscribable) this.#hide();
    else this.#takesPart = true;
    if (isSubscribable !== this.#isSubscribable) {
      this.#isSubscribable = isSubscribable;
      this.#context.onHostsChange();
    }
    this.#isNewSession = true;
    this.#subscriptions.reset();
    this.#windows.clearSubscriptions();
    this.#documents.reset();
    this.#rewatch(isSubscribable).catch((error) =>
      this.#warnings.ofFailure("cannot subscribe again", { error })
    );
    // Without subscriptions nothing is shown, so nothing is listed until somebody reads by a host that nobody has.
    if (isSubscribable) this.#list.restart();
    else this.#listed = NO_RESOURCES;
  }

  /** `notifications/resources/list_changed`. */
  onListChanged(): void {
    if (this.#isSubscribable) this.#list.onChanged();
    else this.#context.watch.onListChanged(this.server.name);
  }

  /** Notifications may have been lost: what they would have told of is looked for. The subscriptions hold. */
  onNotificationsLost(): void {
    this.#context.watch.onAllUpdated(this.server.name);
    if (!this.#takesPart || this.server.connection === undefined) return;
    this.#windows.invalidateAll();
    this.#documents.invalidateAll();
    this.#list.onChanged();
  }

  /** The server is failed or stopped: what it showed leaves, until it runs again. Idempotent. */
  onStopped(): void {
    this.#list.onStopped();
    this.#hide();
  }

  #hide(): void {
    if (!this.#takesPart) return;
    this.#takesPart = false;
    if (this.#listed.windows.length > 0) this.#context.onDesktopChange();
    if (this.#listed.documentUris.size > 0) this.#context.onFinderChange();
    const { others } = NO_RESOURCES;
    if (this.#listed.others === others) return;
    this.#listed = { ...this.#listed, others };
    this.#context.watch.onListChanged(this.server.name);
  }

  /** Subscribes for the Agent, unless the session has that subscription; rejects where the server does not agree. */
  async watch(uri: string, limits: { readonly timeoutMs: number }): Promise<void> {
    await this.#subscriptions.insist(uri, limits);
  }

  /** The Agent does not want it any more; the Desktop or the Finder may. */
  unwatch(uri: string): void {
    if (!this.#isWanted(uri)) void this.#subscriptions.release(uri);
  }

  /** The Agent wants nothing of what it wanted. */
  unwatchAll(): void {
    if (this.#takesPart) this.#followSubscriptions();
  }

  /** What the Agent had subscribed to in the last session; what changed since, nobody told. */
  async #rewatch(isSubscribable: boolean): Promise<void> {
    const { watch, limits: { concurrency } } = this.#context;
    const { name } = this.server;
    const uris = watch.urisOf(name);
    if (isSubscribable) {
      await forEachBounded(uris, concurrency, async (uri) => {
        if (!watch.urisOf(name).has(uri) || await this.#subscriptions.subscribe(uri)) return;
        this.#warnings.warn("cannot subscribe again for the Agent", { uri });
      });
    }
    watch.onAllUpdated(name);
  }

  /** `notifications/resources/updated`. A page or an element concerns its document, the host's own URI all of them. */
  onUpdated(uri: string): void {
    this.#context.watch.onUpdated(this.server.name, uri);
    if (!this.#takesPart) return;
    const identity = windowIdentity(uri);
    const key = documentKey(uri);
    if (identity !== undefined) {
      const listed = this.listedWindow(identity);
      if (listed !== undefined) this.#windows.invalidate(listed);
      this.#context.onDesktopChange();
    } else if (key !== undefined) {
      this.#documents.invalidate(key);
      this.#context.onFinderChange();
    }
  }

  /** While it is starting again or retrying, a server's last known windows and documents are served. */
  #isShown(): boolean {
    const { status } = this.server.state;
    return this.#takesPart && status !== "failed" && status !== "stopped";
  }

  #within(timeoutMs: number): number {
    return Math.min(timeoutMs, this.#context.limits.viewDeadlineMs);
  }

  /** Brings the list and then the values up to date within one deadline; tells whether there is anything to show. */
  async #refresh(timeoutMs: number, refreshValues: (withinMs: number) => Promise<boolean>): Promise<boolean> {
    if (!this.#takesPart) return false;
    const deadlineMs = performance.now() + this.#within(timeoutMs);
    await this.refreshList(timeoutMs);
    if (!this.#isShown()) return false;
    const isRunning = this.server.state.status === "running";
    if (isRunning && !await refreshValues(deadlineMs - performance.now())) this.#warnOfSlowness();
    return true;
  }

  async #sort(resources: readonly McpResource[]): Promise<SortedResources> {
    const sorter = new ResourceSorter(this.#context.limits);
    await visitInTurns(resources, (resource) => sorter.add(resource));
    return sorter.sorted;
  }

  #update(listed: SortedResources): void {
    const before = this.#listed;
    this.#listed = listed;
    const newHosts = [...listed.hosts.difference(this.#hosts)].slice(0, MAX_HOSTS - this.#hosts.size);
    for (const host of newHosts) this.#hosts.add(host);
    if (newHosts.length > 0) this.#context.onHostsChange();
    this.#warnings.ofList(listed, { isShown: this.#takesPart });
    if (!this.#takesPart) return;
    const windowUris = new Set(listed.windows.map(({ uri }) => uri));
    this.#windows.follow(windowUris);
    this.#documents.follow(listed.documentUris);
    this.#followSubscriptions();
    this.#tellChanges(before, listed);
  }

  #isWanted(uri: string): boolean {
    const { windowUris, documentUris } = this.#listed;
    const key = documentKey(uri);
    return windowUris.get(windowIdentity(uri) ?? "") === uri || this.#documents.catalogueUris.has(uri) ||
      key !== undefined && documentUris.get(key) === uri;
  }

  /** The host's own URI is subscribed where Level 0 is read, and stays so, as does what the Agent wants. */
  #followSubscriptions(): void {
    const { windows, documentUris } = this.#listed;
    const wanted = new Set(windows.map(({ uri }) => uri)).union(new Set(documentUris.values()));
    const kept = new Set(this.#documents.catalogueUris).union(this.#context.watch.urisOf(this.server.name));
    this.#subscriptions.follow(wanted, kept).then(() => this.#verify())
      .catch((error) => this.#warnings.ofFailure("cannot subscribe", { error }));
  }

  /** What changed while nobody could be told is told here. */
  async #verify(): Promise<void> {
    const { limits, onDesktopChange, onFinderChange } = this.#context;
    if (this.server.state.status !== "running") return;
    const [hasNewWindows, hasNewDocuments] = await Promise.all([
      this.#windows.verify(limits.viewDeadlineMs),
      this.#documents.verify(limits.viewDeadlineMs),
    ]);
    if (hasNewWindows) onDesktopChange();
    if (hasNewDocuments) onFinderChange();
  }

  #tellChanges(before: SortedResources, listed: SortedResources): void {
    // Nobody told what changed between two sessions.
    const isReturn = this.#isNewSession;
    this.#isNewSession = false;
    const hasNewWindows = !sameWindows(before.windows, listed.windows) ||
      isReturn && listed.windows.length > 0;
    const hasNewDocuments = keysDiffer(before.documentUris, listed.documentUris) ||
      isReturn && listed.documentUris.size > 0;
    if (hasNewWindows) this.#context.onDesktopChange();
    if (hasNewDocuments) this.#context.onFinderChange();
    if (before.others !== listed.others) this.#context.watch.onListChanged(this.server.name);
    const { log } = this.#context;
    const server = this.server.name;
    if (!hasNewWindows) {
      log.debug("the listed windows are the same", { server, count: listed.windows.length });
    }
    if (!hasNewDocuments) {
      log.debug("the listed documents are the same", { server, count: listed.documentUris.size });
    }
  }

  #onSubscribed(uri: string): void {
    if (windowIdentity(uri) !== undefined) this.#windows.markSubscribed(uri);
    else if (documentKey(uri) !== undefined) this.#documents.markSubscribed(uri);
  }

  async #read(uri: string): Promise<readonly ResourceContents[]> {
    const limits = { timeoutMs: this.#context.limits.readTimeoutMs };
    return (await this.server.use((connection) => connection.readResource(uri, limits))).contents;
  }

  /** A window that is too large is shown no more, and told of; the others stay. */
  async #readWindow(uri: string): Promise<readonly ResourceContents[]> {
    const contents = await this.#read(uri);
    if (this.#windowBytes.take(uri, contents)) return contents;
    const { maxWindowBytes, maxWindowsBytes } = this.#context.limits;
    this.#warnings.warn(
      "a window is not shown: it is too large, or the windows of its MCP server together are",
      {
        uri,
        limit: maxWindowBytes,
        limitOfAll: maxWindowsBytes,
      },
    );
    return [];
  }

  #warnOfSlowness(): void {
    const { log } = this.#context;
    log.warn("MCP server is slow; its last known windows and documents are served", {
      server: this.server.name,
    });
  }
}
