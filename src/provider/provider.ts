/** Publishes windows and documents to all clients of an MCP server. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
import { answersFor } from "./session/answers.ts";
import type { DocumentSource } from "./documents/source.ts";
import { InterceptedTransport } from "./session/transport.ts";
import { Publications } from "./publications.ts";
import { Documents, type PublishedDocuments } from "./documents/published.ts";
import { Session, topicOf } from "./session/session.ts";
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
}

/** The MCP SDK's `McpServer`, which contains a `Server`. */
export interface SdkMcpServer {
  /** The contained `Server`. */
  readonly server: SdkServer;
}

/** The default of {@linkcode ProviderOptions.pageSize}. */
const DEFAULT_PAGE_SIZE = 1_000;

/** Options of a {@linkcode Provider}. */
export interface ProviderOptions {
  /** The most windows and documents in one page of `resources/list`; 1,000 by default. */
  readonly pageSize?: number | undefined;
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
  readonly #attached = new WeakSet<SdkServer>();
  readonly #pageSize: number;
  readonly #onError: ProviderOptions["onError"];

  /** Throws a RangeError when `pageSize` is not an integer of at least 1. */
  constructor({ pageSize = DEFAULT_PAGE_SIZE, onError }: ProviderOptions = {}) {
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`Cannot use pageSize "${pageSize}": not an integer of at least 1`);
    }
    this.#pageSize = pageSize;
    this.#onError = onError;
  }

  /**
   * Offers everything that this provider publishes, now and later, to the clients of an MCP server. Declares the
   * capabilities `resources.subscribe`, `resources.listChanged` and `completions`. Resources, templates, prompts and
   * completions that are registered with the server itself keep working. `server.transport` will be a wrapper of the
   * transport that the server is connected to.
   *
   * @param server the SDK's `McpServer`, or its low-level `Server`; not yet connected
   * @throws {TypeError} when the server is already connected or attached
   */
  attach(server: SdkMcpServer | SdkServer): void {
    const inner = "server" in server ? server.server : server;
    if (inner.transport !== undefined) {
      throw new TypeError("Cannot attach MCP server: it is already connected; attach it before connect()");
    }
    if (this.#attached.has(inner)) {
      throw new TypeError("Cannot attach MCP server: it is already attached to this provider");
    }
    this.#attached.add(inner);
    inner.registerCapabilities({ resources: { subscribe: true, listChanged: true }, completions: {} });
    // Our `SdkServer` has no parameter type for `connect()`; the SDK's type is used here only.
    const connect = inner.connect.bind(inner) as (transport: Transport) => Promise<void>;
    inner.connect = (transport: Transport) => connect(this.#intercept(transport, inner));
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

  #intercept(transport: Transport, server: SdkServer): Transport {
    const session = new Session({
      send: (notification) => transport.send({ jsonrpc: "2.0", ...notification }),
      report: (error) => intercepted.report(error),
    });
    const answers = answersFor({ publications: this.#publications, session, pageSize: this.#pageSize });
    const intercepted = new InterceptedTransport(transport, {
      answerTo: (method) => answers.get(method),
      onOpen: () => this.#sessions.add(session),
      onInitialized: () => session.markInitialized(),
      onFailure: (error, { method, params }) => {
        const uri = typeof params?.["uri"] === "string" ? params["uri"] : undefined;
        this.#tellAuthor(error, { request: { method, uri }, server });
      },
      onClose: () => {
        this.#sessions.delete(session);
        session.close();
      },
    });
    return intercepted;
  }

  #tellAuthor(
    error: Error,
    { request, server }: { readonly request: FailedRequest; readonly server: SdkServer },
  ): void {
    try {
      if (this.#onError !== undefined) this.#onError(error, request);
      else if (server.onerror === undefined) printFailure(error, request);
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

/** Writes to standard error, because standard output belongs to the protocol. */
function printFailure(error: Error, { method, uri }: FailedRequest): void {
  console.error(`Cannot answer ${method}${uri === undefined ? "" : ` of "${uri}"`}:`, error);
}

/**
 * A provider for one MCP server: `new Provider()` and `attach()` in one call.
 *
 * @param server the SDK's `McpServer`, or its low-level `Server`; not yet connected
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
