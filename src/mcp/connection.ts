/** One session with an MCP server, over any transport. */
import { Client } from "@modelcontextprotocol/sdk/client";
import { z } from "zod";
import { abortable } from "../async/abortable.ts";
import { MAX_TIMER_MS } from "../async/backoff.ts";
import { Deadline } from "../async/deadline.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { describeError } from "../text.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { PACKAGE_VERSION } from "../version.ts";
import type { CallOptions, RequestLimits } from "./call_options.ts";
import {
  type EntryWarning,
  type ListKind,
  type ListPage,
  LISTS,
  type McpTool,
  readAllPages,
  readContents,
  readResourceEntry,
  readTool,
  toListPage,
} from "./entries.ts";
import {
  isFailure,
  isMcpError,
  RpcErrorCode,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  toFailure,
} from "./errors.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import type { HttpListener } from "./http/watched_fetch.ts";
import type { Journal } from "./journal.ts";
import { makeMcpRequest } from "../tracing.ts";
import type { ServerLimits } from "./limits.ts";
import { type MeteredTransport, openTransport } from "./metered_transport.ts";
import { type NotificationListener, readNotification, ThrottledListener } from "./notifications.ts";
import type { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** How long a server may take to answer a ping after its event stream broke, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** Accepts every result: the callers check what they use. */
const anyResult = z.looseObject({});

/** The capabilities of an MCP server that matter here. */
export interface ServerCapabilities {
  readonly tools: boolean;
  readonly resources: boolean;
  /** `resources.subscribe`; without it, Desktop and Finder ignore the server. */
  readonly subscribe: boolean;
  /** `resources.listChanged`; without it, the resources are listed for each request. */
  readonly listChanged: boolean;
  /** `completions`. */
  readonly completions: boolean;
}

/** The context of a session. */
export interface ConnectionContext {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** Receives the stderr and the log messages of the server. */
  readonly journal: Journal;
  /** Logs each malformed entry of a list once, however often the list is read. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
}

/** An initialized session. Its requests throw the errors of `errors.ts`, or the reason of the aborted signal. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: MeteredTransport;
  readonly #notifications: ThrottledListener;
  readonly #maxListBytes: number;
  /** The transport of a child process; `undefined` over HTTP. */
  readonly #child: StdioTransport | undefined;
  readonly #close: () => Promise<void>;
  readonly #spanAttributes: Readonly<Record<string, string>>;
  readonly #log: Logger;
  readonly #warnOnce: WarnOnce;
  readonly #closed = Promise.withResolvers<string>();
  readonly #inFlight = new Set<AbortController>();
  readonly #listBytes = { tools: 0, resources: 0, templates: 0 };
  #goneReason: string | undefined;
  #isInitialized = false;
  #isProbing = false;

  private constructor(config: ResolvedServerConfig, context: ConnectionContext) {
    const { listener, log, journal, limits, guard } = context;
    const { maxNotificationsPerSecond: maxPerSecond } = limits;
    this.#spanAttributes = { "a2c.mcp_server": config.name };
    this.#log = log;
    this.#warnOnce = context.warnOnce;
    this.#maxListBytes = limits.maxListBytes;
    this.#notifications = new ThrottledListener({ listener, maxPerSecond, log });
    this.#client = this.#createClient();
    const { transport, child, close } = openTransport(config, {
      guard,
      log,
      journal,
      limits,
      listener: this.#httpListener(),
      onNotification: (notification) =>
        readNotification(notification, { listener: this.#notifications, journal }),
    });
    this.#transport = transport;
    this.#child = child;
    this.#close = () => close({ isGone: this.#goneReason !== undefined });
  }

  /**
   * Starts the server, or connects to it, and initializes a session.
   *
   * @throws {ConfigurationError} when the configuration can never work.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when another attempt may succeed.
   */
  static async open(
    config: ResolvedServerConfig,
    context: ConnectionContext,
    limits: RequestLimits,
  ): Promise<McpConnection> {
    limits.signal?.throwIfAborted();
    const connection = new McpConnection(config, context);
    try {
      await connection.#initialize(limits);
      return connection;
    } catch (error) {
      await connection.#close();
      throw connection.#startFailure(error);
    }
  }

  #createClient(): Client {
    const client = new Client({ name: "a2c-smcp", version: PACKAGE_VERSION }, { capabilities: {} });
    client.onclose = () => {
      // During initialization the SDK closes a connection that it cannot use, and then throws the reason.
      if (this.#isInitialized || this.#child !== undefined) this.#end("closed");
    };
    client.onerror = (error) => this.#log.debug("MCP transport error", { error: error.message });
    return client;
  }

  #httpListener(): HttpListener {
    return {
      onGone: (reason, error) => this.#end(reason, error),
      onStreamBroken: () => this.#probe(),
      onStreamOpened: () => this.#notifications.onNotificationsLost(),
      onAnswerLost: (id) =>
        this.#transport.fail(id, new ServerNotRunningError({ reason: "event stream lost" })),
      onAnswerTooLarge: (id, reason) => {
        this.#log.warn("dropped an answer of the MCP server: it is too large", { reason });
        this.#transport.fail(id, new ServerAnswerError(RpcErrorCode.PARSE_ERROR, reason));
      },
    };
  }

  /** Resolves to the reason when the session ends. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#goneReason !== undefined;
  }

  get capabilities(): ServerCapabilities {
    const { tools, resources, completions } = this.#client.getServerCapabilities() ?? {};
    return {
      tools: tools !== undefined,
      resources: resources !== undefined,
      subscribe: resources?.subscribe === true,
      listChanged: resources?.listChanged === true,
      completions: completions !== undefined,
    };
  }

  /** The last 8,192 characters that a child process wrote to stderr; empty over HTTP. */
  get stderrTail(): string {
    return this.#child?.stderrTail ?? "";
  }

  /** The size of the last list of that kind, as far as it was read; 0 before the first. */
  listBytes(kind: "tools" | "resources"): number {
    return this.#listBytes[kind];
  }

  /** Reads all pages of `tools/list`. */
  async listTools(limits: RequestLimits): Promise<McpTool[]> {
    return await this.#listAll("tools", readTool, limits);
  }

  /** Reads all pages of `resources/list`. */
  async listResources(limits: RequestLimits): Promise<McpResource[]> {
    return await this.#listAll("resources", readResourceEntry, limits);
  }

  /** Reads one page of `resources/list`, unchecked. */
  async listResourcesPage(cursor: string | undefined, limits: RequestLimits): Promise<ListPage> {
    return await this.#listPage("resources", cursor, limits);
  }

  /** Reads all pages of `resources/templates/list`, unchecked. */
  async listTemplates(limits: RequestLimits): Promise<unknown[]> {
    return await this.#listAll("templates", (entry) => entry, limits);
  }

  /** Reads one page of `resources/templates/list`, unchecked. */
  async listTemplatesPage(cursor: string | undefined, limits: RequestLimits): Promise<ListPage> {
    return await this.#listPage("templates", cursor, limits);
  }

  /** Sends `completion/complete` for a resource template; the result is unchecked. */
  async complete(
    completion: {
      readonly uri: string;
      readonly argument: { readonly name: string; readonly value: string };
      readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
    },
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    const { uri, argument, context } = completion;
    const params = { ref: { type: "ref/resource", uri }, argument, ...(context && { context }) };
    return await this.#request("completion/complete", params, limits);
  }

  /** Sends `tools/call`; the result is unchecked. */
  async callTool(
    call: { readonly name: string; readonly arguments: Record<string, unknown> },
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    return await this.#request("tools/call", { ...call }, options);
  }

  /** `resources/read`. */
  async readResource(
    uri: string,
    limits: RequestLimits,
  ): Promise<{ contents: ResourceContents[]; [key: string]: unknown }> {
    const result = await this.#request("resources/read", { uri }, limits);
    const contents = readContents(result["contents"], (message) => this.#warnOnce.warn(message, { uri }));
    return { ...result, contents };
  }

  /** `resources/subscribe`. */
  async subscribe(uri: string, limits: RequestLimits): Promise<void> {
    await this.#request("resources/subscribe", { uri }, limits);
  }

  /** `resources/unsubscribe`. */
  async unsubscribe(uri: string, limits: RequestLimits): Promise<void> {
    await this.#request("resources/unsubscribe", { uri }, limits);
  }

  /** `ping`. */
  async ping(limits: RequestLimits): Promise<void> {
    await this.#request("ping", {}, limits);
  }

  /** Ends the session and its child process; requests in flight fail with the reason. Idempotent. */
  async close(reason = "closed"): Promise<void> {
    const closing = this.#close();
    this.#end(reason);
    await closing;
  }

  #end(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void {
    if (this.#goneReason !== undefined) return;
    this.#goneReason = this.#child?.exit ?? reason;
    this.#notifications[Symbol.dispose]();
    this.#closed.resolve(this.#goneReason);
    for (const request of this.#inFlight) {
      request.abort(error ?? new ServerNotRunningError({ reason: this.#goneReason }));
    }
  }

  /** Pings the server after its event stream broke: the server may be gone, or may have forgotten the session. */
  #probe(): void {
    if (this.#isProbing || this.#goneReason !== undefined) return;
    this.#isProbing = true;
    this.ping({ timeoutMs: PROBE_TIMEOUT_MS })
      .catch((error) => {
        if (!(error instanceof ServerAnswerError)) this.#end("event stream lost");
      })
      .finally(() => this.#isProbing = false);
  }

  async #listAll<T>(
    kind: ListKind,
    readEntry: (entry: unknown, warn: EntryWarning) => T | undefined,
    { timeoutMs, signal }: RequestLimits,
  ): Promise<T[]> {
    return await readAllPages({
      what: LISTS[kind].what,
      readPage: (cursor, timeoutMs) => this.#listPage(kind, cursor, { timeoutMs, signal }),
      readEntry,
      maxBytes: this.#maxListBytes,
      timeoutMs,
      warn: (message) => this.#warnOnce.warn(message),
      onBytes: (bytes) => void (this.#listBytes[kind] = bytes),
    });
  }

  async #listPage(
    kind: ListKind,
    cursor: string | undefined,
    limits: RequestLimits,
  ): Promise<ListPage> {
    const { method, member } = LISTS[kind];
    const result = await this.#request(method, cursor === undefined ? {} : { cursor }, limits);
    return toListPage(result, member);
  }

  async #initialize(limits: RequestLimits): Promise<void> {
    const { timeoutMs, signal: caller } = limits;
    // An SSE stream may open and never name its endpoint; the SDK limits only the time of the request that follows.
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete "initialize": no answer in ${timeoutMs} ms`),
      signal: caller,
    });
    await this.#limited(
      deadline.signal,
      (signal) => abortable(this.#client.connect(this.#transport, { timeout: MAX_TIMER_MS, signal }), signal),
    );
    this.#isInitialized = true;
  }

  async #request(
    method: string,
    params: Record<string, unknown>,
    limits: CallOptions,
  ): Promise<Record<string, unknown>> {
    const { timeoutMs: timeout, onProgress: onprogress } = limits;
    limits.signal?.throwIfAborted();
    if (this.#goneReason !== undefined) throw new ServerNotRunningError({ reason: this.#goneReason });
    try {
      return await makeMcpRequest(
        method,
        this.#spanAttributes,
        (meta) =>
          this.#limited(limits.signal, (signal) => {
            const request = meta === undefined
              ? { method, params }
              : { method, params: { ...params, _meta: meta } };
            return this.#client.request(request, anyResult, {
              timeout,
              signal,
              ...(onprogress && { onprogress }),
            });
          }),
      );
    } catch (error) {
      throw limits.signal?.aborted ? limits.signal.reason : toFailure(error, method);
    }
  }

  /**
   * Runs a request until the caller's signal or the end of the session aborts it. Each request gets its own signal,
   * since the SDK never removes its listener from a signal, and would cancel requests that have ended.
   */
  async #limited<T>(
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const onAbort = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#inFlight.add(own);
    try {
      return await run(own.signal);
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#inFlight.delete(own);
    }
  }

  /** Prefers the exit of a child over the broken pipe that it caused. */
  #startFailure(error: unknown): unknown {
    const exit = this.#child?.exit;
    if (error instanceof ServerNotRunningError && exit !== undefined) {
      return new ServerNotRunningError({ reason: exit, cause: error, stderrTail: this.stderrTail });
    }
    if (isFailure(error) || isMcpError(error)) return toFailure(error, "initialize");
    return new ServerNotRunningError({
      reason: describeError(error),
      cause: error,
      stderrTail: this.stderrTail,
    });
  }
}
