/** The official MCP clients, 1.x and 2.x, on the toolkit's transport and fetch in memory. */
import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Client as ClientV2, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Computer } from "../../src/computer/computer.ts";
import type { Toolkit } from "../../src/agent/toolkit/toolkit.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";
import type { ComputerOffice } from "./_computer_office.ts";
import { openToolkitOffice, PICTURE, untilCancelled, untilItHangs } from "./_toolkit_office.ts";

const INFO = { name: "test", version: "1" };
const URL_OF_NOTHING = new URL("http://office.invalid/mcp");

type AnyClient = ClientV1 | ClientV2;

/** What every client sees, whatever way it came. */
async function useAsAnyClient(client: AnyClient): Promise<void> {
  const { tools } = await client.listTools() as { tools: { name: string; annotations?: unknown }[] };
  assertEquals(tools[0]?.name, "list_computers");
  assertEquals(tools.find(({ name }) => name === "erase")?.annotations, { destructiveHint: true });
  const result = await client.callTool({ name: "chart", arguments: {} }) as { content: unknown[] };
  assertEquals(result.content.at(-1), PICTURE);
  const steps: number[] = [];
  const onprogress = ({ progress }: { progress: number }) => steps.push(progress);
  const brew = { name: "brew", arguments: { steps: 3 } };
  if (client instanceof ClientV1) await client.callTool(brew, undefined, { onprogress });
  else await client.callTool(brew, { onprogress });
  assertEquals(steps[0], 1);
}

/** A call that is aborted ends on the MCP server as well. */
async function abortAsAnyClient(client: AnyClient, kit: Toolkit): Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const calling = client instanceof ClientV1
    ? client.callTool({ name: "hang", arguments: {} }, undefined, { signal })
    : client.callTool({ name: "hang", arguments: {} }, { signal });
  await untilItHangs(kit);
  ending.abort();
  await assertRejects(() => calling);
  await untilCancelled(kit);
}

/** Lets a Computer join and leave. */
async function letSomebodyCome({ server }: ComputerOffice): Promise<void> {
  const config = scriptedServers({ one: { tools: [{ name: "look", inputSchema: { type: "object" } }] } });
  await using computer = Computer.open({ name: "desk", config });
  await computer.join({ url: server.url, office: "lab" });
}

Deno.test("the client 1.x on the transport in memory", async () => {
  await using office = await openToolkitOffice();
  using kit = createToolkit(office.agent);
  const client = new ClientV1(INFO);
  await client.connect(kit.transport());
  assertMatch(client.getInstructions() ?? "", /Computers of an office/);
  await client.ping();
  await useAsAnyClient(client);
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await letSomebodyCome(office);
  await within(changed, "the client to be told that the list has changed");
  await abortAsAnyClient(client, kit);
  await assertRejects(() => client.listResources(), Error);
  await client.close();
});

for (const mode of ["legacy", { pin: "2026-07-28" }] as const) {
  const era = mode === "legacy" ? "2025" : "2026";

  Deno.test(`the client 2.x on the transport in memory, era ${era}`, async () => {
    await using office = await openToolkitOffice();
    using kit = createToolkit(office.agent);
    const changed = Promise.withResolvers<void>();
    const client = new ClientV2(INFO, {
      versionNegotiation: { mode },
      listChanged: { tools: { onChanged: () => changed.resolve() } },
    });
    await client.connect(kit.transport());
    assert(client.getNegotiatedProtocolVersion()?.startsWith(era));
    await useAsAnyClient(client);
    await letSomebodyCome(office);
    await within(changed.promise, "the client to be told that the list has changed");
    await abortAsAnyClient(client, kit);
    await client.close();
  });

  Deno.test(`the client 2.x on the fetch in memory, era ${era}`, async () => {
    await using office = await openToolkitOffice();
    using kit = createToolkit(office.agent);
    const client = new ClientV2(INFO, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(URL_OF_NOTHING, { fetch: kit.fetch }));
    await useAsAnyClient(client);
    // A client of 2025 cancels by a message of its own, which without a session belongs to no call.
    if (era === "2026") await abortAsAnyClient(client, kit);
    await client.close();
  });
}

Deno.test("the client 2.x finds out by itself that the toolkit speaks 2026-07-28", async () => {
  await using office = await openToolkitOffice();
  using kit = createToolkit(office.agent);
  const client = new ClientV2(INFO, { versionNegotiation: { mode: "auto" } });
  await client.connect(kit.transport());
  assertEquals(client.getNegotiatedProtocolVersion(), "2026-07-28");
  await client.close();
});
