/** Keeps one list of an MCP server (its tools, resources or skills) up to date. */
import { settledWithin } from "../async/abortable.ts";
import { Backoff, type BackoffOptions } from "../async/backoff.ts";
import { Throttle } from "../async/throttle.ts";
import type { McpConnection } from "./connection.ts";
import { RpcErrorCode } from "../protocol/mcp.ts";
import { ServerAnswerError, ServerNotRunningError } from "./errors.ts";
import { relistIntervalMs } from "./limits.ts";
import type { SupervisedServer } from "./supervision/supervised_server.ts";

/** The longest time for which a list counts as fresh because its server says so, in milliseconds. */
const MAX_FRESH_MS = 5 * 60_000;
/** The shortest time between two requests for a list that could not be read, unless it changed, in milliseconds. */
const UNREADABLE_MS = 10_000;

/** How to read a list, and who receives it. */
export interface ServerListOptions<Entry, List> {
  readonly server: SupervisedServer;
  /** The list, and the capability that a server needs to have one. */
  readonly kind: "tools" | "resources" | "skills";
  readonly read: (connection: McpConnection) => Promise<readonly Entry[]>;
  /** Turns the entries into the list that is kept. */
  readonly take: (entries: readonly Entry[]) => Promise<List>;
  /** Receives each new list of the current session. */
  readonly onList: (list: List) => void;
  /** Receives each failure of the current session, except that the server is not running. */
  readonly onFailure: (error: unknown) => void;
  /** Waits between attempts after a failure. Without it, the next change or {@linkcode ServerList.refresh} tries again. */
  readonly retry?: BackoffOptions | undefined;
}

/**
 * Requests a list at the start of each session, after each change, and when a caller needs it. One request runs at a
 * time, and changes are followed at most once per interval, however many notifications arrive.
 */
export class ServerList<Entry, List> {
  readonly #options: ServerListOptions<Entry, List>;
  readonly #relist = new Throttle(
    () => this.#start(),
    () => relistIntervalMs(this.#options.server.connection?.listBytes(this.#options.kind) ?? 0),
  );
  readonly #backoff: Backoff | undefined;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #listing: Promise<void> | undefined;
  /** No change was announced since the last list, by a server that announces changes or says how long its list holds. */
  #isFresh = false;
  /** Until when the server says that its list holds. */
  #freshUntilMs = Infinity;
  /** A change was announced since the running request began. */
  #hasChanged = false;
  /** A caller gave up waiting for the running request; no other caller waits for it. */
  #isLate = false;

  constructor(options: ServerListOptions<Entry, List>) {
    this.#options = options;
    this.#backoff = options.retry === undefined ? undefined : new Backoff(options.retry);
  }

  /** A new session has begun: lists again. */
  restart(): void {
    this.expire();
    this.#start();
  }

  /** A new session has begun: the next caller lists again. */
  expire(): void {
    this.#backoff?.reset();
    this.#isFresh = false;
    this.#isLate = false;
    // The running request may belong to the last session.
    if (this.#listing !== undefined) this.#hasChanged = true;
  }

  /** Handles `notifications/…/list_changed`. */
  onChanged(): void {
    this.#isFresh = false;
    this.#hasChanged = true;
    this.#relist.request();
  }

  /** The server has failed or was stopped: nothing is requested until the next session. Idempotent. */
  onStopped(): void {
    this.#hasChanged = false;
    this.#relist.cancel();
    clearTimeout(this.#retry);
  }

  /**
   * Lists again if the list may have changed.
   *
   * @returns whether the list is up to date within `withinMs`; otherwise the request goes on in the background
   */
  async refresh(withinMs: number): Promise<boolean> {
    if (this.#isFresh && performance.now() < this.#freshUntilMs) return true;
    if (this.#options.server.state.status !== "running" || !this.#canList) return true;
    const listing = this.#list().then(() => true);
    if (!this.#isLate && await settledWithin(listing, withinMs)) return true;
    this.#isLate = true;
    return false;
  }

  /** Lists again in the background if the server announces no changes, and its list holds no longer as it said. */
  revalidate(): void {
    const { server, kind } = this.#options;
    const { connection } = server;
    if (connection?.listFreshMs(kind) === undefined || connection.announces(kind)) return;
    if (performance.now() >= this.#freshUntilMs) this.#relist.request();
  }

  /** Resolves when the running request has ended. */
  async settled(): Promise<void> {
    await this.#listing;
  }

  get #canList(): boolean {
    const { server, kind } = this.#options;
    return server.connection?.capabilities[kind] === true;
  }

  #start(): void {
    clearTimeout(this.#retry);
    if (this.#canList) void this.#list();
  }

  /** Never rejects. */
  #list(): Promise<void> {
    return this.#listing ??= this.#listOnce().finally(() => {
      this.#listing = undefined;
      if (this.#hasChanged) this.#relist.request();
    });
  }

  async #listOnce(): Promise<void> {
    this.#hasChanged = false;
    const { server, kind, read, take, onList, onFailure } = this.#options;
    const { connection: session } = server;
    const listedAtMs = performance.now();
    try {
      const list = await take(await server.use(read));
      if (session !== server.connection) return;
      // A server without resources.listChanged announces no changes, so the next caller lists again, unless the server
      // says how long its list holds.
      const isAnnounced = kind === "resources" && session?.announces(kind) === true;
      const freshMs = session?.listFreshMs(kind);
      this.#isFresh = (isAnnounced || freshMs !== undefined) && !this.#hasChanged;
      this.#freshUntilMs = freshMs === undefined ? Infinity : listedAtMs + Math.min(freshMs, MAX_FRESH_MS);
      this.#isLate = false;
      this.#backoff?.reset();
      onList(list);
    } catch (error) {
      // The next session lists by itself, and after a stop nothing would cancel the retry.
      if (error instanceof ServerNotRunningError || session !== server.connection) return;
      onFailure(error);
      // A list that is too large is so the next time, too.
      if (error instanceof ServerAnswerError && error.rpcCode === RpcErrorCode.PARSE_ERROR) {
        this.#isFresh = true;
        this.#freshUntilMs = listedAtMs + UNREADABLE_MS;
      }
      if (this.#backoff !== undefined) this.#retry = setTimeout(() => this.#start(), this.#backoff.next());
    }
  }
}
