/** The resources of one MCP server: what it lists, what of that is known to hold, and what changed. */
import { settledWithin } from "../async/abortable.ts";
import { forEachBounded } from "../async/pool.ts";
import { Throttle } from "../async/throttle.ts";
import type { Logger } from "../log.ts";
import type { McpConnection } from "../mcp/connection.ts";
import type { SupervisedServer } from "../mcp/supervised_server.ts";
import type { WarnOnce } from "../mcp/warn_once.ts";
import type { DesktopWindow } from "../organizer/desktop_window.ts";
import type { DPEDocumentSummary } from "../protocol/dpe.ts";
import { describeError } from "../protocol/errors.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { EntryCache } from "./entry_cache.ts";
import { readDocumentSummary } from "./document_summary.ts";
import { documentKey, sameWindows, type SortedResources, sortResources } from "./resource_kinds.ts";
import { windowIdentity } from "../uri/window_identity.ts";

/** The shortest time between two lists that a server's notifications ask for, in milliseconds. */
const RELIST_INTERVAL_MS = 200;

/** Times and bounds of a Computer's reading; each has a default. */
export interface ReadLimits {
  /** How long one list or one read may take, in milliseconds; 10,000 by default. */
  readonly readTimeoutMs: number;
  /** How long a Desktop or Finder request waits for an MCP server, in milliseconds; 5,000 by default. */
  readonly viewDeadlineMs: number;
  /** How many entries of one server are read, or subscribed to, at a time; 8 by default. */
  readonly concurrency: number;
  /** How old a window may be, in milliseconds; 10,000 by default. */
  readonly windowMaxAgeMs: number;
  /** How old a document's summary may be, in milliseconds; 300,000 by default. */
  readonly documentMaxAgeMs: number;
}

/** The defaults of {@linkcode ReadLimits}. */
export const DEFAULT_READ_LIMITS: ReadLimits = {
  readTimeoutMs: 10_000,
  viewDeadlineMs: 5_000,
  concurrency: 8,
  windowMaxAgeMs: 10_000,
  documentMaxAgeMs: 5 * 60_000,
};

/** What a catalogue needs. */
export interface CatalogueContext {
  readonly limits: ReadLimits;
  readonly log: Logger;
  /** For what is wrong with a resource, each time that it is read. */
  readonly warnOnce: WarnOnce;
  readonly onDesktopChange: () => void;
  readonly onFinderChange: () => void;
  /** The server has listed a host for the first time. */
  readonly onHostsChange: () => void;
}

/**
 * What one server lists, and the values behind it. Only a server that announces `resources.subscribe` takes part in
 * Desktop and Finder (`desktop.md` and `finder.md`, 前提条件); the others can be read from all the same.
 */
export class Catalogue {
  readonly server: SupervisedServer;
  readonly #context: CatalogueContext;
  readonly #windows: EntryCache<readonly ResourceContents[]>;
  readonly #documents: EntryCache<DPEDocumentSummary | undefined>;
  readonly #hosts = new Set<string>();
  #listed: SortedResources = sortResources([]);
  #takesPart = false;
  #isListFresh = false;
  /** A change was told since the last list was asked for. */
  #hasChanged = false;
  /** The list let a request wait in vain; until it is answered no other one waits for it. */
  #isListLate = false;
  /** Nothing was listed in this session yet. */
  #isNewSession = true;
  #listing: Promise<void> | undefined;
  #subscriptions = new Set<string>();
  readonly #relist = new Throttle(() => this.#listInBackground(), RELIST_INTERVAL_MS);

  constructor(server: SupervisedServer, context: CatalogueContext) {
    this.server = server;
    this.#context = context;
    const { limits } = context;
    const shared = {
      onFailure: (uri: string, error: unknown) => this.#warn("cannot read a resource", { uri, error }),
      concurrency: limits.concurrency,
      now: () => performance.now(),
    };
    this.#windows = new EntryCache({
      ...shared,
      maxAgeMs: limits.windowMaxAgeMs,
      read: async (uri) => (await this.#read(uri)).contents,
    });
    this.#documents = new EntryCache({
      ...shared,
      maxAgeMs: limits.documentMaxAgeMs,
      read: async (uri) => this.#toSummary(uri, (await this.#read(uri)).contents),
    });
  }

  /** The hosts that the server has listed since it was configured. */
  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  /** The URI under which the server lists the window that `identity` stands for. */
  listedWindow(identity: string): string | undefined {
    return this.#listed.windowUris.get(identity);
  }

  /** Whether the server lists the document that `key` stands for. */
  hasDocument(key: string): boolean {
    return this.#listed.documentUris.has(key);
  }

  /** The server's windows; `identity` asks for one of them. Within the deadline, else as last known. */
  async windows(
    view: { readonly identity?: string | undefined; readonly timeoutMs: number },
  ): Promise<DesktopWindow[]> {
    const { identity, timeoutMs } = view;
    const deadlineMs = this.#deadline(timeoutMs);
    await this.#refreshList(deadlineMs);
    if (!this.#isShown()) return [];
    const resources = identity === undefined
      ? this.#listed.windows
      : this.#listed.windows.filter(({ uri }) => windowIdentity(uri) === identity);
    await this.#refresh(this.#windows, resources.map(({ uri }) => uri), deadlineMs);
    return resources.map((resource) => ({
      server: this.server.name,
      resource,
      contents: this.#windows.get(resource.uri),
    }));
  }

  /** The summaries of the server's documents. Within the deadline, else as last known. */
  async documents(view: { readonly timeoutMs: number }): Promise<DPEDocumentSummary[]> {
    const deadlineMs = this.#deadline(view.timeoutMs);
    await this.#refreshList(deadlineMs);
    if (!this.#isShown()) return [];
    const uris = [...this.#listed.documentUris.values()];
    await this.#refresh(this.#documents, uris, deadlineMs);
    return uris.map((uri) => this.#documents.get(uri)).filter((summary) => summary !== undefined);
  }

  /** Lists anew where the list may have changed. Within the deadline, else in the background. */
  async refreshList(timeoutMs: number): Promise<void> {
    await this.#refreshList(this.#deadline(timeoutMs));
  }

  /** Resolves when no list is on its way. */
  async settled(): Promise<void> {
    await this.#listing?.catch(() => {});
  }

  /** A new session: nothing that was promised in the last one holds. */
  onRunning(connection: McpConnection): void {
    const { resources, subscribe } = connection.capabilities;
    this.#takesPart = resources && subscribe;
    this.#isListFresh = false;
    this.#isListLate = false;
    this.#isNewSession = true;
    this.#subscriptions = new Set();
    this.#windows.clearSubscriptions();
    this.#documents.clearSubscriptions();
    if (resources) this.#listInBackground();
  }

  /** `notifications/resources/list_changed`. */
  onListChanged(): void {
    this.#isListFresh = false;
    this.#hasChanged = true;
    this.#relist.request();
  }

  /** The server is failed or stopped, and will not come back: what it showed leaves. Idempotent. */
  onStopped(): void {
    this.#relist.close();
    if (!this.#takesPart) return;
    this.#takesPart = false;
    if (this.#listed.windows.length > 0) this.#context.onDesktopChange();
    if (this.#listed.documentUris.size > 0) this.#context.onFinderChange();
  }

  /** `notifications/resources/updated`. */
  onUpdated(uri: string): void {
    if (!this.#takesPart) return;
    const identity = windowIdentity(uri);
    const key = documentKey(uri);
    if (identity !== undefined) {
      const listed = this.listedWindow(identity);
      if (listed !== undefined) this.#windows.invalidate(listed);
      this.#context.onDesktopChange();
    } else if (key !== undefined) {
      this.#invalidateDocuments(key);
      this.#context.onFinderChange();
    }
  }

  /** A change of a page or an element concerns its document, one of the host's own URI all of its documents. */
  #invalidateDocuments(key: string): void {
    const { documentUris } = this.#listed;
    const listed = documentUris.get(key);
    if (listed !== undefined) return this.#documents.invalidate(listed);
    for (const [each, uri] of documentUris) if (each.startsWith(`${key}/`)) this.#documents.invalidate(uri);
  }

  #isRunning(): boolean {
    return this.server.state.status === "running";
  }

  /** While it is starting again or retrying, a server's last known windows and documents are served. */
  #isShown(): boolean {
    const { status } = this.server.state;
    return this.#takesPart && status !== "failed" && status !== "stopped";
  }

  #deadline(timeoutMs: number): number {
    return performance.now() + Math.min(timeoutMs, this.#context.limits.viewDeadlineMs);
  }

  async #refresh<V>(cache: EntryCache<V>, uris: readonly string[], deadlineMs: number): Promise<void> {
    if (!this.#isRunning() || await cache.refresh(uris, deadlineMs - performance.now())) return;
    this.#warnOfSlowness();
  }

  #warnOfSlowness(): void {
    const { log } = this.#context;
    log.warn("MCP server is slow, what is known of it so far is served", { server: this.server.name });
  }

  #listInBackground(): void {
    this.#list().catch((error) => this.#warn("cannot list resources", { error }));
  }

  /** Waits for the list, if it must be read, for as long as a request may wait. */
  async #refreshList(deadlineMs: number): Promise<void> {
    if (this.#isListFresh || !this.#isRunning() || this.server.connection?.capabilities.resources !== true) {
      return;
    }
    const listing = this.#list().then(() => true, (error) => {
      this.#warn("cannot list resources", { error });
      return true;
    });
    if (!this.#isListLate && await settledWithin(listing, deadlineMs - performance.now())) return;
    this.#isListLate = true;
    this.#warnOfSlowness();
  }

  /** Lists, once at a time; what changes meanwhile is listed after it, at a bounded pace. */
  #list(): Promise<void> {
    return this.#listing ??= this.#listOnce().finally(() => {
      this.#listing = undefined;
      if (this.#hasChanged) this.#relist.request();
    });
  }

  async #listOnce(): Promise<void> {
    this.#hasChanged = false;
    const { readTimeoutMs: timeoutMs } = this.#context.limits;
    const resources = await this.server.use((connection) => connection.listResources({ timeoutMs }));
    // Nothing tells of changes to the list of a server without listChanged: the next request asks again.
    this.#isListFresh = !this.#hasChanged && this.server.connection?.capabilities.listChanged === true;
    this.#isListLate = false;
    this.#update(resources);
  }

  #update(resources: readonly McpResource[]): void {
    const before = this.#listed;
    const listed = sortResources(resources);
    this.#listed = listed;
    const newHosts = listed.hosts.difference(this.#hosts);
    for (const host of newHosts) this.#hosts.add(host);
    if (newHosts.size > 0) this.#context.onHostsChange();
    for (const uri of listed.invalid) {
      this.#warn("a listed resource has an invalid URI and is left out", { uri });
    }
    if (!this.#takesPart) return;
    // Nobody told what changed between two sessions.
    const isReturn = this.#isNewSession;
    this.#isNewSession = false;
    const hasNewWindows = !sameWindows(before.windows, listed.windows) ||
      isReturn && listed.windows.length > 0;
    const hasNewDocuments = keysDiffer(before.documentUris, listed.documentUris) ||
      isReturn && listed.documentUris.size > 0;
    this.#windows.retain(new Set(listed.windows.map(({ uri }) => uri)));
    this.#documents.retain(new Set(listed.documentUris.values()));
    this.#followSubscriptions().catch((error) => this.#warn("cannot subscribe", { error }));
    if (hasNewWindows) this.#context.onDesktopChange();
    if (hasNewDocuments) this.#context.onFinderChange();
  }

  /** Keeps the subscriptions in step with the list: new ones are subscribed to, those that are gone let go. */
  async #followSubscriptions(): Promise<void> {
    const windows = new Set(this.#listed.windows.map(({ uri }) => uri));
    const wanted = windows.union(new Set(this.#listed.documentUris.values()));
    const session = this.#subscriptions;
    const limits = { timeoutMs: this.#context.limits.readTimeoutMs };
    const added = wanted.difference(session);
    const gone = session.difference(wanted);
    for (const uri of added) session.add(uri);
    for (const uri of gone) session.delete(uri);
    await forEachBounded(added, this.#context.limits.concurrency, async (uri) => {
      try {
        await this.server.use((connection) => connection.subscribe(uri, limits));
        if (session !== this.#subscriptions) return;
        (windows.has(uri) ? this.#windows : this.#documents).markSubscribed(uri);
      } catch (error) {
        this.#context.log.debug("not subscribed, so it is read anew for each request", {
          server: this.server.name,
          uri,
          error: describeError(error),
        });
      }
    });
    await forEachBounded(gone, this.#context.limits.concurrency, async (uri) => {
      await this.server.use((connection) => connection.unsubscribe(uri, limits)).catch(() => {});
    });
  }

  #read(uri: string): Promise<{ contents: ResourceContents[] }> {
    return this.server.use((connection) =>
      connection.readResource(uri, { timeoutMs: this.#context.limits.readTimeoutMs })
    );
  }

  #toSummary(uri: string, contents: readonly ResourceContents[]): DPEDocumentSummary | undefined {
    try {
      return readDocumentSummary(contents, { uri, server: this.server.name });
    } catch (error) {
      this.#warn("a document is left out of the Finder", { uri, error });
      return undefined;
    }
  }

  #warn(message: string, { uri, error }: { readonly uri?: string; readonly error?: unknown }): void {
    this.#context.warnOnce.warn(message, {
      server: this.server.name,
      uri,
      error: error === undefined ? undefined : describeError(error),
    });
  }
}

function keysDiffer(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): boolean {
  return before.size !== after.size || before.keys().some((key) => !after.has(key));
}
