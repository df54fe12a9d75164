/** `search` and `fetch`, as the connectors and the deep research of ChatGPT use them. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { KIOSK_HOST, KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { connectV1, GatewayOffice } from "./_gateway_office.ts";

const KIOSK = { servers: { kiosk: kioskOnStdio() } };
const FETCHER = scriptedServers({
  web: {
    tools: [{ name: "fetch", description: "Fetches a page of the web", inputSchema: { type: "object" } }],
  },
});
const ID = `a2c://laptop/dpe://${KIOSK_HOST}/menu.txt`;

type Connected = Awaited<ReturnType<typeof connectV1>>;

function chatGpt(): Client {
  return new Client({ name: "openai-mcp", version: "1.0.0" });
}

/** The one JSON text of an answer, which its structured content repeats. */
async function callJson(
  client: Connected,
  name: string,
  args: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: args });
  const content = result.content as { readonly type: string; readonly text: string }[];
  assertEquals(content.map(({ type }) => type), ["text"]);
  const value = JSON.parse(content[0]?.text ?? "");
  assertEquals(result.structuredContent, value);
  return value;
}

async function names(client: Connected): Promise<string[]> {
  const { tools } = await client.listTools() as { readonly tools: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name);
}

Deno.test("a client of OpenAI searches and fetches documents and windows", async (t) => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words(), chatGpt());
  await t.step("search answers ids, titles and URLs", async () => {
    const { results } = await callJson(client, "search", { query: "menus of the kiosk" });
    assertEquals((results as unknown[])[0], { id: ID, title: "menu.txt", url: ID });
    const windows = await callJson(client, "search", { query: "welcome" });
    const window = `a2c://laptop/${KIOSK_WINDOW}`;
    assertEquals(windows["results"], [{
      id: window,
      title: (windows["results"] as { title: string }[])[0]?.title,
      url: window,
    }]);
    assertEquals(await callJson(client, "search", { query: "unheard" }), { results: [] });
  });
  await t.step("fetch answers the text of a document", async () => {
    const document = await callJson(client, "fetch", { id: ID });
    assertEquals({ ...document, metadata: undefined }, {
      id: ID,
      title: "menu.txt",
      text: "## Page 1 (index 0)\n\nTea and coffee",
      url: ID,
      metadata: undefined,
    });
    assertEquals((document["metadata"] as Record<string, unknown>)["computer"], "laptop");
    // The URI alone does as well, where one Computer has it.
    assertEquals((await callJson(client, "fetch", { id: `dpe://${KIOSK_HOST}/menu.txt` }))["id"], ID);
  });
  await t.step("fetch answers the text of a window", async () => {
    const window = await callJson(client, "fetch", { id: `a2c://laptop/${KIOSK_WINDOW}` });
    assertEquals(window["text"], "Welcome");
  });
  await t.step("an id that nobody has is an error that says so", async () => {
    for (const id of [`a2c://laptop/dpe://${KIOSK_HOST}/none`, "window://com.example.none/x", "no id"]) {
      const result = await client.callTool({ name: "fetch", arguments: { id } });
      assertEquals(result.isError, true);
      assertMatch(JSON.stringify(result.content), /none|no id|not the id/i);
    }
  });
});

Deno.test("other clients do not get them, and a tool of this name is reached by both", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK, desk: FETCHER });
  await using usual = await connectV1(office.words());
  const own = await names(usual);
  assertEquals(own.filter((name) => /search|fetch/.test(name)), ["fetch"]);
  assertStringIncludes(JSON.stringify(await usual.listTools()), "Fetches a page of the web");
  await usual.close();
  await using client = await connectV1(office.words(), chatGpt());
  const listed = await names(client);
  assertEquals(listed.filter((name) => /search|fetch/.test(name)), ["search", "fetch", "fetch_of_computer"]);
  const result = await client.callTool({ name: "fetch_of_computer", arguments: {} });
  assertMatch(JSON.stringify(result["_meta"]), /"a2c_computer":"desk"/);
});

Deno.test("--search-fetch offers them to all clients or to none", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  {
    await using client = await connectV1(office.words(["--search-fetch", "always"]));
    assertEquals((await names(client)).includes("search"), true);
  }
  await using client = await connectV1(office.words(["--search-fetch", "never"]), chatGpt());
  assertEquals((await names(client)).includes("search"), false);
});
