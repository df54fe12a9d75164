/** What an MCP server shows of windows and documents, to all of its clients. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
import { answersFor } from "./session/answers.ts";
import type { DocumentSource } from "./documents/source.ts";
import { InterceptedTransport } from "./session/transport.ts";
import { Publications } from "./publications.ts";
import { Documents, type PublishedDocuments } from "./documents/published.ts";
import { Session, topicOf } from "./session/session.ts";
import { type PublishedWindow, Window } from "./windows/published.ts";
import { type WindowOptions, windowUriOf } from "./windows/options.ts";

/** The `Server` of the SDK, as a type of our own: it fits every copy and version of the SDK. */
export interface SdkServer {
  /** Its connection; `undefined` as long as there is none. */
  readonly transport?: unknown;
  /** The author's callback for errors. */
  readonly onerror?: unknown;
  /** Says what the server can do, before it is connected. */
  registerCapabilities(capabilities: {
    resources?: { subscribe?: boolean; listChanged?: boolean };
    completions?: Record<string, never>;
  }): void;
  /** Connects it; the argument is the SDK's `Transport`. */
  connect(transport: never): Promise<void>;
}

/** The SDK's `McpServer`, which has a `Server` inside. */
export interface SdkMcpServer {
  /** The server inside. */
  readonly server: SdkServer;
}

/** The default of {@linkcode ProviderOptions.pageSize}. */
const DEFAULT_PAGE_SIZE = 1_000;

/** Settings of a {@linkcode Provider}. */
export interface ProviderOptions {
  /** The most windows and documents in one page of `resources/list`; 1,000 by default. */
  readonly pageSize?: number | undefined;
  /**
   * Called with each error that a callback throws, such as `read()` of a window; its text is never sent to a client. By
   * default the error is written to standard error with its stack, unless the MCP server has an `onerror`.
   */
  readonly onError?: ((error: Error, request: FailedRequest) => void) | undefined;
}

/** The request of a client that a callback failed to answer. */
export interface FailedRequest {
  /** Such as `resources/read`. */
  readonly method: string;
  /** The resource, where the request names one. */
  readonly uri: string | undefined;
}

/**
 * Windows and documents, published to the clients of any number of MCP servers: one for stdio, one for each session
 * of Streamable HTTP. Each client hears of what it subscribed to, and of no more.
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

  /** Throws a RangeError when the page size is no whole number from 1. */
  constructor({ pageSize = DEFAULT_PAGE_SIZE, onError }: ProviderOptions = {}) {
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw new RangeError(`Cannot set page size "${pageSize}": it is no whole number from 1`);
    }
    this.#pageSize = pageSize;
    this.#onError = onError;
  }

  /**
   * Lets the clients of an MCP server see what is published here, now and later. Declares `resources.subscribe`,
   * `resources.listChanged` and `completions`. Resources, templates, prompts and completions that are registered with
   * the server itself, before or after, are served as ever. The transport that the server is connected with gets a
   * wrapping, which is what `server.transport` then is.
   *
   * @param server the SDK's `McpServer`, or its low-level `Server`; not connected yet
   * @throws {TypeError} when the server is connected, or attached already
   */
  attach(server: SdkMcpServer | SdkServer): void {
    const inner = "server" in server ? server.server : server;
    if (inner.transport !== undefined) {
      throw new TypeError("Cannot attach MCP server: it is connected already");
    }
    if (this.#attached.has(inner)) throw new TypeError("Cannot attach MCP server: it is attached already");
    this.#attached.add(inner);
    inner.registerCapabilities({ resources: { subscribe: true, listChanged: true }, completions: {} });
    // The one place where the SDK's type comes in: our own `SdkServer` leaves it out.
    const connect = inner.connect.bind(inner) as (transport: Transport) => Promise<void>;
    inner.connect = (transport: Transport) => connect(this.#intercept(transport, inner));
  }

  /**
   * Publishes a window; every client is told (`list_changed`).
   *
   * @param window its address and name, how it is listed, and its text or where that comes from
   * @returns the handle to update, change and remove it
   * @throws {RangeError} when the priority is not from 0 to 1
   * @throws {TypeError} when the URI is no window URI or has a query, when it is published already, or when anything
   * else is not what its type says
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
   * Publishes the documents of a host at all four levels, with templates for pages and elements, and completion of
   * their parameters; every client is told (`list_changed`).
   *
   * @param source where the documents come from: `list()` and `pages()` at least
   * @returns the handle to tell of changes
   * @throws {TypeError} when the source has no `list()`, or neither `pages()` nor `page()`, when its host can be no
   * host, or has documents already
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
   * Tells every client that subscribed to a resource that it has changed: for resources that are registered with the
   * MCP server itself. Windows and documents have `update()` and `changed()`.
   *
   * @param uri as it is listed
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
      console.error("onError has thrown:", thrown);
    }
  }

  #tellListChanged(): void {
    for (const session of this.#sessions) session.tellListChanged();
  }

  #tellUpdated(topic: string): void {
    for (const session of this.#sessions) session.tellUpdated(topic);
  }
}

/** Standard error is the author's: over stdio, standard output belongs to the protocol. */
function printFailure(error: Error, { method, uri }: FailedRequest): void {
  console.error(`Cannot answer ${method}${uri === undefined ? "" : ` of "${uri}"`}:`, error);
}

/**
 * A provider for one MCP server: `new Provider()` and `attach()` in one call.
 *
 * @param server the SDK's `McpServer`, or its low-level `Server`; not connected yet
 * @throws {TypeError} when the server is connected already
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
