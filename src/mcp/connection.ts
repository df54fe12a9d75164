/** One session with an MCP server, over any transport. */
import { Client } from "@modelcontextprotocol/sdk/client";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ErrorCode as RpcErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
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
import { openHttpTransport } from "./http.ts";
import { StdioTransport } from "./stdio.ts";

/** The most pages of one list that are followed: a server may hand out cursors for ever. */
const MAX_LIST_PAGES = 10_000;

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
  readonly #closed = Promise.withResolvers<string>();
  #goneReason: string | undefined;

  private constructor(config: MCPServerConfig, context: ConnectionContext) {
    this.#log = context.log;
    this.#client = new Client({ name: "a2c-smcp", version: PACKAGE_VERSION }, { capabilities: {} });
    this.#client.onclose = () => this.#end("closed");
    this.#client.onerror = (error) => this.#log.debug("MCP transport error", { error: error.message });
    this.#client.fallbackNotificationHandler = (notification) => {
      dispatch(notification, context.listener);
      return Promise.resolve();
    };
    const { transport, close } = openTransport(config, context, (reason) => this.#end(reason));
    this.#transport = transport;
    this.#close = close;
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
    const connection = new McpConnection(config, context);
    try {
      await connection.#client.connect(connection.#transport, {
        timeout: limits.timeoutMs,
        ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      });
      return connection;
    } catch (error) {
      await connection.#close();
      throw connection.#startFailure(error, limits);
    }
  }

  /** Resolves to the reason once the session is over. */
  get closed(): Promise<string> {
    return this.#closed.promise;
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
    this.#end("closed");
    await this.#close();
  }

  #end(reason: string): void {
    if (this.#goneReason !== undefined) return;
    const { exit } = this.#transport instanceof StdioTransport ? this.#transport : { exit: undefined };
    this.#goneReason = exit ?? reason;
    this.#closed.resolve(this.#goneReason);
  }

  async #listAll<T>(
    kind: "tools" | "resources",
    read: (entry: unknown, warn: EntryWarning) => T | undefined,
    limits: RequestLimits,
  ): Promise<T[]> {
    const items: T[] = [];
    const cursors = new Set<string>();
    const warn = (message: string) => this.#log.warn(message);
    let cursor: string | undefined;
    for (let page = 0; page < MAX_LIST_PAGES; page++) {
      const { entries, nextCursor } = await this.#listPage(kind, cursor, limits);
      for (const entry of entries) {
        const item = read(entry, warn);
        if (item !== undefined) items.push(item);
      }
      if (nextCursor === undefined) return items;
      if (cursors.has(nextCursor)) break;
      cursors.add(nextCursor);
      cursor = nextCursor;
    }
    this.#log.warn(`the list of ${kind} never ends; what was read so far is used`, { count: items.length });
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

  async #request(
    method: string,
    params: Record<string, unknown>,
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    limits.signal?.throwIfAborted();
    if (this.#goneReason !== undefined) throw notRunning(method, this.#goneReason);
    try {
      return await this.#client.request({ method, params }, anyResult, {
        timeout: limits.timeoutMs,
        ...(limits.signal === undefined ? {} : { signal: limits.signal }),
      });
    } catch (error) {
      throw this.#toFailure(error, method, limits);
    }
  }

  /** A child that ends at once shows first as a broken pipe or a closed connection: its exit says more. */
  #startFailure(error: unknown, limits: RequestLimits): unknown {
    const exit = this.#transport instanceof StdioTransport ? this.#transport.exit : undefined;
    const isLoss = !(error instanceof McpError) || error.code === RpcErrorCode.ConnectionClosed;
    if (exit === undefined || !isLoss || limits.signal?.aborted) {
      return this.#toFailure(error, "initialize", limits);
    }
    return new ServerNotRunningError(`Cannot start the MCP server: it ended with ${exit}`, {
      cause: error,
      stderrTail: this.stderrTail,
    });
  }

  /** Says what happened in terms that callers tell apart; the SDK says "timeout" of a cancel, too. */
  #toFailure(error: unknown, method: string, limits: RequestLimits): unknown {
    if (limits.signal?.aborted) return limits.signal.reason;
    if (error instanceof ServerAuthorizationError) return error;
    if (this.#goneReason !== undefined) return notRunning(method, this.#goneReason, error);
    if (!(error instanceof McpError)) {
      return error instanceof ConfigurationError ? error : notRunning(method, describeError(error), error);
    }
    if (error.code === RpcErrorCode.RequestTimeout && isRecord(error.data) && "timeout" in error.data) {
      return new ServerTimeoutError(`Cannot complete "${method}": no answer in ${limits.timeoutMs} ms`, {
        cause: error,
      });
    }
    const message = error.message.replace(/^MCP error -?\d+: /, "");
    return new ServerAnswerError(error.code, message, { data: error.data, cause: error });
  }
}

function openTransport(
  config: MCPServerConfig,
  context: ConnectionContext,
  onGone: (reason: string) => void,
): { readonly transport: Transport; readonly close: () => Promise<void> } {
  if (config.type !== "stdio") return openHttpTransport(config, onGone);
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

function notRunning(method: string, reason: string, cause?: unknown): ServerNotRunningError {
  return new ServerNotRunningError(`Cannot complete "${method}": the MCP server has gone (${reason})`, {
    cause,
  });
}

/** Contents without a URI cannot be told apart; the rest is for whoever renders them. */
function isContents(contents: unknown): contents is ResourceContents {
  return isRecord(contents) && typeof contents["uri"] === "string";
}
