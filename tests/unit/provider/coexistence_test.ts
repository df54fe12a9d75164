import { Client } from "@modelcontextprotocol/sdk/client";
// @ts-types="@modelcontextprotocol/sdk/inMemory"
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server";
// @ts-types="@modelcontextprotocol/sdk/server/completable"
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  ListResourcesRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { provide, Provider } from "../../../src/provider/mod.ts";
import { newServer, Provided } from "./_provided.ts";
import { HOST, SIMPLE } from "./_report.ts";

const CODE = { ref: { type: "ref/prompt", name: "review" }, argument: { name: "language", value: "t" } };
const FILES = "files:///{name}";

/** What an author registers with the SDK itself. */
function register(server: McpServer): void {
  server.registerResource("readme", "file:///readme", { mimeType: "text/plain" }, ({ href }) => ({
    contents: [{ uri: href, text: "Read me" }],
  }));
  const template = new ResourceTemplate(FILES, {
    list: () => ({ resources: [{ uri: "files:///a", name: "a" }] }),
    complete: { name: (value) => ["a", "b"].filter((each) => each.startsWith(value)) },
  });
  server.registerResource("files", template, {}, ({ href }, { name }) => ({
    contents: [{ uri: href, text: `File ${name}` }],
  }));
  const argsSchema = { language: completable(z.string(), (value) => [`${value}s`]) };
  server.registerPrompt("review", { argsSchema }, ({ language }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review this ${language}` } }],
  }));
}

function publish(provider: Provider): void {
  provider.publishWindow({ host: HOST, path: ["w"], name: "W", text: "window" });
  provider.publishDocuments(SIMPLE);
}

/** An author's registrations, before and after the provider comes in. */
async function openBoth(order: "before" | "after"): Promise<Provided> {
  const server = newServer();
  if (order === "before") register(server);
  const provider = provide(server);
  publish(provider);
  if (order === "after") register(server);
  return await Provided.connect(provider, server);
}

for (const order of ["before", "after"] as const) {
  // proves: mcp-capability-options
  Deno.test(`what is registered with the SDK ${order} attach() is listed, read and completed as ever`, async () => {
    await using provided = await openBoth(order);
    assertEquals(provided.client.getServerCapabilities(), {
      resources: { subscribe: true, listChanged: true },
      completions: {},
      prompts: { listChanged: true },
    });
    assertEquals(await provided.uris(), [
      "file:///readme",
      "files:///a",
      `window://${HOST}/w`,
      `dpe://${HOST}/rpt-2026`,
      `dpe://${HOST}/contracts%2Fa%201.pdf`,
    ]);
    const { resourceTemplates } = await provided.client.listResourceTemplates();
    assertEquals(resourceTemplates.map(({ uriTemplate }) => uriTemplate), [
      FILES,
      `dpe://${HOST}/{doc_ref}/pages/{page_index}`,
      `dpe://${HOST}/{doc_ref}/elements/{element_id}`,
    ]);
    assertEquals(await provided.text("file:///readme"), "Read me");
    assertEquals(await provided.text("files:///b"), "File b");
    assertEquals(await provided.text(`window://${HOST}/w`), "window");
    const completion = (params: Record<string, unknown>) => provided.request("completion/complete", params);
    assertEquals((await completion(CODE))["completion"], { values: ["ts"], total: 1, hasMore: false });
    const file = { ref: { type: "ref/resource", uri: FILES }, argument: { name: "name", value: "b" } };
    assertEquals((await completion(file))["completion"], { values: ["b"], total: 1, hasMore: false });
  });
}

// proves: mcp-error-not-found
Deno.test("a resource that neither the SDK nor the provider has is -32002 with its uri", async () => {
  await using provided = await openBoth("before");
  await using bare = await Provided.open(publish);
  for (const uri of ["file:///other", "window://other", "no uri at all", "", "https://example.com/../a"]) {
    for (const each of [provided, bare]) {
      assertEquals(await each.refusal("resources/read", { uri }), [-32002, { uri }]);
    }
  }
});

Deno.test("an error of the author's own resource stays what it is", async () => {
  await using provided = await Provided.open((provider, server) => {
    publish(provider);
    server.registerResource("x", "file:///x", {}, () => {
      throw new McpError(-32602, "Resource is locked", { until: "noon" });
    });
    provider.publishWindow({
      uri: "window://locked",
      name: "L",
      read: () => {
        throw new McpError(-32050, "Locked", { until: "noon" });
      },
    });
  });
  assertEquals(await provided.refusal("resources/read", { uri: "file:///x" }), [-32602, { until: "noon" }]);
  assertEquals(await provided.refusal("resources/read", { uri: "window://locked" }), [-32050, {
    until: "noon",
  }]);
});

Deno.test("resourceUpdated() tells who subscribed to a resource that is registered with the SDK", async () => {
  await using provided = await openBoth("after");
  await provided.subscribe("file:///readme");
  provided.provider.resourceUpdated("file:///readme");
  provided.provider.resourceUpdated("files:///a");
  assertEquals(await provided.heard(), ["updated file:///readme"]);
});

Deno.test("resources may be registered with the SDK while it is connected, where it was told so", async () => {
  const server = new McpServer({ name: "s", version: "1.0.0" }, { capabilities: { resources: {} } });
  await using provided = await Provided.connect(provide(server), server);
  server.registerResource("late", "file:///late", {}, () => ({ contents: [] }));
  assertEquals(await provided.heard(), ["list_changed"]);
  assertEquals(await provided.uris(), ["file:///late"]);
});

Deno.test("a low-level Server with handlers and cursors of its own is listed to its end, then the provider", async () => {
  const server = new Server({ name: "s", version: "1.0.0" }, { capabilities: { resources: {} } });
  const subscribed: string[] = [];
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const number = Number(params?.cursor ?? 0);
    const resources = [{ uri: `own:${number}`, name: `${number}` }];
    return number < 2 ? { resources, nextCursor: String(number + 1) } : { resources };
  });
  server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    subscribed.push(params.uri);
    return {};
  });
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => ({
    contents: [{ uri: params.uri, text: "own" }],
  }));
  const provider = new Provider({ pageSize: 1 });
  provider.attach(server);
  publish(provider);
  const client = new Client({ name: "c", version: "1.0.0" });
  const [left, right] = InMemoryTransport.createLinkedPair();
  await server.connect(left);
  await client.connect(right);
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    pages.push(page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  assertEquals(pages, [
    ["own:0"],
    ["own:1"],
    ["own:2", `window://${HOST}/w`],
    [`dpe://${HOST}/rpt-2026`],
    [`dpe://${HOST}/contracts%2Fa%201.pdf`],
  ]);
  await client.subscribeResource({ uri: "own:1" });
  await client.subscribeResource({ uri: `window://${HOST}/w` });
  assertEquals(subscribed, ["own:1"]);
  await client.close();
});

Deno.test("two providers of one server are both seen", async () => {
  await using provided = await Provided.open((provider, server) => {
    provider.publishWindow({ uri: "window://first", name: "First", text: "1" });
    const second = provide(server, { pageSize: 1 });
    second.publishWindow({ uri: "window://second", name: "Second", text: "2" });
    second.publishDocuments(SIMPLE);
  });
  assertEquals((await provided.uris()).toSorted(), [
    `dpe://${HOST}/contracts%2Fa%201.pdf`,
    `dpe://${HOST}/rpt-2026`,
    "window://first",
    "window://second",
  ]);
  assertEquals([await provided.text("window://first"), await provided.text("window://second")], ["1", "2"]);
});

Deno.test("a server is attached once, and before it is connected", async () => {
  const provider = new Provider();
  const server = newServer();
  provider.attach(server);
  assertThrows(() => provider.attach(server.server), TypeError, "attached");
  const [left] = InMemoryTransport.createLinkedPair();
  await server.connect(left);
  assertThrows(() => new Provider().attach(server), TypeError, "connected");
  await server.close();
});
