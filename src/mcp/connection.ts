/** One session with an MCP server, over any transport. */
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ErrorCode as RpcErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { abortable } from "../async/abortable.ts";
import { MAX_TIMER_MS } from "../async/backoff.ts";
import { Deadline } from "../async/deadline.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { describeError } from "../text.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { PACKAGE_VERSION } from "../version.ts";
import {
  type EntryWarning,
  type ListPage,
  type McpTool,
  readAllPages,
  readContents,
  readResourceEntry,
  readTool,
} from "./entries.ts";
import {
  isFailure,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  toFailure,
} from "./errors.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { type HttpListener, type HttpTransport, openHttpTransport } from "./http/transport.ts";
import { Inflow } from "./inflow.ts";
import type { Journal } from "./supervision/journal.ts";
import type { ServerLimits } from "./limits.ts";
import { MeteredTransport } from "./metered_transport.ts";
import { type NotificationListener, readNotification, ThrottledListener } from "./notifications.ts";
import { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** How long a server whose event stream broke may take to show that it still knows the session, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** Whatever the server answers; we look at it ourselves. */
const anyResult = z.looseObject({});

/** Time and cancellation of one request. */
export interface RequestLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What an MCP server says of itself at the start, as far as we ask. */
export interface ServerCapabilities {
  readonly tools: boolean;
  readonly resources: boolean;
  /** `resources.subscribe`: a server without it takes no part in Desktop and Finder. */
  readonly subscribe: boolean;
  /** `resources.listChanged`: a server without it is listed anew for each request. */
  readonly listChanged: boolean;
  /** `completions`. */
  readonly completions: boolean;
}

/** What is listed page by page: the method and the member of its answer. */
const LISTS = {
  tools: { method: "tools/list", member: "tools", what: "tools" },
  resources: { method: "resources/list", member: "resources", what: "resources" },
  templates: {
    method: "resources/templates/list",
    member: "resourceTemplates",
    what: "resource templates",
  },
} as const;

type ListKind = keyof typeof LISTS;

/** What a session needs beyond its configuration. */
export interface ConnectionContext {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** Where its stderr and its log messages go. */
  readonly journal: Journal;
  /** For what a server lists wrongly, each time that it is listed. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
}

/** An initialised session. Its requests throw the errors of `errors.ts`, or the reason of an aborted signal. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: MeteredTransport;
  readonly #notifications: ThrottledListener;
  readonly #maxListBytes: number;
  /** The transport, where it is a process of ours. */
  readonly #child: StdioTransport | undefined;
  readonly #close: () => Promise<void>;
  readonly #log: Logger;
  readonly #warnOnce: WarnOnce;
  readonly #closed = Promise.withResolvers<string>();
  readonly #inFlight = new Set<AbortController>();
  readonly #listBytes = { tools: 0, resources: 0, templates: 0 };
  #goneReason: string | undefined;
  #isInitialised = false;
  #isProbing = false;

  private constructor(config: ResolvedServerConfig, context: ConnectionContext) {
    this.#log = context.log;
    this.#warnOnce = context.warnOnce;
    this.#maxListBytes = context.limits.maxListBytes;
    const { listener, log, limits: { maxNotificationsPerSecond: maxPerSecond } } = context;
    this.#notifications = new ThrottledListener({ listener, maxPerSecond, log });
    this.#client = new Client({ name: "a2c-smcp", version: PACKAGE_VERSION }, { capabilities: {} });
    // Before that, the SDK itself closes what it cannot use, and the reason comes with its error.
    this.#client.onclose = () => {
      if (this.#isInitialised || this.#child !== undefined) this.#end("closed");
    };
    this.#client.onerror = (error) => this.#log.debug("MCP transport error", { error: error.message });
    const hearers = { listener: this.#notifications, journal: context.journal };
    const inflow = new Inflow();
    const { transport, close } = openTransport(config, { ...context, inflow }, {
      onGone: (reason, error) => this.#end(reason, error),
      onStreamBroken: () => this.#probe(),
      onStreamOpened: () => this.#notifications.onNotificationsLost(),
      onAnswerLost: (id) =>
        this.#transport.fail(id, new ServerNotRunningError({ reason: "event stream lost" })),
      onAnswerTooLarge: (id, reason) => {
        log.warn("an answer of the MCP server is not read", { reason });
        this.#transport.fail(id, new ServerAnswerError(RpcErrorCode.ParseError, reason));
      },
    });
    this.#transport = new MeteredTransport(transport, {
      inflow,
      onNotification: (notification) => readNotification(notification, hearers),
    });
    this.#child = transport instanceof StdioTransport ? transport : undefined;
    this.#close = () => close({ isGone: this.#goneReason !== undefined });
  }

  /**
   * Starts the server, or connects to it, and initialises a session.
   *
   * @throws {ConfigurationError} when it can never start like this.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when trying again may help.
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

  /** Resolves to the reason once the session is over. */
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

  /** The end of what a child process wrote to stderr; empty for other transports. */
  get stderrTail(): string {
    return this.#child?.stderrTail ?? "";
  }

  /** How many bytes the last list of that kind had, as far as it was read; 0 before the first. */
  listBytes(kind: "tools" | "resources"): number {
    return this.#listBytes[kind];
  }

  /** All pages of `tools/list`. */
  async listTools(limits: RequestLimits): Promise<McpTool[]> {
    return await this.#listAll("tools", readTool, limits);
  }

  /** All pages of `resources/list`. */
  async listResources(limits: RequestLimits): Promise<McpResource[]> {
    return await this.#listAll("resources", readResourceEntry, limits);
  }

  /** One page of `resources/list` as it came. */
  async listResourcesPage(cursor: string | undefined, limits: RequestLimits): Promise<ListPage> {
    return await this.#listPage("resources", cursor, limits);
  }

  /** All pages of `resources/templates/list`, as they came. */
  async listTemplates(limits: RequestLimits): Promise<unknown[]> {
    return await this.#listAll("templates", (entry) => entry, limits);
  }

  /** One page of `resources/templates/list` as it came. */
  async listTemplatesPage(cursor: string | undefined, limits: RequestLimits): Promise<ListPage> {
    return await this.#listPage("templates", cursor, limits);
  }

  /** `completion/complete` of a resource template; the result as it came. */
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

  /** `tools/call`; the result as it came. */
  async callTool(
    call: { readonly name: string; readonly arguments: Record<string, unknown> },
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    return await this.#request("tools/call", { ...call }, limits);
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

  /** Ends the session and, where it is ours, the process; requests in flight are told the reason. Idempotent. */
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

  /** A server that is gone, or has forgotten the session, shows it at the next request. */
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
    const { [member]: entries, nextCursor } = result;
    return {
      entries: Array.isArray(entries) ? entries : [],
      nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
    };
  }

  async #initialize(limits: RequestLimits): Promise<void> {
    const { timeoutMs, signal: caller } = limits;
    // An event stream may open and never say where to post; the SDK times only the request that follows.
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete "initialize": no answer in ${timeoutMs} ms`),
      signal: caller,
    });
    await this.#limited(
      deadline.signal,
      (signal) => abortable(this.#client.connect(this.#transport, { timeout: MAX_TIMER_MS, signal }), signal),
    );
    this.#isInitialised = true;
  }

  async #request(
    method: string,
    params: Record<string, unknown>,
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    const { timeoutMs: timeout } = limits;
    limits.signal?.throwIfAborted();
    if (this.#goneReason !== undefined) throw new ServerNotRunningError({ reason: this.#goneReason });
    try {
      return await this.#limited(
        limits.signal,
        (signal) => this.#client.request({ method, params }, anyResult, { timeout, signal }),
      );
    } catch (error) {
      throw limits.signal?.aborted ? limits.signal.reason : toFailure(error, method);
    }
  }

  /**
   * Runs something until the caller's signal or the end of the session aborts it. The SDK never takes its listener
   * off a signal and would cancel what is long done, so each request has a signal of its own.
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

  /** A child that ends at once shows first as a broken pipe: its exit says more. */
  #startFailure(error: unknown): unknown {
    const exit = this.#child?.exit;
    if (error instanceof ServerNotRunningError && exit !== undefined) {
      return new ServerNotRunningError({ reason: exit, cause: error, stderrTail: this.stderrTail });
    }
    if (isFailure(error) || error instanceof McpError) return toFailure(error, "initialize");
    return new ServerNotRunningError({
      reason: describeError(error),
      cause: error,
      stderrTail: this.stderrTail,
    });
  }
}

function openTransport(
  config: ResolvedServerConfig,
  context: ConnectionContext & { readonly inflow: Inflow },
  listener: HttpListener,
): HttpTransport {
  const { limits, inflow } = context;
  if (config.type !== "stdio") return openHttpTransport(config, { listener, limits, inflow });
  const transport = new StdioTransport(config.server_parameters, context);
  return { transport, close: () => transport.close() };
}
