/** What one MCP server lists as its resources, and whether that list still holds. */
import { settledWithin } from "../../async/abortable.ts";
import { Throttle } from "../../async/throttle.ts";
import { relistIntervalMs } from "../../mcp/limits.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
import type { McpResource } from "../../protocol/resources.ts";
import type { SortedResources } from "./kinds.ts";

/** What a list needs. */
export interface ResourceListContext {
  readonly server: SupervisedServer;
  /** How long one list may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Works through a list before it holds. */
  readonly sort: (resources: readonly McpResource[]) => Promise<SortedResources>;
  readonly onList: (resources: SortedResources) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Lists when it must, once at a time, and at a bounded pace however often a change is told. */
export class ResourceList {
  readonly #context: ResourceListContext;
  readonly #relist = new Throttle(
    () => this.#listInBackground(),
    () => relistIntervalMs(this.#context.server.connection?.listBytes("resources") ?? 0),
  );
  #isFresh = false;
  /** A change was told since the last list was asked for. */
  #hasChanged = false;
  /** The list let a request wait in vain; until it is answered no other one waits for it. */
  #isLate = false;
  #listing: Promise<void> | undefined;

  constructor(context: ResourceListContext) {
    this.#context = context;
  }

  /** A new session: lists anew. */
  restart(): void {
    this.#isFresh = false;
    this.#isLate = false;
    // A list of the last session may still be on its way.
    if (this.#listing !== undefined) this.#hasChanged = true;
    this.#listInBackground();
  }

  /** `notifications/resources/list_changed`. */
  onChanged(): void {
    this.#isFresh = false;
    this.#hasChanged = true;
    this.#relist.request();
  }

  /** The server is failed or stopped: nothing is left to be listed until it runs again. Idempotent. */
  onStopped(): void {
    this.#hasChanged = false;
    this.#relist.cancel();
  }

  /** Lists anew where the list may have changed; tells whether it was answered in time. */
  async refresh(withinMs: number): Promise<boolean> {
    const { server, onFailure } = this.#context;
    const isListed = server.state.status === "running" && server.connection?.capabilities.resources === true;
    if (this.#isFresh || !isListed) return true;
    const listing = this.#list().catch(onFailure).then(() => true);
    if (!this.#isLate && await settledWithin(listing, withinMs)) return true;
    this.#isLate = true;
    return false;
  }

  #listInBackground(): void {
    this.#list().catch(this.#context.onFailure);
  }

  /** What changes while it lists is listed after it. */
  #list(): Promise<void> {
    return this.#listing ??= this.#listOnce().finally(() => {
      this.#listing = undefined;
      if (this.#hasChanged) this.#relist.request();
    });
  }

  async #listOnce(): Promise<void> {
    this.#hasChanged = false;
    const { server, timeoutMs, sort, onList } = this.#context;
    const { connection: session } = server;
    const resources = await sort(
      await server.use((connection) => connection.listResources({ timeoutMs })),
    );
    if (session !== server.connection) return;
    // Nothing tells of changes to the list of a server without listChanged: the next request asks again.
    this.#isFresh = !this.#hasChanged && server.connection?.capabilities.listChanged === true;
    this.#isLate = false;
    onList(resources);
  }
}
