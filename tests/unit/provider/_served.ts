/**
 * One provider served by each version of the SDK and in each revision of MCP: the messages themselves, without any
 * client of the SDK in between.
 */
// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport as InMemoryTransport1 } from "@modelcontextprotocol/sdk/inMemory.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer as McpServer1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  createMcpHandler,
  InMemoryTransport as InMemoryTransport2,
  type JSONRPCMessage,
  McpServer as McpServer2,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Provider, type ProviderOptions } from "../../../src/provider/mod.ts";
import { within } from "../../fixtures/within.ts";

/** Whatever a server sends. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** How a provider is served. */
export type Serving = "1.x, 2025" | "2.x, 2025" | "2.x, 2026 on stdio" | "2.x, 2026 over HTTP";

/** All ways of serving. */
export const SERVINGS: readonly Serving[] = [
  "1.x, 2025",
  "2.x, 2025",
  "2.x, 2026 on stdio",
  "2.x, 2026 over HTTP",
];

/** Registers one more resource with the SDK itself, which both versions do alike. */
export interface Author {
  /** Registers a resource of this text; a function is called for each read, and may throw. */
  register(uri: string, text: string | (() => string)): void;
}

/** Whether this serving has a handshake, and requests for subscriptions. */
export function has2025(serving: Serving): boolean {
  return serving.includes("2025");
}

/** A client of one provider. */
export interface Served extends AsyncDisposable {
  readonly provider: Provider;
  /** The answer to a request. */
  request(method: string, params?: Record<string, unknown>): Promise<Message>;
  /** The same without what 2026-07-28 demands in each request. */
  requestBare(method: string, params?: Record<string, unknown>): Promise<Message>;
  /** Subscribes to these resources, and in 2026 to the list as well. */
  follow(...uris: string[]): Promise<void>;
  /** The next notification: the method's last word, and the URI. */
  told(): Promise<string>;
}

/** Serves what is published, and connects. */
export async function serve(
  serving: Serving,
  publish: (provider: Provider, author: Author) => void,
  options: ProviderOptions = {},
): Promise<Served> {
  const provider = new Provider(options);
  const registered: [string, string | (() => string)][] = [];
  publish(provider, { register: (uri, text) => void registered.push([uri, text]) });
  const server2 = () => {
    const server = new McpServer2({ name: "served", version: "2.0.0" });
    provider.attach(server);
    register(server, registered);
    return server;
  };
  switch (serving) {
    case "1.x, 2025": {
      const server = new McpServer1({ name: "served", version: "1.0.0" });
      provider.attach(server);
      register(server, registered);
      const [left, right] = InMemoryTransport1.createLinkedPair();
      await server.connect(left);
      return await Pair.shakeHands(provider, right);
    }
    case "2.x, 2025":
    case "2.x, 2026 on stdio": {
      const [left, right] = InMemoryTransport2.createLinkedPair();
      serveStdio(server2, { transport: left });
      return has2025(serving) ? await Pair.shakeHands(provider, right) : await Pair.open(provider, right);
    }
    case "2.x, 2026 over HTTP": {
      const handler = createMcpHandler(server2, { legacy: "reject" });
      provider.attach(handler);
      return new Requests(provider, handler);
    }
  }
}

function register(
  server: Pick<McpServer1 | McpServer2, "registerResource">,
  resources: readonly [string, string | (() => string)][],
): void {
  for (const [uri, text] of resources) {
    const read = () => ({ contents: [{ uri, text: typeof text === "string" ? text : text() }] });
    if (server instanceof McpServer1) server.registerResource(uri, uri, {}, read);
    else if (server instanceof McpServer2) server.registerResource(uri, uri, {}, read);
  }
}

/** What 2026-07-28 demands in `_meta` of each request. */
const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** The notifications that came, and who waits for the next. */
class Inbox {
  readonly #came: string[] = [];
  #arrival = Promise.withResolvers<void>();

  put({ method, params }: Message): void {
    this.#came.push([method?.split("/").at(-1), params?.["uri"]].filter(Boolean).join(" "));
    this.#arrival.resolve();
    this.#arrival = Promise.withResolvers();
  }

  async next(): Promise<string> {
    while (this.#came.length === 0) await within(this.#arrival.promise, "a notification");
    return this.#came.shift() ?? "";
  }
}

/** A client on the other end of a pair of transports. */
class Pair implements Served {
  readonly provider: Provider;
  readonly #transport: InMemoryTransport1 | InMemoryTransport2;
  readonly #envelope: Record<string, unknown> | undefined;
  readonly #inbox = new Inbox();
  readonly #waiting = new Map<unknown, (message: Message) => void>();
  #lastId = 0;

  private constructor(
    provider: Provider,
    transport: InMemoryTransport1 | InMemoryTransport2,
    envelope?: Record<string, unknown>,
  ) {
    this.provider = provider;
    this.#transport = transport;
    this.#envelope = envelope;
    transport.onmessage = (message: Message) => {
      if (message.method === undefined) this.#waiting.get(message.id)?.(message);
      else if (message.method === "notifications/subscriptions/acknowledged") {
        this.#waiting.get("listen")?.({});
      } else this.#inbox.put(message);
    };
  }

  static async shakeHands(
    provider: Provider,
    transport: InMemoryTransport1 | InMemoryTransport2,
  ): Promise<Served> {
    const pair = new Pair(provider, transport);
    await transport.start();
    const clientInfo = { name: "test", version: "1.0.0" };
    await pair.request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
    await transport.send({ jsonrpc: "2.0", method: "notifications/initialized" });
    return pair;
  }

  static async open(provider: Provider, transport: InMemoryTransport2): Promise<Served> {
    const pair = new Pair(provider, transport, ENVELOPE);
    await transport.start();
    await pair.request("server/discover");
    return pair;
  }

  async request(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    return await this.requestBare(
      method,
      this.#envelope === undefined ? params : { ...params, _meta: this.#envelope },
    );
  }

  async requestBare(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const id = ++this.#lastId;
    const answer = new Promise<Message>((resolve) => this.#waiting.set(id, resolve));
    await this.#send({ jsonrpc: "2.0", id, method, params });
    return await within(answer, `the answer to ${method}`);
  }

  async follow(...uris: string[]): Promise<void> {
    if (this.#envelope === undefined) {
      for (const uri of uris) await this.request("resources/subscribe", { uri });
      return;
    }
    const acknowledged = new Promise<Message>((resolve) => this.#waiting.set("listen", resolve));
    const notifications = { resourcesListChanged: true, resourceSubscriptions: uris };
    const params = { notifications, _meta: this.#envelope };
    await this.#send({ jsonrpc: "2.0", id: "listen", method: "subscriptions/listen", params });
    await within(acknowledged, "the acknowledgement");
  }

  told(): Promise<string> {
    return this.#inbox.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.close();
  }

  async #send(message: JSONRPCMessage): Promise<void> {
    await this.#transport.send(message);
  }
}

/** A client of a handler: a request for each message. */
class Requests implements Served {
  readonly provider: Provider;
  readonly #handler: ReturnType<typeof createMcpHandler>;
  readonly #inbox = new Inbox();
  readonly #listening = new AbortController();
  #reading: Promise<void> = Promise.resolve();

  constructor(provider: Provider, handler: ReturnType<typeof createMcpHandler>) {
    this.provider = provider;
    this.#handler = handler;
  }

  async request(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    return await this.requestBare(method, { ...params, _meta: ENVELOPE });
  }

  async requestBare(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const response = await this.#fetch(method, params);
    return await response.json();
  }

  async follow(...uris: string[]): Promise<void> {
    const notifications = { resourcesListChanged: true, resourceSubscriptions: uris };
    const response = await this.#fetch("subscriptions/listen", { notifications, _meta: ENVELOPE });
    const acknowledged = Promise.withResolvers<void>();
    this.#reading = this.#read(response, acknowledged.resolve);
    await within(acknowledged.promise, "the acknowledgement");
  }

  told(): Promise<string> {
    return this.#inbox.next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening.abort();
    await this.#handler.close();
    await this.#reading;
  }

  async #fetch(method: string, params: Record<string, unknown>): Promise<Response> {
    const name = params["uri"] ?? params["name"];
    const headers = {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(typeof name === "string" ? { "mcp-name": name } : {}),
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const { signal } = this.#listening;
    return await this.#handler.fetch(
      new Request("http://127.0.0.1/mcp", { method: "POST", headers, body, signal }),
    );
  }

  async #read({ body }: Response, onAcknowledged: () => void): Promise<void> {
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      for (const [, json = ""] of text.matchAll(/^data: (.*)$/gm)) {
        const message: Message = JSON.parse(json);
        if (message.method === "notifications/subscriptions/acknowledged") onAcknowledged();
        else if (message.method !== undefined) this.#inbox.put(message);
      }
    }
  }
}
