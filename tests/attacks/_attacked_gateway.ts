/** An office with a gateway, a good Computer and a bad one. */
import { InMemoryTransport, type JSONRPCMessage } from "@modelcontextprotocol/server";
import { Agent } from "../../src/agent/agent.ts";
import type { GatewayOptions, Scope } from "../../src/gateway/gateway_options.ts";
import { GatewayCore } from "../../src/gateway/gateway_core.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { type Access, OWNER } from "../../src/http/mcp/access.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { within } from "../fixtures/within.ts";
import { type Answer, ScriptedComputer } from "../integration/_scripted_computer.ts";

const OBJECT = { type: "object" };
/** The document of the good Computer. */
export const GOOD_URI = "dpe://com.example.good/report";

/** A tool as a Computer lists it. */
export function tool(name: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { name, description: name, params_schema: OBJECT, return_schema: null, meta: null, ...more };
}

/** An MCP server as a Computer lists it. */
export function server(name: string): Record<string, unknown> {
  return { mcp_server: name, status: "running", capabilities: { resources: {} } };
}

/** What a Computer answers that has these tools and resources. */
export function answersOf(
  tools: readonly unknown[],
  resources: readonly unknown[],
  more: Record<string, Answer> = {},
): Record<string, Answer> {
  return {
    "client:get_tools": ({ req_id }) => ({ tools, req_id }),
    "client:get_mcp_servers": ({ req_id }) => ({ mcp_servers: [server("files")], req_id }),
    "client:get_resources": ({ req_id }) => ({ resources, req_id }),
    "client:get_resource_templates": ({ req_id }) => ({ resource_templates: [], req_id }),
    "client:get_prompts": ({ req_id }) => ({ prompts: [], req_id }),
    "client:get_windows": ({ req_id }) => ({ windows: [], req_id }),
    "client:get_desktop": ({ req_id }) => ({ desktops: [], req_id }),
    "client:get_finder": ({ req_id }) => ({ documents: [], total_count: 0, req_id }),
    "client:read_resource": ({ uri, req_id }) => ({ contents: [{ uri, text: "read" }], req_id }),
    "client:subscribe_resource": ({ req_id }) => ({ req_id }),
    "client:unsubscribe_resource": ({ req_id }) => ({ req_id }),
    ...more,
  };
}

const GOOD = answersOf([tool("report")], [{ uri: GOOD_URI, name: "Report" }]);

/** A client of the gateway. It accepts what it is asked, and keeps it. */
export class RawClient implements AsyncDisposable {
  readonly asked: Record<string, unknown>[] = [];
  initialized: unknown;
  readonly #waiting = new Map<unknown, (result: unknown) => void>();
  readonly #near: InMemoryTransport;
  readonly #end: () => Promise<void>;
  #last = 0;

  private constructor(near: InMemoryTransport, end: () => Promise<void>) {
    this.#near = near;
    this.#end = end;
    near.onmessage = (message: JSONRPCMessage) => {
      // Over a pipe, the answer would be written as text.
      const { id, method, params, result, error } = JSON.parse(JSON.stringify(message));
      if (method === undefined) return this.#waiting.get(id)?.(result ?? error);
      if (method !== "elicitation/create") return;
      this.asked.push(params);
      void near.send({ jsonrpc: "2.0", id, result: { action: "accept", content: {} } });
    };
  }

  static async open(
    gateway: GatewayCore,
    scope?: Scope,
    { access = OWNER, clientInfo = { name: "test", version: "1" } }: {
      readonly access?: Access;
      readonly clientInfo?: { readonly name: string; readonly version: string };
    } = {},
  ): Promise<RawClient> {
    const [near, far] = InMemoryTransport.createLinkedPair();
    const session = gateway.factory(scope)({ era: "legacy", access: () => access });
    await session.connect(far);
    const client = new RawClient(near, () => session.close());
    await near.start();
    const capabilities = { elicitation: {} };
    client.initialized = await client.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities,
      clientInfo,
    });
    return client;
  }

  // deno-lint-ignore no-explicit-any -- the answers of a test
  async ask(method: string, params: Record<string, unknown> = {}): Promise<any> {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    this.#waiting.set(++this.#last, resolve);
    await this.#near.send({ jsonrpc: "2.0", id: this.#last, method, params });
    return await within(promise, `the answer to ${method}`);
  }

  /** The names of the tools of Computers. */
  async tools(): Promise<string[]> {
    const { tools } = await this.ask("tools/list");
    return tools.filter(({ _meta }: { _meta?: object }) => _meta !== undefined).map((
      { name }: { name: string },
    ) => name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }
}

/** An office with a good Computer, and a bad one that joins first. */
export class AttackedGateway implements AsyncDisposable {
  /** The first client. */
  readonly client: RawClient;
  readonly gateway: GatewayCore;
  readonly good: ScriptedComputer;
  readonly bad: ScriptedComputer;
  readonly log: LogBook;
  /** Where the office is. */
  readonly url: string;
  readonly #all: AsyncDisposableStack;

  private constructor(
    parts: Pick<AttackedGateway, "client" | "gateway" | "good" | "bad" | "log" | "url">,
    all: AsyncDisposableStack,
  ) {
    ({ client: this.client, gateway: this.gateway, good: this.good, bad: this.bad } = parts);
    ({ log: this.log, url: this.url } = parts);
    this.#all = all;
  }

  static async open(bad: Record<string, Answer>, options: GatewayOptions = {}): Promise<AttackedGateway> {
    await using stack = new AsyncDisposableStack();
    const { url } = stack.use(await SmcpServer.listen({ port: 0 }));
    const log = new LogBook();
    const attacker = stack.use(await ScriptedComputer.join(url, { name: "bad", answers: bad }));
    const good = stack.use(await ScriptedComputer.join(url, { name: "good", answers: GOOD }));
    const agent = stack.use(await Agent.connect({ url, office: "lab", name: "ada" }));
    const gateway = stack.use(new GatewayCore(agent, { logger: log, ...options }));
    const client = stack.use(await RawClient.open(gateway));
    return new AttackedGateway({ client, gateway, good, bad: attacker, log, url }, stack.move());
  }

  /** A further client. */
  async newClient(scope?: Scope): Promise<RawClient> {
    return this.#all.use(await RawClient.open(this.gateway, scope));
  }

  /** Asks as the first client. */
  // deno-lint-ignore no-explicit-any -- the answers of a test
  ask(method: string, params: Record<string, unknown> = {}): Promise<any> {
    return this.client.ask(method, params);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}
