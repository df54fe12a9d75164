/** One session with an MCP server, over any transport. */
import { Client } from "@modelcontextprotocol/sdk/client";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ErrorCode as RpcErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { abortable } from "../async/abortable.ts";
import type { Logger } from "../log.ts";
import type { MCPServerConfig } from "../protocol/config.ts";
import { describeError, isRecord } from "../protocol/errors.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { PACKAGE_VERSION } from "../version.ts";
import { type EntryWarning, type McpTool, readResourceEntry, readTool } from "./entries.ts";
import {
  ConfigurationError,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "./errors.ts";
import type { ProcessGuard } from "./guard.ts";
import { type HttpListener, type HttpTransport, openHttpTransport } from "./http.ts";
import { StdioTransport } from "./stdio.ts";
import type { WarnOnce } from "./warn_once.ts";

/** The most pages of one list that are followed: a server may hand out cursors for ever. */
const MAX_LIST_PAGES = 10_000;
/** The most entries of one list that are kept. */
const MAX_LIST_ENTRIES = 100_000;
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
}

/** What an MCP server may tell at any time. */
export interface NotificationListener {
  onToolsChanged(): void;
  onResourcesChanged(): void;
  onResourceUpdated(uri: string): void;
}

/** What a session needs beyond its configuration. */
export interface ConnectionContext {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** For what a server lists wrongly, each time that it is listed. */
  readonly warnOnce: WarnOnce;
  readonly maxMessageBytes: number;
}

/** A page of a list as it came. */
export interface ListPage {
  readonly entries: readonly unknown[];
  readonly nextCursor: string | undefined;
}

/** An initialised session. Its requests throw the errors of `errors.ts`, or the reason of an aborted signal. */
export class McpConnection {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #close: () => Promise<void>;
  readonly #log: Logger;
  readonly #warnOnce: WarnOnce;
  readonly #closed = Promise.withResolvers<string>();
  readonly #inFlight = new Set<AbortController>();
  #goneReason: string | undefined;
  #isProbing = false;

  private constructor(config: MCPServerConfig, context: ConnectionContext) {
    this.#log = context.log;
    this.#warnOnce = context.warnOnce;
    this.#client = new Client({ name: "a2c-smcp", version: PACKAGE_VERSION }, { capabilities: {} });
    this.#client.onclose = () => this.#end("closed");
    this.#client.onerror = (error) => this.#log.debug("MCP transport error", { error: error.message });
    this.#client.fallbackNotificationHandler = (notification) => {
      dispatch(notification, context.listener);
      return Promise.resolve();
    };
    const { transport, close } = openTransport(config, context, {
      onGone: (reason) => this.#end(reason),
      onStreamBroken: () => this.#probe(),
    });
    this.#transport = transport;
    this.#close = () => close({ isGone: this.#goneReason !== undefined });
  }

  /**
   * Starts the server, or connects to it, and initialises a session.
   *
   * @throws {ConfigurationError} when it can never start like this.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when trying again may help.
   */
  static async open(
    config: MCPServerConfig,
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
    const { tools, resources } = this.#client.getServerCapabilities() ?? {};
    return {
      tools: tools !== undefined,
      resources: resources !== undefined,
      subscribe: resources?.subscribe === true,
      listChanged: resources?.listChanged === true,
    };
  }

  /** The end of what a child process wrote to stderr; empty for other transports. */
  get stderrTail(): string {
    return this.#transport instanceof StdioTransport ? this.#transport.stderrTail : "";
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
    const contents = Array.isArray(result["contents"]) ? result["contents"].filter(isContents) : [];
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

  /** Ends the session and, where it is ours, the process. Idempotent. */
  async close(): Promise<void> {
    const closing = this.#close();
    this.#end("closed");
    await closing;
  }

  #end(reason: string): void {
    if (this.#goneReason !== undefined) return;
    const { exit } = this.#transport instanceof StdioTransport ? this.#transport : { exit: undefined };
    this.#goneReason = exit ?? reason;
    this.#closed.resolve(this.#goneReason);
    for (const request of this.#inFlight) {
      request.abort(new ServerNotRunningError({ reason: this.#goneReason }));
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

  /** Reads pages until the end, or until the time is over: a server may hand out cursors for ever. */
  async #listAll<T>(
    kind: "tools" | "resources",
    read: (entry: unknown, warn: EntryWarning) => T | undefined,
    limits: RequestLimits,
  ): Promise<T[]> {
    const items: T[] = [];
    const cursors = new Set<string>();
    const warn = (message: string) => this.#warnOnce.warn(message);
    const deadlineMs = performance.now() + limits.timeoutMs;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_LIST_PAGES && items.length < MAX_LIST_ENTRIES; page++) {
      const timeoutMs = Math.max(1, deadlineMs - performance.now());
      const { entries, nextCursor } = await this.#listPage(kind, cursor, { ...limits, timeoutMs })
        .catch((error) => {
          if (page > 0 && error instanceof ServerTimeoutError) return { entries: [], nextCursor: cursor };
          throw error;
        });
      for (const entry of entries) {
        const item = read(entry, warn);
        if (item !== undefined) items.push(item);
      }
      if (nextCursor === undefined) return items;
      if (cursors.has(nextCursor) || performance.now() >= deadlineMs) break;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    this.#warnOnce.warn(`the list of ${kind} does not end; what was read so far is used`);
    return items;
  }

  async #listPage(
    kind: "tools" | "resources",
    cursor: string | undefined,
    limits: RequestLimits,
  ): Promise<ListPage> {
    const result = await this.#request(`${kind}/list`, cursor === undefined ? {} : { cursor }, limits);
    const { [kind]: entries, nextCursor } = result;
    return {
      entries: Array.isArray(entries) ? entries : [],
      nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined,
    };
  }

  async #initialize(limits: RequestLimits): Promise<void> {
    const { timeoutMs } = limits;
    await this.#limited(limits.signal, async (signal, own) => {
      // An event stream may open and never say where to post; the SDK times only the request that follows.
      const timer = setTimeout(() => own.abort(noAnswer("initialize", timeoutMs)), timeoutMs);
      try {
        await abortable(this.#client.connect(this.#transport, { timeout: timeoutMs, signal }), signal);
      } finally {
        clearTimeout(timer);
      }
    });
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
      throw limits.signal?.aborted ? limits.signal.reason : this.#toFailure(error, method, timeout);
    }
  }

  /**
   * Runs something until the caller's signal or the end of the session aborts it. The SDK never takes its listener
   * off a signal and would cancel what is long done, so each request has a signal of its own.
   */
  async #limited<T>(
    signal: AbortSignal | undefined,
    run: (signal: AbortSignal, own: AbortController) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    const onAbort = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#inFlight.add(own);
    try {
      return await run(own.signal, own);
    } catch (error) {
      throw own.signal.aborted ? own.signal.reason : error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#inFlight.delete(own);
    }
  }

  /** A child that ends at once shows first as a broken pipe: its exit says more. */
  #startFailure(error: unknown): unknown {
    const { exit } = this.#transport instanceof StdioTransport ? this.#transport : { exit: undefined };
    if (error instanceof ServerNotRunningError && exit !== undefined) {
      return new ServerNotRunningError(`it ended with ${exit}`, {
        cause: error,
        stderrTail: this.stderrTail,
      });
    }
    if (isFailure(error)) return error;
    if (this.#goneReason !== undefined) {
      return new ServerNotRunningError({ reason: this.#goneReason, cause: error });
    }
    if (error instanceof McpError) return this.#toFailure(error, "initialize", 0);
    return new ServerNotRunningError({
      reason: describeError(error),
      cause: error,
      stderrTail: this.stderrTail,
    });
  }

  /** Says what happened in terms that callers tell apart; the SDK says "timeout" of a cancel, too. */
  #toFailure(error: unknown, method: string, timeoutMs: number): unknown {
    if (isFailure(error)) return error;
    if (this.#goneReason !== undefined) {
      return new ServerNotRunningError({ reason: this.#goneReason, cause: error });
    }
    if (!(error instanceof McpError)) {
      return new ServerNotRunningError({ reason: "its answer cannot be read", cause: error });
    }
    if (error.code === RpcErrorCode.RequestTimeout && isRecord(error.data) && "timeout" in error.data) {
      return noAnswer(method, timeoutMs, error);
    }
    const message = error.message.replace(/^MCP error -?\d+: /, "");
    return new ServerAnswerError(error.code, message, { data: error.data, cause: error });
  }
}

function openTransport(
  config: MCPServerConfig,
  context: ConnectionContext,
  listener: HttpListener,
): HttpTransport {
  if (config.type !== "stdio") return openHttpTransport(config, listener);
  const transport = new StdioTransport(config.server_parameters, context);
  return { transport, close: () => transport.close() };
}

function dispatch(
  notification: { readonly method: string; readonly params?: unknown },
  listener: NotificationListener,
): void {
  switch (notification.method) {
    case "notifications/tools/list_changed":
      return listener.onToolsChanged();
    case "notifications/resources/list_changed":
      return listener.onResourcesChanged();
    case "notifications/resources/updated": {
      const uri = isRecord(notification.params) ? notification.params["uri"] : undefined;
      if (typeof uri === "string") listener.onResourceUpdated(uri);
    }
  }
}

function noAnswer(method: string, timeoutMs: number, cause?: unknown): ServerTimeoutError {
  return new ServerTimeoutError(`Cannot complete "${method}": no answer in ${Math.round(timeoutMs)} ms`, {
    cause,
  });
}

/** Whether callers know the error already. */
function isFailure(error: unknown): boolean {
  return error instanceof ConfigurationError || error instanceof ServerNotRunningError ||
    error instanceof ServerTimeoutError || error instanceof ServerAuthorizationError;
}

/** Contents without a URI cannot be told apart; the rest is for whoever renders them. */
function isContents(contents: unknown): contents is ResourceContents {
  return isRecord(contents) && typeof contents["uri"] === "string";
}
