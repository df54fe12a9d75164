/** Publishes windows and documents to all clients of an MCP server. */
import { STATELESS_VERSION } from "../protocol/mcp.ts";
import { answererFor } from "./session/answerer.ts";
import type { DocumentSource } from "./documents/source.ts";
import { Interception, type SdkTransport, toError } from "./session/transport.ts";
import { Publications } from "./publications.ts";
import { Documents, type PublishedDocuments } from "./documents/published.ts";
import { type Notification, Session, topicOf } from "./session/session.ts";
import { type PublishedWindow, Window } from "./windows/published.ts";
import { type WindowOptions, windowUriOf } from "./windows/options.ts";

/** The MCP SDK's `Server`, as our own type, which any copy and version of the SDK matches. */
export interface SdkServer {
  /** The transport; `undefined` before the server is connected. */
  readonly transport?: unknown;
  /** The SDK's callback for errors, set by the author. */
  readonly onerror?: unknown;
  /** Declares capabilities; only before the server is connected. */
  registerCapabilities(capabilities: {
    resources?: { subscribe?: boolean; listChanged?: boolean };
    completions?: Record<string, never>;
  }): void;
  /** Connects the server to a `Transport` of the SDK. */
  connect(transport: never): Promise<void>;
  /** The revision of MCP that was agreed on; version 1 of the SDK has no such method, and speaks no later than 2025-11-25. */
  getNegotiatedProtocolVersion?(): string | undefined;
}

/** The MCP SDK's `McpServer`, which contains a `Server`. */
export interface SdkMcpServer {
  /** The contained `Server`. */
  readonly server: SdkServer;
}

/**
 * What version 2 of the MCP SDK makes of a function that creates servers (`createMcpHandler`), as our own type. It
 * creates a server for each HTTP request of MCP 2026-07-28, and tells clients of changes by itself.
 */
export interface SdkHandler {
  /** What the clients that listen are told. */
  readonly notify: {
    /** Tells that the list of resources has changed. */
    resourcesChanged(): void;
    /** Tells that a resource has changed. */
    resourceUpdated(uri: string): void;
  };
}

/** The default of {@linkcode ProviderOptions.pageSize}. */
const DEFAULT_PAGE_SIZE = 1_000;

/** Options of a {@linkcode Provider}. */
export interface ProviderOptions {
  /** The most windows and documents in one page of `resources/list`; 1,000 by default. */
  readonly pageSize?: number | undefined;
  /**
   * How long a client of MCP 2026-07-28 may use a window or a document that it has read without reading it again, in
   * milliseconds; 0 by default. A client that listens is notified of changes in any case.
   */
  readonly ttlMs?: number | undefined;
  /**
   * Called with each error that a callback of the author throws, such as `read()` of a window. The message of the error
   * is not sent to the client. By default the error goes to the `onerror` of the MCP server, or, if it has none, is
   * written to standard error with its stack.
   */
  readonly onError?: ((error: Error, request: FailedRequest) => void) | undefined;
}

/** The request during which a callback threw. */
export interface FailedRequest {
  /** The MCP method, such as `resources/read`. */
  readonly method: string;
  /** The URI in the request, if it has one. */
  readonly uri: string | undefined;
}

/**
 * Publishes windows and documents to the clients of any number of MCP servers, for example one for each session of
 * Streamable HTTP. Each client is notified of changes to the resources that it subscribed to.
 *
 * Specification: `docs/protocol/desktop.md#mcp-servers-with-windows` and `docs/protocol/finder.md#mcp-servers-with-documents`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Provider } from "@a2c-smcp/sdk/provider";
 * import { Client } from "@modelcontextprotocol/sdk/client";
 * // @ts-types="@modelcontextprotocol/sdk/inMemory"
 * import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
 * // @ts-types="@modelcontextprotocol/sdk/server/mcp"
 * import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
 *
 * const provider = new Provider();
 * provider.publishWindow({ uri: "window://com.example.app/status", name: "Status", priority: 0.6, text: "idle" });
 *
 * const server = new McpServer({ name: "app", version: "1.0.0" });
 * provider.attach(server);
 * const [left, right] = InMemoryTransport.createLinkedPair();
 * await server.connect(left);
 *
 * const client = new Client({ name: "somebody", version: "1.0.0" });
 * await client.connect(right);
 * const { resources } = await client.listResources();
 * assertEquals(resources[0]?.annotations, { audience: ["assistant"], priority: 0.6 });
 * await client.close();
 * ```
 */
export class Provider {
  readonly #publications = new Publications();
  readonly #sessions = new Set<Session>();
  readonly #attached = new WeakSet<SdkServer | SdkHandler>();
  readonly #pageSize: number;
  readonly #ttlMs: number;
  readonly #onError: ProviderOptions["onError"];

  /** Throws a RangeError when `pageSize` is not an integer of at least 1, or `ttlMs` not one of at least 0. */
  constructor({ pageSize = DEFAULT_PAGE_SIZE, ttlMs = 0, onError }: ProviderOptions = {}) {
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`Cannot use pageSize "${pageSize}": not an integer of at least 1`);
    }
    if (!Number.isSafeInteger(ttlMs) || ttlMs < 0) {
      throw new RangeError(`Cannot use ttlMs "${ttlMs}": not an integer of at least 0`);
    }
    this.#pageSize = pageSize;
    this.#ttlMs = ttlMs;
    this.#onError = onError;
  }

  /**
   * Offers everything that this provider publishes, now and later, to the clients of an MCP server. Declares the
   * capabilities `resources.subscribe`, `resources.listChanged` and `completions`. Resources, templates, prompts and
   * completions that are registered with the server itself keep working.
   *
   * With `createMcpHandler` of version 2 of the SDK, attach each server that the function creates, and once the handler
   * itself: clients of MCP 2026-07-28 hear of changes through the handler.
   *
   * @param target the SDK's `McpServer` or its low-level `Server`, not yet connected; or its handler
   * @throws {TypeError} when the server is already connected, or the server or handler already attached
   */
  attach(target: SdkMcpServer | SdkServer | SdkHandler): void {
    if ("notify" in target) return this.#attachHandler(target);
    const server = "server" in target ? target.server : target;
    if (server.transport !== undefined) {
      throw new TypeError("Cannot attach MCP server: it is already connected; attach it before connect()");
    }
    this.#markAttached(server, "MCP server");
    server.registerCapabilities({ resources: { subscribe: true, listChanged: true }, completions: {} });
    // Our `SdkServer` has no parameter type for `connect()`, since each version of the SDK has another.
    const connect = server.connect.bind(server) as (transport: SdkTransport) => Promise<void>;
    server.connect = async (transport: SdkTransport) => {
      const interception = this.#intercept(transport, server);
      try {
        await connect(transport);
      } catch (error) {
        interception.end();
        throw error;
      }
    };
  }

  /**
   * Publishes a window and notifies every client (`list_changed`).
   *
   * @param window the address, name and layout of the window, and its `text` or `read()`
   * @returns an object to update, change and remove the window
   * @throws {RangeError} when the priority is not from 0 to 1
   * @throws {TypeError} when the URI is not a window URI or has a query, when the window is already published, or when
   * another option has a wrong type
   *
   * @example
   * ```ts
   * import { assertThrows } from "@std/assert";
   * import { Provider } from "@a2c-smcp/sdk/provider";
   *
   * const provider = new Provider();
   * const log = provider.publishWindow({ uri: "window://com.example.app/log", name: "Log", text: "" });
   * log.update("started");
   * assertThrows(
   *   () => provider.publishWindow({ uri: "window://com.example.app/x?priority=1", name: "X", text: "" }),
   *   TypeError,
   *   "a window URI has no query",
   * );
   * ```
   */
  publishWindow(window: WindowOptions): PublishedWindow {
    const published = new Window(windowUriOf(window), window, {
      onTextChange: (uri) => this.#tellUpdated(uri),
      onLookChange: () => this.#tellListChanged(),
      onRemove: (uri) => {
        this.#publications.removeWindow(uri);
        this.#tellListChanged();
      },
    });
    this.#publications.addWindow(published);
    this.#tellListChanged();
    return published;
  }

  /**
   * Publishes the documents of a host at all four levels, with templates for pages and elements and completion of their
   * parameters. Notifies every client (`list_changed`).
   *
   * @param source the source of the documents, with at least `list()` and `pages()` or `page()`
   * @returns an object to announce changes and to remove the documents
   * @throws {TypeError} when the source has no `list()`, or neither `pages()` nor `page()`; when its host is invalid, or
   * already has documents
   */
  publishDocuments(source: DocumentSource): PublishedDocuments {
    const published = new Documents(source, {
      onDocumentChange: (uris) => {
        for (const session of this.#sessions) session.tellDocumentUpdated(uris);
      },
      onListChange: (catalogue) => {
        this.#tellListChanged();
        this.#tellUpdated(catalogue);
      },
      onRemove: (host) => {
        this.#publications.removeDocuments(host);
        this.#tellListChanged();
      },
    });
    this.#publications.addDocuments(published);
    this.#tellListChanged();
    return published;
  }

  /**
   * Notifies the subscribers of a resource that is registered with the MCP server itself that it has changed. For
   * windows and documents, use `update()` and `changed()`.
   *
   * @param uri the URI as listed
   */
  resourceUpdated(uri: string): void {
    this.#tellUpdated(topicOf(uri));
  }

  #attachHandler(handler: SdkHandler): void {
    this.#markAttached(handler, "MCP handler");
    const wire = {
      // A handler may pass notifications on by a broker of the author, which may fail.
      send: async (notification: Notification) => await notify(handler, notification),
      report: (error: unknown) => {
        this.#tellAuthor(toError(error), { request: { method: "subscriptions/listen", uri: undefined } });
      },
    };
    this.#sessions.add(new Session(wire, { isStateless: true }));
  }

  #markAttached(target: SdkServer | SdkHandler, what: string): void {
    if (this.#attached.has(target)) {
      throw new TypeError(`Cannot attach ${what}: it is already attached to this provider`);
    }
    this.#attached.add(target);
  }

  #intercept(transport: SdkTransport, server: SdkServer): Interception {
    const interception: Interception = new Interception(transport, {
      onOpen: () => {
        const wire = {
          send: (notification: Notification) => interception.send({ jsonrpc: "2.0", ...notification }),
          report: (error: unknown) => interception.report(error),
        };
        // Without a revision, there has been no handshake yet.
        const isStateless = (server.getNegotiatedProtocolVersion?.() ?? "") >= STATELESS_VERSION;
        const session = new Session(wire, { isStateless });
        this.#sessions.add(session);
        const context = {
          publications: this.#publications,
          pageSize: this.#pageSize,
          ttlMs: this.#ttlMs,
        };
        return { session, answerTo: answererFor(session, context) };
      },
      onFailure: (error, { method, params }) => {
        const uri = typeof params?.["uri"] === "string" ? params["uri"] : undefined;
        this.#tellAuthor(error, { request: { method, uri }, hasHeard: server.onerror !== undefined });
      },
      onClose: (session) => this.#sessions.delete(session),
    });
    return interception;
  }

  #tellAuthor(
    error: Error,
    { request, hasHeard = false }: { readonly request: FailedRequest; readonly hasHeard?: boolean },
  ): void {
    try {
      if (this.#onError !== undefined) this.#onError(error, request);
      else if (!hasHeard) printFailure(error, request);
    } catch (thrown) {
      console.error("onError threw an error:", thrown);
    }
  }

  #tellListChanged(): void {
    for (const session of this.#sessions) session.tellListChanged();
  }

  #tellUpdated(topic: string): void {
    for (const session of this.#sessions) session.tellUpdated(topic);
  }
}

/** Passes a notification to the clients of a handler that listen to it. */
function notify({ notify }: SdkHandler, { params }: Notification): void {
  if (params === undefined) notify.resourcesChanged();
  else notify.resourceUpdated(params.uri);
}

/** Writes to standard error, because standard output belongs to the protocol. */
function printFailure(error: Error, { method, uri }: FailedRequest): void {
  console.error(`Cannot answer ${method}${uri === undefined ? "" : ` of "${uri}"`}:`, error);
}

/**
 * A provider for one MCP server: `new Provider()` and `attach()` in one call.
 *
 * @param server the `McpServer` of version 1 or 2 of the SDK, or its low-level `Server`; not yet connected
 * @throws {TypeError} when the server is already connected
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { provide } from "@a2c-smcp/sdk/provider";
 * // @ts-types="@modelcontextprotocol/sdk/server/mcp"
 * import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
 *
 * const provider = provide(new McpServer({ name: "app", version: "1.0.0" }));
 * const window = provider.publishWindow({ host: "com.example.app", name: "App", text: "Ready." });
 * assertEquals(window.uri, "window://com.example.app");
 * ```
 */
export function provide(server: SdkMcpServer | SdkServer, options: ProviderOptions = {}): Provider {
  const provider = new Provider(options);
  provider.attach(server);
  return provider;
}
