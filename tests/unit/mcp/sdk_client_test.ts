/**
 * Why requests are our own (docs/decisions/mcp_requests.md): what the client of the MCP SDK makes of one bad
 * entry. When a later version passes the second test no longer, `src/mcp/rpc_peer.ts` may give way to it.
 */
import { assertEquals, assertRejects } from "@std/assert";
import { Client, InMemoryTransport, SdkError } from "@modelcontextprotocol/client";
import { z } from "zod";

const anyResult = z.looseObject({});

const badTools = [
  { name: "good", inputSchema: { type: "object" }, extra: 1 },
  { name: "loud", inputSchema: { type: "object" }, annotations: { audience: ["user"], priority: 80 } },
  { description: "nameless", inputSchema: { type: "object" } },
  { name: "open", inputSchema: {} },
];
const badResources = [{ uri: "window://a/b", name: "b", annotations: { priority: 80 } }, { name: "lost" }];

/** A client of the SDK in a session with a server that gives these results, by method. */
async function connect(
  mode: "legacy" | "auto",
  results: Readonly<Record<string, unknown>>,
): Promise<{ client: Client } & AsyncDisposable> {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message) => {
    if (!("method" in message) || !("id" in message)) return;
    const result: unknown = results[message.method];
    void theirs.send(JSON.parse(JSON.stringify({ jsonrpc: "2.0", id: message.id, result })));
  };
  await theirs.start();
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(ours);
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

const capabilities = { tools: {}, resources: {} };
const initialized = {
  protocolVersion: "2025-11-25",
  capabilities,
  serverInfo: { name: "s", version: "1" },
};
const discovered = {
  resultType: "complete",
  supportedVersions: ["2026-07-28"],
  capabilities,
  ttlMs: 0,
  cacheScope: "private",
};
const fresh = { resultType: "complete", ttlMs: 5_000, cacheScope: "public" };

Deno.test("the SDK's client passes lists with bad entries of 2025-11-25 on to a schema of ours", async () => {
  await using session = await connect("legacy", {
    initialize: initialized,
    "tools/list": { tools: badTools },
    "resources/list": { resources: badResources },
  });
  const { client } = session;
  assertEquals<unknown>((await client.request({ method: "tools/list" }, anyResult))["tools"], badTools);
  const { resources } = await client.request({ method: "resources/list" }, anyResult);
  assertEquals<unknown>(resources, badResources);
});

Deno.test("the SDK's client refuses whole lists of 2026-07-28 for one bad entry, before a schema of ours sees them", async () => {
  for (const tool of badTools.slice(2)) {
    await using session = await connect("auto", {
      "server/discover": discovered,
      "tools/list": { ...fresh, tools: [badTools[0], tool] },
    });
    await assertRejects(() => session.client.request({ method: "tools/list" }, anyResult), SdkError);
  }
  for (const resource of badResources) {
    await using session = await connect("auto", {
      "server/discover": discovered,
      "resources/list": { ...fresh, resources: [resource] },
    });
    await assertRejects(() => session.client.request({ method: "resources/list" }, anyResult), SdkError);
  }
});

Deno.test("the SDK's client passes ttlMs and what an input_required result asks on to a schema of ours", async () => {
  await using session = await connect("auto", {
    "server/discover": discovered,
    "tools/list": { ...fresh, tools: [badTools[0]] },
    "tools/call": { resultType: "input_required", requestState: "opaque", inputRequests: {} },
  });
  const { client } = session;
  assertEquals((await client.request({ method: "tools/list" }, anyResult))["ttlMs"], 5_000);
  const call = { method: "tools/call", params: { name: "good", arguments: {} } };
  const asked = await client.request(call, anyResult, { allowInputRequired: true });
  assertEquals(asked["requestState"], "opaque");
});
