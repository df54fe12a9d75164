/** The resources of one MCP server: its list, its windows and documents, and their changes. */
import { forEachBounded } from "../../async/limiter.ts";
import { visitInTurns } from "../../async/turns.ts";
import { ServerNotRunningError } from "../../mcp/errors.ts";
import type { McpConnection } from "../../mcp/connection.ts";
import { ServerList } from "../../mcp/server_list.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import type { DocumentShelf } from "../../organizer/finder.ts";
import type { McpResource, ResourceContents } from "../../protocol/resources.ts";
import { SKILL_SCHEME } from "../../protocol/skills.ts";
import { describeError } from "../../text/text.ts";
import { logCommandFor } from "../shared/failures.ts";
import type { FreshValue } from "./cache.ts";
import { ServerDocuments } from "./documents.ts";
import type { SearchedServer } from "./text_search.ts";
import type { SharedParts } from "../shared/shared_parts.ts";
import { keysDiffer, MAX_HOSTS, NO_RESOURCES, sameWindows, SortedResources, warnOfList } from "./kinds.ts";
import { type ResourceUri, tryParseResourceUri } from "./resource_uri.ts";
import type { ResourceWatch } from "./watch.ts";
import { ServerWindows } from "./windows.ts";
import { Subscriptions } from "./subscriptions.ts";

/** What a server's list says about a URI. */
export interface KnownResource {
  /** The URI as the server lists it, or as it was requested where the server does not list it. */
  readonly spelling: string;
  /** Whether the server lists the window, or the document that the URI belongs to. */
  readonly isListed: boolean;
  /** Returns how many pages that document has, if known. */
  readonly pageCount?: () => number | undefined;
}

/** Receives what servers list and change below `skill://`. */
export interface ResourceSkills {
  /** Whether lists are followed for the sake of skills, also of servers without subscriptions. */
  readonly isAsked: boolean;
  take(server: SupervisedServer, resources: SortedResources["skills"]): void;
  onUpdated(server: SupervisedServer, uri: string): void;
  onListChanged(server: SupervisedServer): void;
}

export interface ServerResourcesContext extends SharedParts {
  /** The skills that servers list among their resources. */
  readonly skills: ResourceSkills;
  /** The Agent's subscriptions; receives what changed. */
  readonly watch: ResourceWatch;
  /** The server listed a new host, or announces another `resources.subscribe` than in its last session. */
  readonly onHostsChange: () => void;
}

/**
 * Lists the resources of one server, and keeps its windows and document summaries. Only a server that announces
 * `resources.subscribe` takes part in Desktop and Finder (`docs/protocol/desktop.md#required-capability`); every server
 * can be read from.
 */
export class ServerResources {
  readonly server: SupervisedServer;
  readonly #context: ServerResourcesContext;
  readonly #list: ServerList<McpResource, SortedResources>;
  readonly #subscriptions: Subscriptions;
  readonly #windows: ServerWindows;
  readonly #documents: ServerDocuments;
  readonly #hosts = new Set<string>();
  #listed: SortedResources = NO_RESOURCES;
  /**
   * Whether Desktop and Finder may show it: its last session announced `resources.subscribe`, and it has neither failed
   * nor been stopped since. It implies `#isSubscribable`, and `#isShown()` implies it.
   */
  #takesPart = false;
  /** Whether its last session announced `resources.subscribe`, also after that has ended; true before the first one. */
  #isSubscribable = true;
  /** No list of this session has arrived yet. */
  #isNewSession = true;

  constructor(server: SupervisedServer, context: ServerResourcesContext) {
    this.server = server;
    this.#context = context;
    const { limits, log, warnOnce } = context;
    const { concurrency, readTimeoutMs: timeoutMs } = limits;
    this.#list = new ServerList({
      server,
      kind: "resources",
      read: (connection) => connection.listResources({ timeoutMs }),
      take: (resources) => this.#sort(resources),
      onList: (listed) => this.#update(listed),
      onFailure: (error) => this.#warnOfFailure("cannot list resources", { error }),
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
        this.#warnOfFailure("cannot read a resource", { uri, error }),
      concurrency,
      now: () => performance.now(),
    };
    const shared = { ...reading, limits, server: server.name, warnOnce };
    this.#windows = new ServerWindows({
      ...shared,
      maxAgeMs: limits.windowMaxAgeMs,
      onLate: () => context.onChange("desktop"),
    });
    this.#documents = new ServerDocuments({
      ...shared,
      onLate: () => context.onChange("finder"),
      maxAgeMs: limits.documentMaxAgeMs,
      subscribe: (uri) => this.#subscriptions.subscribe(uri),
      log,
    });
  }

  /** The hosts that the server has listed since it was configured. */
  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  /**
   * Whether the server announced `resources.subscribe` in its last session. Such servers are listed in the background,
   * and own their hosts before servers that did not announce it.
   */
  get isSubscribable(): boolean {
    return this.#isSubscribable;
  }

  get uris(): string[] {
    return [...this.#listed.windowUris.values(), ...this.#listed.documentUris.values()];
  }

  /** How the server spells a URI, and what is known about its document. */
  find(uri: ResourceUri): KnownResource {
    const { windowUris, documentUris } = this.#listed;
    if (uri.kind === "window") {
      return { spelling: windowUris.get(uri.key) ?? uri.raw, isListed: windowUris.has(uri.key) };
    }
    if (uri.kind === "other") return { spelling: uri.raw, isListed: false };
    return {
      spelling: uri.raw,
      isListed: documentUris.has(uri.key),
      pageCount: () => this.#documents.summaryOf(uri.key)?.page_count,
    };
  }

  /** The windows, or those of `identity`. A window that is not read within the deadline has its last known contents. */
  async windows(
    view: { readonly identity?: string | undefined; readonly timeoutMs: number },
  ): Promise<DesktopWindow[]> {
    const { identity, timeoutMs } = view;
    const isShown = await this.#refresh(timeoutMs, (withinMs) => this.#windows.refresh(withinMs, identity));
    return isShown ? this.#windows.list(identity) : [];
  }

  /** The documents; `undefined` when the server takes no part. Values that are not read in time are the last known ones. */
  async documents(view: { readonly timeoutMs: number }): Promise<DocumentShelf | undefined> {
    const isShown = await this.#refresh(view.timeoutMs, (withinMs) => this.#documents.refresh(withinMs));
    return isShown ? this.#documents.shelf : undefined;
  }

  /** The documents for a search in their texts, as {@linkcode documents}. */
  async searched(view: { readonly timeoutMs: number }): Promise<SearchedServer | undefined> {
    return await this.documents(view) && this.#documents.searched;
  }

  /** See {@linkcode ServerDocuments.notice}. */
  get notice(): string | undefined {
    return this.#isShown() ? this.#documents.notice : undefined;
  }

  /** Lists again if the list may have changed; after the deadline, the request goes on in the background. */
  async refreshList(timeoutMs: number): Promise<void> {
    if (!await this.#list.refresh(this.#within(timeoutMs))) this.#warnOfSlowness();
  }

  /** Starts a new session: subscriptions of the last one are void. */
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
    this.#windows.cache.clearSubscriptions();
    this.#documents.reset();
    this.#rewatch(isSubscribable).catch((error) => this.#warnOfFailure("cannot subscribe again", { error }));
    if (!isSubscribable) this.#listed = NO_RESOURCES;
    // A server without subscriptions shows nothing, so it is listed only for skills, and to look for the host of a read.
    if (isSubscribable || this.#context.skills.isAsked === true) this.#list.restart();
    else this.#list.expire();
  }

  /** `notifications/resources/list_changed`. */
  onListChanged(): void {
    const { skills, watch } = this.#context;
    if (this.#isSubscribable || skills.isAsked) this.#list.onChanged();
    skills.onListChanged(this.server);
    watch.onListChanged(this.server.name);
  }

  /** Notifications may have been lost: lists and reads everything again. The subscriptions stay. */
  onNotificationsLost(): void {
    this.#context.watch.onAllUpdated(this.server.name);
    if (!this.#takesPart || this.server.connection === undefined) return;
    this.#windows.cache.invalidateAll();
    this.#documents.cache.invalidateAll();
    this.#list.onChanged();
  }

  /** The server has failed or was stopped: its resources are hidden until it runs again. Idempotent. */
  onStopped(): void {
    this.#list.onStopped();
    this.#hide();
  }

  #hide(): void {
    if (!this.#takesPart) return;
    this.#takesPart = false;
    if (this.#listed.windows.length > 0) this.#context.onChange("desktop");
    if (this.#listed.documentUris.size > 0) this.#context.onChange("finder");
    this.#context.watch.onListChanged(this.server.name);
  }

  /** Subscribes for the Agent, unless the session is subscribed; rejects when the server refuses. */
  async watch(uri: string, limits: { readonly timeoutMs: number }): Promise<void> {
    await this.#subscriptions.insist(uri, limits);
  }

  /** Ends a subscription of the Agent, unless Desktop or Finder need it. */
  unwatch(uri: string): void {
    if (!this.#isWanted(uri)) void this.#subscriptions.release(uri);
  }

  /** Ends all subscriptions that only the Agent needed. */
  unwatchAll(): void {
    if (this.#takesPart) this.#followSubscriptions();
  }

  /** Renews the Agent's subscriptions of the last session, and reports all of them as changed. */
  async #rewatch(isSubscribable: boolean): Promise<void> {
    const { watch, limits: { concurrency } } = this.#context;
    const { name } = this.server;
    const uris = watch.urisOf(name);
    if (isSubscribable) {
      await forEachBounded(uris, concurrency, async (uri) => {
        if (!watch.urisOf(name).has(uri) || await this.#subscriptions.subscribe(uri)) return;
        this.#context.warnOnce.warn("cannot subscribe again for the Agent", { server: name, uri });
      });
    }
    watch.onAllUpdated(name);
  }

  /** Handles `notifications/resources/updated`. A page or element changes its document, a host's own URI all documents. */
  onUpdated(raw: string): void {
    this.#context.watch.onUpdated(this.server.name, raw);
    if (raw.startsWith(SKILL_SCHEME)) this.#context.skills.onUpdated(this.server, raw);
    if (!this.#takesPart) return;
    const uri = tryParseResourceUri(raw);
    if (uri?.kind === "window") {
      const listed = this.#listed.windowUris.get(uri.key);
      if (listed !== undefined) this.#windows.cache.invalidate(listed);
      this.#context.onChange("desktop");
    } else if (uri?.kind === "dpe") {
      this.#documents.invalidate(uri.key);
      this.#context.onChange("finder");
    }
  }

  /** A server that is starting again or retrying shows its last known windows and documents. */
  #isShown(): boolean {
    const { status } = this.server.state;
    return this.#takesPart && status !== "failed" && status !== "stopped";
  }

  #within(timeoutMs: number): number {
    return Math.min(timeoutMs, this.#context.limits.viewDeadlineMs);
  }

  /** Brings the list and then the values up to date within one deadline; returns whether the server shows anything. */
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
    const sorted = new SortedResources(this.#context.limits);
    await visitInTurns(resources, (resource) => sorted.add(resource));
    return sorted;
  }

  #update(listed: SortedResources): void {
    const before = this.#listed;
    this.#listed = listed;
    const newHosts = [...listed.hosts.difference(this.#hosts)].slice(0, MAX_HOSTS - this.#hosts.size);
    for (const host of newHosts) this.#hosts.add(host);
    if (newHosts.length > 0) this.#context.onHostsChange();
    const isShown = this.#takesPart;
    warnOfList(listed, { ...this.#context, server: this.server.name, isShown });
    this.#context.skills.take(this.server, listed.skills);
    if (!this.#takesPart) return;
    this.#windows.follow(listed.windows);
    this.#documents.follow(listed.documentUris);
    this.#followSubscriptions();
    this.#tellChanges(before, listed);
  }

  #isWanted(raw: string): boolean {
    if (this.#documents.catalogueUris.has(raw)) return true;
    const uri = tryParseResourceUri(raw);
    const { windowUris, documentUris } = this.#listed;
    if (uri?.kind === "window") return windowUris.get(uri.key) === raw;
    return uri?.kind === "dpe" && documentUris.get(uri.key) === raw;
  }

  /** Subscribes to what is listed; keeps the hosts' own URIs, which Level 0 is read from, and the Agent's subscriptions. */
  #followSubscriptions(): void {
    const { windows, documentUris } = this.#listed;
    const wanted = new Set(windows.map(({ uri }) => uri)).union(new Set(documentUris.values()));
    const kept = new Set(this.#documents.catalogueUris).union(this.#context.watch.urisOf(this.server.name));
    this.#subscriptions.follow(wanted, kept).then(() => this.#verify())
      .catch((error) => this.#warnOfFailure("cannot subscribe", { error }));
  }

  /** Reads again what was read before its subscription, and announces the difference. */
  async #verify(): Promise<void> {
    const { limits, onChange } = this.#context;
    if (this.server.state.status !== "running") return;
    const [hasNewWindows, hasNewDocuments] = await Promise.all([
      this.#windows.cache.verify(limits.viewDeadlineMs),
      this.#documents.cache.verify(limits.viewDeadlineMs),
    ]);
    if (hasNewWindows) onChange("desktop");
    if (hasNewDocuments) onChange("finder");
  }

  #tellChanges(before: SortedResources, listed: SortedResources): void {
    // Changes between two sessions are not announced by the server.
    const isReturn = this.#isNewSession;
    this.#isNewSession = false;
    const hasNewWindows = !sameWindows(before.windows, listed.windows) ||
      isReturn && listed.windows.length > 0;
    const hasNewDocuments = keysDiffer(before.documentUris, listed.documentUris) ||
      isReturn && listed.documentUris.size > 0;
    if (hasNewWindows) this.#context.onChange("desktop");
    if (hasNewDocuments) this.#context.onChange("finder");
    if (isReturn) this.#context.watch.onListChanged(this.server.name);
    const { log } = this.#context;
    const server = this.server.name;
    if (!hasNewWindows) {
      log.debug("the listed windows are the same", { server, count: listed.windows.length });
    }
    if (!hasNewDocuments) {
      log.debug("the listed documents are the same", { server, count: listed.documentUris.size });
    }
  }

  #onSubscribed(raw: string): void {
    const uri = tryParseResourceUri(raw);
    if (uri?.kind === "window") this.#windows.cache.markSubscribed(raw);
    else if (uri?.kind === "dpe") this.#documents.markSubscribed(raw);
  }

  async #read(uri: string): Promise<FreshValue<readonly ResourceContents[]>> {
    const limits = { timeoutMs: this.#context.limits.readTimeoutMs };
    return await this.server.use(async (connection) => {
      const result = await connection.readResource(uri, limits);
      return { value: result.contents, freshMs: connection.freshMsOf(result) };
    });
  }

  /** Logs a failed list or read, unless the server is not running, which its state shows. */
  #warnOfFailure(message: string, { uri, error }: { readonly uri?: string; readonly error: unknown }): void {
    if (error instanceof ServerNotRunningError) return;
    const server = this.server.name;
    const see = logCommandFor(error, server);
    this.#context.warnOnce.warn(message, { server, uri, error: describeError(error), see });
  }

  #warnOfSlowness(): void {
    const { log } = this.#context;
    log.warn("MCP server is slow; its last known windows and documents are used", {
      server: this.server.name,
    });
  }
}
