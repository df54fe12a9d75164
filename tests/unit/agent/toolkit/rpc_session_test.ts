import { assertEquals, assertMatch } from "@std/assert";
import { RpcSession, type RpcTools } from "../../../../src/agent/toolkit/rpc_session.ts";
import type { Json, McpTool } from "../../../../src/agent/toolkit/mcp.ts";
import { within } from "../../../fixtures/within.ts";

const STATELESS = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } };
const LOOSE: McpTool = { name: "loose", inputSchema: { type: "object" }, outputSchema: { type: "string" } };

interface Reply {
  readonly id?: unknown;
  readonly method?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A session with one tool, whose result is not an object. */
class Client {
  readonly session: RpcSession;
  readonly changed: (() => void)[] = [];
  readonly #sent: Reply[] = [];
  #arrived = Promise.withResolvers<void>();

  constructor(tools: Partial<RpcTools> = {}) {
    this.session = new RpcSession({
      list: () => Promise.resolve([LOOSE]),
      call: () => Promise.resolve({ content: [{ type: "text", text: '"a"' }], structuredContent: "a" }),
      onListChanged: (listener) => {
        this.changed.push(listener);
        return () => this.changed.splice(this.changed.indexOf(listener), 1);
      },
      ...tools,
    }, {
      send: (message) => {
        this.#sent.push(message);
        this.#arrived.resolve();
        this.#arrived = Promise.withResolvers();
      },
    });
  }

  /** The next message. */
  async next(): Promise<Reply> {
    while (this.#sent.length === 0) await within(this.#arrived.promise, "a message of the session");
    return this.#sent.shift() ?? {};
  }

  ask(method: string, params: Json = {}, id: unknown = 1): Promise<Reply> {
    this.session.receive({ jsonrpc: "2.0", id, method, params });
    return this.next();
  }
}

Deno.test("initialize speaks the version of the client, or the newest with sessions", async () => {
  const client = new Client();
  const speak = async (protocolVersion: string) =>
    (await client.ask("initialize", { protocolVersion })).result?.["protocolVersion"];
  assertEquals(await speak("2025-03-26"), "2025-03-26");
  assertEquals(await speak("1999-01-01"), "2025-11-25");
});

Deno.test("a version that is not spoken is refused with those that are", async () => {
  const _meta = { "io.modelcontextprotocol/protocolVersion": "2030-01-01" };
  const { error } = await new Client().ask("tools/list", { _meta });
  assertEquals([error?.code, error?.data], [-32022, { supported: ["2026-07-28"], requested: "2030-01-01" }]);
});

Deno.test("what is not served, and a call that names no tool, are refused", async () => {
  const client = new Client();
  assertEquals((await client.ask("resources/list")).error?.code, -32601);
  assertEquals((await client.ask("tools/call", { name: 1 })).error?.code, -32602);
  assertEquals((await client.ask("tools/call", { name: "loose", arguments: [] })).error?.code, -32602);
  assertEquals((await client.ask("subscriptions/listen", STATELESS)).error?.code, -32602);
  const broken = new Client({ list: () => Promise.reject(new Error("broken")) });
  assertMatch((await broken.ask("tools/list")).error?.message ?? "", /broken/);
});

Deno.test("clients of 2025 get objects alone as structured content and its schema, those of 2026 anything", async () => {
  const client = new Client();
  const call = { name: "loose" };
  assertEquals((await client.ask("tools/list")).result, {
    tools: [{ name: "loose", inputSchema: { type: "object" } }],
  });
  assertEquals((await client.ask("tools/call", call)).result, { content: [{ type: "text", text: '"a"' }] });
  const { result: list } = await client.ask("tools/list", STATELESS);
  assertEquals([list?.["tools"], list?.["resultType"], list?.["ttlMs"]], [[LOOSE], "complete", 0]);
  const { result } = await client.ask("tools/call", { ...call, ...STATELESS });
  assertEquals(result?.["structuredContent"], "a");
});

Deno.test("an id that is in use is refused, and the first request goes on", async () => {
  const held = Promise.withResolvers<McpTool[]>();
  const client = new Client({ list: () => held.promise });
  client.session.receive({ id: 7, method: "tools/list" });
  assertEquals((await client.ask("ping", {}, 7)).error?.code, -32600);
  held.resolve([]);
  assertEquals(await client.next(), { jsonrpc: "2.0", id: 7, result: { tools: [] } } as Reply);
});

Deno.test("what is no message is ignored, and so is everything after the end", async () => {
  const client = new Client();
  for (
    const message of [null, "x", [], {}, { id: 1 }, { id: 1, result: {} }, {
      method: "notifications/unknown",
    }]
  ) {
    client.session.receive(message);
  }
  assertEquals((await client.ask("ping", {}, "a")).id, "a");
  client.session.receive({ method: "notifications/initialized" });
  assertEquals(client.changed.length, 1);
  client.session.close();
  client.session.close();
  assertEquals(client.changed.length, 0);
  client.session.receive({ id: 2, method: "ping" });
});

Deno.test("a request that listens is told of changes under its id, until it is cancelled", async () => {
  const client = new Client();
  const listen = { notifications: { toolsListChanged: true, promptsListChanged: true }, ...STATELESS };
  const subscription = { _meta: { "io.modelcontextprotocol/subscriptionId": "s" } };
  assertEquals<unknown>(await client.ask("subscriptions/listen", listen, "s"), {
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true }, ...subscription },
  });
  for (const tell of client.changed) tell();
  assertEquals<unknown>(await client.next(), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: subscription,
  });
  client.session.receive({ method: "notifications/cancelled", params: { requestId: "s" } });
  // Its id is free again.
  assertEquals((await client.ask("ping", STATELESS, "s")).result?.["resultType"], "complete");
  client.session.close();
});
