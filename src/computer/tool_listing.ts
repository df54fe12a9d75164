/** The tools of one MCP server, listed in each session and after each change. */
import { Backoff, type BackoffOptions } from "../async/backoff.ts";
import { Throttle } from "../async/throttle.ts";
import type { Logger } from "../log.ts";
import type { McpTool } from "../mcp/entries.ts";
import { ServerNotRunningError } from "../mcp/errors.ts";
import type { SupervisedServer } from "../mcp/supervised_server.ts";
import { describeError } from "../protocol/errors.ts";

/** The shortest time between two lists that a server's notifications ask for, in milliseconds. */
const RELIST_INTERVAL_MS = 200;
/** Waits after a list that failed: without its tools a running server is of no use. */
const RETRY_BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 60_000 };

/** What a listing needs. */
export interface ToolListingContext {
  readonly log: Logger;
  /** How long one list may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly onChange: () => void;
}

/** Keeps the last list, also while its server is away. */
export class ToolListing {
  readonly #server: SupervisedServer;
  readonly #context: ToolListingContext;
  readonly #relist = new Throttle(() => this.#list(), RELIST_INTERVAL_MS);
  readonly #backoff = new Backoff(RETRY_BACKOFF);
  #tools: readonly McpTool[] = [];
  #fingerprint = "[]";
  #listing: Promise<void> | undefined;
  #hasChanged = false;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(server: SupervisedServer, context: ToolListingContext) {
    this.#server = server;
    this.#context = context;
  }

  /** What the server listed last. */
  get tools(): readonly McpTool[] {
    return this.#tools;
  }

  /** Resolves when no list is on its way. */
  async settled(): Promise<void> {
    await this.#listing;
  }

  /** A new session. */
  onRunning(): void {
    this.#backoff.reset();
    if (this.#server.connection?.capabilities.tools === true) this.#list();
    else this.#keep([]);
  }

  /** `notifications/tools/list_changed`. */
  onChanged(): void {
    this.#hasChanged = true;
    this.#relist.request();
  }

  /** The server is failed or stopped: nothing is left to be listed until it runs again. Idempotent. */
  onStopped(): void {
    this.#hasChanged = false;
    this.#relist.cancel();
    clearTimeout(this.#retry);
  }

  /** Lists, once at a time; what changes meanwhile is listed after it, at a bounded pace. */
  #list(): void {
    clearTimeout(this.#retry);
    if (this.#server.connection?.capabilities.tools !== true) return;
    this.#listing ??= this.#listOnce().finally(() => {
      this.#listing = undefined;
      if (this.#hasChanged) this.#relist.request();
    });
  }

  async #listOnce(): Promise<void> {
    this.#hasChanged = false;
    const { log, timeoutMs } = this.#context;
    try {
      this.#keep(await this.#server.use((connection) => connection.listTools({ timeoutMs })));
      this.#server.report(undefined);
      this.#backoff.reset();
    } catch (error) {
      if (error instanceof ServerNotRunningError) return;
      this.#server.report(`cannot list tools: ${describeError(error)}`);
      log.warn("cannot list tools", { server: this.#server.name, error: describeError(error) });
      this.#retry = setTimeout(() => this.#list(), this.#backoff.next());
    }
  }

  #keep(tools: readonly McpTool[]): void {
    const fingerprint = JSON.stringify(tools);
    // What was worked out for the tools of an equal list stands: it is kept by these very objects.
    if (fingerprint === this.#fingerprint) return;
    this.#fingerprint = fingerprint;
    this.#tools = tools;
    this.#context.onChange();
  }
}
