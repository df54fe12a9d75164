/** Subscriptions of an Agent to resources, over our Server and with MCP servers as processes. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { ResourceUpdate } from "../../src/protocol/resource_updates.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { RESOURCES_CHANGED, resourceUpdated } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

const FILE = "file:///notes.txt";
const WINDOW = "window://com.example.shop/cart";
const RESOURCES = [{ uri: FILE, name: "notes" }, { uri: WINDOW }];
const SHOP = { resources: RESOURCES, contents: { [FILE]: "text", [WINDOW]: "3 items" } };

/** How often the MCP server was asked for this. */
async function count(office: ComputerOffice, method: string, uri: string): Promise<number> {
  return (await office.received()).filter((each) => each.method === method && each.params?.["uri"] === uri)
    .length;
}

/** Resolves when the Agent hears of this update. */
async function hears(office: ComputerOffice, wanted: ResourceUpdate): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const isWanted = ({ mcp_server, uri }: ResourceUpdate) =>
    mcp_server === wanted.mcp_server && uri === wanted.uri;
  using _ = office.agent.on("resourcesUpdated", ({ updates }) => {
    if (updates.some(isWanted)) resolve();
  });
  await within(promise, `the update ${JSON.stringify(wanted)}`);
}

async function codeOf(promise: Promise<unknown>): Promise<readonly unknown[]> {
  const { code, details } = await assertRejects(() => promise, SmcpError);
  return [code, details];
}

// proves: mcp-subscribe-any, mcp-updated
Deno.test("an Agent subscribes to a resource of any scheme and hears that it was updated, until it ends that", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ shop: SHOP }));
  const { laptop } = office;
  await laptop.getDesktop();
  const notified = office.next("updateResources");
  const { cursor } = await laptop.getResourceUpdates();
  const other = { mcpServer: "shop" };
  await laptop.subscribeResource(FILE, other);
  await laptop.subscribeResource(FILE, other);
  assertEquals(await count(office, "resources/subscribe", FILE), 1);
  const update = { mcp_server: "shop", uri: FILE };
  const told = hears(office, update);
  await office.become({ tell: [resourceUpdated(FILE)] });
  assertEquals(await within(notified, "updateResources"), { type: "updateResources", computer: "laptop" });
  await told;
  const { updates } = await laptop.getResourceUpdates({ cursor });
  assertEquals(updates.filter(({ uri }) => uri !== undefined), [update]);

  await laptop.unsubscribeResource(FILE, other);
  await laptop.unsubscribeResource(FILE, other);
  assertEquals(await count(office, "resources/unsubscribe", FILE), 1);
  await office.become({ tell: [resourceUpdated(FILE)] });
  assertEquals((await laptop.getResourceUpdates({ cursor })).updates.some(({ uri }) => uri === FILE), false);
});

// proves: mcp-subscribe-any
Deno.test("a window is subscribed to once, whoever wants it, and stays so for the Desktop", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ shop: SHOP }));
  const { laptop } = office;
  await laptop.getDesktop();
  await laptop.subscribeResource("window://COM.example.shop/cart/");
  assertEquals(await count(office, "resources/subscribe", WINDOW), 1);
  const told = hears(office, { mcp_server: "shop", uri: "window://COM.example.shop/cart/" });
  await office.become({ tell: [resourceUpdated(WINDOW)] });
  await told;
  await laptop.unsubscribeResource(WINDOW);
  assertEquals(await count(office, "resources/unsubscribe", WINDOW), 0);
  const shown = office.next("updateDesktop");
  await office.become({ tell: [resourceUpdated(WINDOW)] });
  await within(shown, "updateDesktop");
});

// proves: mcp-list-changed, mcp-capability-options
Deno.test("a changed list of resources is told, with or without subscriptions", async () => {
  const plain = { capabilities: { tools: {}, resources: { listChanged: true } }, resources: [] };
  await using office = await ComputerOffice.open(scriptedServers({ shop: SHOP, plain }));
  const { laptop } = office;
  await laptop.getDesktop();
  const grown = [...RESOURCES, { uri: "https://example.com/", name: "site" }];
  for (const resources of [grown.toReversed(), [{ uri: FILE, name: "notes", size: 3 }]]) {
    const told = hears(office, { mcp_server: "shop" });
    await office.become({ resources, tell: [RESOURCES_CHANGED] });
    await told;
  }
  const told = hears(office, { mcp_server: "plain" });
  await office.become({ tell: [RESOURCES_CHANGED] }, "plain__become");
  await told;
});

// proves: mcp-subscribe-any
Deno.test("a subscription outlives its MCP server, and what may have changed meanwhile is told", async () => {
  const tools = [{ name: "die", inputSchema: {} }];
  const script = { ...SHOP, tools, dieOn: ["tools/call die"] };
  await using office = await ComputerOffice.open(scriptedServers({ shop: script }));
  const { laptop } = office;
  await laptop.subscribeResource(FILE, { mcpServer: "shop" });
  const { cursor } = await laptop.getResourceUpdates();
  const told = hears(office, { mcp_server: "shop", uri: FILE });
  await laptop.callTool("die");
  await told;
  assertEquals(await count(office, "resources/subscribe", FILE), 1);
  assert((await laptop.getResourceUpdates({ cursor })).updates.some(({ uri }) => uri === FILE));
});

// proves: mcp-subscribe-any
Deno.test("subscriptions end when the Agent leaves the office", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ shop: SHOP }));
  const { laptop, agent, computer } = office;
  await laptop.getDesktop();
  await laptop.subscribeResource(FILE, { mcpServer: "shop" });
  const { cursor } = await laptop.getResourceUpdates();
  await agent.leave();
  await agent.join("lab");
  assertEquals(await count(office, "resources/unsubscribe", FILE), 1);
  assertEquals(await count(office, "resources/unsubscribe", WINDOW), 0);
  await office.become({ tell: [resourceUpdated(FILE)] });
  // The cursor is of the time before: all that can be said is where to look.
  assertEquals((await laptop.getResourceUpdates({ cursor })).updates, [{ mcp_server: "shop" }]);
  assertEquals(computer.servers.get("shop")?.status, "running");
});

Deno.test("a subscription that cannot be is refused, and takes no place", async () => {
  const refused = {
    ...SHOP,
    answers: { "resources/subscribe file:///no": { error: { code: -32602, message: "no" } } },
  };
  const config = scriptedServers({
    shop: refused,
    plain: { capabilities: { tools: {}, resources: {} }, resources: [{ uri: "dpe://plain/a" }] },
  });
  await using office = await ComputerOffice.open(config, { limits: { maxSubscriptions: 1 } });
  const { laptop } = office;
  const shop = { mcpServer: "shop" };
  assertEquals(await codeOf(laptop.subscribeResource(FILE, { mcpServer: "ghost" })), [4014, {
    mcp_server: "ghost",
  }]);
  assertEquals(await codeOf(laptop.subscribeResource(FILE, { mcpServer: "plain" })), [4015, {
    mcp_server: "plain",
    capability: "resources.subscribe",
  }]);
  assertEquals(await codeOf(laptop.subscribeResource(FILE)), [400, { field: "uri" }]);
  assertEquals((await codeOf(laptop.subscribeResource("dpe://ghost/a")))[0], 4201);
  assertEquals((await codeOf(laptop.subscribeResource("dpe://")))[0], 4204);
  assertEquals((await codeOf(laptop.subscribeResource("file:///no", shop)))[0], 500);
  await laptop.subscribeResource(FILE, shop);
  assertEquals(await codeOf(laptop.subscribeResource("file:///other", shop)), [400, { field: "uri" }]);
});

// proves: mcp-subscribe-any, mcp-updated
Deno.test("a document of a server made with the provider kit is subscribed to like any other resource", async () => {
  const file = fromFileUrl(new URL("../../examples/provider/notes.ts", import.meta.url));
  const args = ["run", "-A", "--no-lock", "--no-check", file];
  await using office = await ComputerOffice.open({
    servers: {
      notes: {
        type: "stdio",
        default_tool_meta: { auto_apply: true },
        server_parameters: { command: Deno.execPath(), args },
      },
    },
  });
  const { laptop } = office;
  await laptop.callTool("write_note", { name: "todo", text: "one" });
  const uri = "dpe://com.example.notes/todo";
  await laptop.subscribeResource(uri);
  const told = hears(office, { mcp_server: "notes", uri });
  await laptop.callTool("write_note", { name: "todo", text: "two" });
  await told;
});

Deno.test("updates that were read are told, also when the answer with the rest of them fails", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const updates = [{ mcp_server: "shop", uri: FILE }];
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_resource_updates": ({ cursor, req_id }) =>
        cursor === undefined
          ? { updates, cursor: "1", has_more: true, req_id }
          : { code: 500, message: "broken" },
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const told = Promise.withResolvers<unknown>();
  agent.on("resourcesUpdated", told.resolve);
  await computer.send("server:update_resources", { computer: "laptop" });
  assertEquals(await within(told.promise, "resourcesUpdated"), {
    type: "resourcesUpdated",
    computer: "laptop",
    updates,
  });
});

Deno.test("an Agent asks from where the last answer ended, for all that waits, and passes over Computers that do not tell", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const told: unknown[] = [];
  const done = Promise.withResolvers<void>();
  agent.on("refreshFailed", (event) => void told.push(event));
  agent.on("resourcesUpdated", ({ computer, updates }) => {
    told.push([computer, ...updates.map(({ uri }) => uri)]);
    done.resolve();
  });
  const refusal = { code: 400, message: "no such event", details: { field: "event" } };
  using _foreign = await ScriptedComputer.join(server.url, {
    name: "foreign",
    answers: { "client:get_resource_updates": () => refusal },
  });
  const cursors: unknown[] = [];
  using _laptop = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_resource_updates": ({ cursor = null, req_id }) => {
        cursors.push(cursor);
        const number = cursors.length;
        const update = { mcp_server: "s", uri: `x:${number}`, extra: null };
        return { updates: [update, { uri: "x:none" }], cursor: `c${number}`, has_more: number === 1, req_id };
      },
    },
  });
  await within(done.promise, "resourcesUpdated");
  assertEquals([told, cursors], [[["laptop", "x:1", "x:2"]], [null, "c1"]]);
});
