/** A server of the SDK, a provider and the SDK's own client, connected within the process. */
import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import { McpError } from "@modelcontextprotocol/sdk/types.js";
import { assertRejects } from "@std/assert";
import { z } from "zod";
import { Provider, type ProviderOptions, type ReadRequest } from "../../../src/provider/mod.ts";

/** Whatever the server answers. */
type Result = Record<string, unknown>;

const anyResult = z.looseObject({});
const MARKER = "marker:";

/** What a test may look into. */
export class Provided implements AsyncDisposable {
  readonly client: Client = new Client({ name: "test", version: "1.0.0" });
  readonly provider: Provider;
  /** What the server's `onerror` was told. */
  readonly errors: Error[];
  /** What the client was told, in order: the method's last word, and the URI. */
  told: string[] = [];
  #onMarker = () => {};

  private constructor(provider: Provider, errors: Error[]) {
    this.provider = provider;
    this.errors = errors;
  }

  /** Connects a client to a new `McpServer` that shows what a provider publishes. */
  static async open(
    publish: (provider: Provider, server: McpServer) => void = () => {},
    options: ProviderOptions = {},
  ): Promise<Provided> {
    const provider = new Provider(options);
    const server = newServer();
    provider.attach(server);
    publish(provider, server);
    return await Provided.connect(provider, server);
  }

  /** Connects a client to a server that is attached already. */
  static async connect(provider: Provider, server: McpServer = attached(provider)): Promise<Provided> {
    const errors: Error[] = [];
    server.server.onerror = (error) => void errors.push(error);
    const provided = new Provided(provider, errors);
    provided.client.fallbackNotificationHandler = ({ method, params }) => {
      if (params?.["uri"] === MARKER) provided.#onMarker();
      else provided.told.push([method.split("/").at(-1), params?.["uri"]].filter(Boolean).join(" "));
      return Promise.resolve();
    };
    const [left, right] = InMemoryTransport.createLinkedPair();
    await server.connect(left);
    await provided.client.connect(right);
    await provided.subscribe(MARKER);
    return provided;
  }

  /** Any request; the result as it came. */
  async request(method: string, params: Record<string, unknown> = {}): Promise<Result> {
    return await this.client.request({ method, params }, anyResult);
  }

  /** The error that a request is answered with. */
  async refusal(method: string, params: Record<string, unknown> = {}): Promise<[number, unknown]> {
    const { code, data } = await assertRejects(() => this.request(method, params), McpError);
    return [code, data];
  }

  async subscribe(...uris: string[]): Promise<void> {
    for (const uri of uris) await this.client.subscribeResource({ uri });
  }

  /** The URIs in `resources/list`, of all pages. */
  async uris(): Promise<string[]> {
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.client.listResources(cursor === undefined ? {} : { cursor });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return uris;
  }

  async text(uri: string): Promise<string> {
    const [content] = (await this.client.readResource({ uri })).contents;
    return content !== undefined && "text" in content ? content.text : "";
  }

  async json(uri: string): Promise<Result> {
    return JSON.parse(await this.text(uri));
  }

  /** What the client was told until now: notifications keep their order, so a marker comes after all of them. */
  async heard(): Promise<string[]> {
    const marked = new Promise<void>((resolve) => this.#onMarker = resolve);
    this.provider.resourceUpdated(MARKER);
    await marked;
    const told = this.told;
    this.told = [];
    return told;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

export function newServer(): McpServer {
  return new McpServer({ name: "server", version: "1.0.0" });
}

/** A request that nobody cancels. */
export const REQUEST: ReadRequest = {
  signal: new AbortController().signal,
  sessionId: undefined,
  authInfo: undefined,
};

function attached(provider: Provider): McpServer {
  const server = newServer();
  provider.attach(server);
  return server;
}
