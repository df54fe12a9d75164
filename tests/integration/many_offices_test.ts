/** An Agent, a gateway and commands in several offices at once. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { OfficeGroup } from "../../src/agent/group/office_group.ts";
import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { AuthenticationError } from "../../src/link/errors.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { doorWords } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { connectV1 as connectToUrl, HttpDoor } from "../fixtures/http_door.ts";
import { eventually, within } from "../fixtures/within.ts";
import { BareServer } from "./_bare_server.ts";
import { connectV1 } from "./_gateway_office.ts";
import { type Answer, contents, NOTHING, ScriptedComputer, textResult } from "./_scripted_computer.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

/** What a Computer with one tool, which says where it ran, and one window answers. */
function answersOf(place: string): Record<string, Answer> {
  return {
    "client:get_tools": ({ req_id }) => ({
      tools: [{
        name: "where",
        description: "Says where it runs",
        params_schema: { type: "object" },
        return_schema: null,
        meta: {},
      }],
      req_id,
    }),
    "client:follow_call": () => NOTHING,
    "client:tool_call": () => textResult(place),
    "client:get_mcp_servers": ({ req_id }) => ({
      mcp_servers: [{ mcp_server: "files", status: "running", capabilities: { resources: {} } }],
      req_id,
    }),
    "client:get_resources": ({ req_id }) => ({
      resources: [{ uri: "window://com.example.files/list", name: "list" }],
      req_id,
    }),
    "client:get_resource_templates": ({ req_id }) => ({ resource_templates: [], req_id }),
    "client:read_resource": ({ uri }) => contents(uri, place),
    "client:get_prompts": ({ req_id }) => ({ prompts: [], req_id }),
  };
}

function join(url: string, office: string, name = "laptop"): Promise<ScriptedComputer> {
  return ScriptedComputer.join(url, { office, name, answers: answersOf(`${name} of ${office}`) });
}

function gatewayWords(url: string, args: readonly string[] = []): string[] {
  const offices = ["--office", "lab", "--office", "shop"];
  return doorWords("agent.ts", [
    "mcp",
    "--url",
    url,
    ...offices,
    "--name",
    "ada",
    "--patience",
    "100s",
    ...args,
  ]);
}

function textOf(result: unknown): string {
  return JSON.stringify((result as { content: unknown }).content);
}

async function toolNames(client: Client): Promise<string[]> {
  const { tools } = await client.listTools() as { readonly tools: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name).filter((name) => name.includes("where"));
}

/** Waits for tools: on a busy machine the gateway answers before it knows its offices. */
async function untilTools(client: Client, expected: readonly string[]): Promise<void> {
  const isThere = ({ length }: readonly string[]) => length === expected.length;
  assertEquals(await eventually(() => toolNames(client), isThere, "the tools"), expected);
}

Deno.test("over HTTP, a gateway in two offices serves each of them at a path of its own, too", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _lab = await join(server.url, "lab");
  using _shop = await join(server.url, "shop");
  await using gateway = await HttpDoor.start(gatewayWords(server.url, ["--http", "0", "--no-token"]));
  await using all = await connectToUrl(gateway.url);
  await untilTools(all, ["laptop_lab__where", "laptop_shop__where"]);
  for (const office of ["lab", "shop"]) {
    await using one = await connectToUrl(gateway.at(`/mcp/o/${office}`));
    await untilTools(one, ["where"]);
    assertStringIncludes(textOf(await one.callTool({ name: "where" })), `laptop of ${office}`);
  }
  const other = await fetch(gateway.at("/mcp/o/den"));
  assertEquals([other.status, /not in that office/.test(await other.text())], [404, true]);
});

Deno.test("a gateway in two offices calls, reads and completes on the machine that a name says", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _lab = await join(server.url, "lab");
  using _shop = await join(server.url, "shop");
  await using client = await connectV1(gatewayWords(server.url));
  await untilTools(client, ["laptop_lab__where", "laptop_shop__where"]);
  for (const office of ["lab", "shop"]) {
    const result = await client.callTool({ name: `laptop_${office}__where`, arguments: {} });
    assertStringIncludes(textOf(result), `laptop of ${office}`);
    const uri = `a2c://laptop%40${office}/window://com.example.files/list`;
    const { contents: [window] } = await client.readResource({ uri });
    assertEquals(window, { ...window, uri, text: `laptop of ${office}` });
  }
  const listed = await client.callTool({ name: "list_computers", arguments: {} });
  assertStringIncludes(textOf(listed), 'Computer \\"laptop@shop\\" of office \\"shop\\"');
  const { completion } = await client.complete({
    ref: { type: "ref/prompt", name: "attach_desktop" },
    argument: { name: "computer", value: "laptop@s" },
  });
  assertEquals(completion.values, ["laptop@shop"]);
});

Deno.test("an office whose seat is taken delays nobody, is told, and comes when the seat is free", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _lab = await join(server.url, "lab");
  using _shop = await join(server.url, "shop");
  const other = await Agent.connect({ url: server.url, office: "shop", name: "eve" });
  let changed = Promise.withResolvers<void>();
  const watcher = new Client({ name: "test", version: "1" });
  watcher.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changed.resolve();
    changed = Promise.withResolvers();
  });
  await using client = await connectV1(gatewayWords(server.url), watcher);
  assertEquals(await toolNames(client), ["where"]);
  const listed = textOf(await client.callTool({ name: "list_computers", arguments: {} }));
  assertMatch(listed, /Cannot be reached now: office \\"shop\\": .*eve/);
  await other.close();
  let names: string[] = [];
  do {
    const news = changed.promise;
    names = await toolNames(client);
    if (names.length < 2) await within(news, "the tools of the office that was taken");
  } while (names.length < 2);
  // The name that the first one has stays with it.
  assertEquals(names, ["where", "laptop_shop__where"]);
  assertStringIncludes(textOf(await client.callTool({ name: "where", arguments: {} })), "laptop of lab");
});

Deno.test("names of Computers last over restarts, with the file of the gateway", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using folder = new TempFolder();
  const state = ["--state", `${folder.path}/names.json`];
  using _lab = await join(server.url, "lab");
  const expect = async (name: string) => {
    await using client = await connectV1(gatewayWords(server.url, state));
    assertEquals(await toolNames(client), [name]);
  };
  await expect("where");
  _lab.close();
  using _shop = await join(server.url, "shop");
  await expect("laptop_shop__where");
});

Deno.test("names of tools at the path of one office last over restarts, with the file of the gateway", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using folder = new TempFolder();
  const words = gatewayWords(server.url, [
    "--http",
    "0",
    "--no-token",
    "--state",
    `${folder.path}/names.json`,
  ]);
  using _laptop = await join(server.url, "lab");
  const expect = async (names: readonly string[]) => {
    await using gateway = await HttpDoor.start(words);
    await using lab = await connectToUrl(gateway.at("/mcp/o/lab"));
    await untilTools(lab, names);
  };
  await expect(["where"]);
  using _desk = await join(server.url, "lab", "desk");
  await expect(["desk__where", "where"]);
});

Deno.test("a command uses the Computers of several offices, and says which office it cannot use", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _lab = await join(server.url, "lab");
  using _shop = await join(server.url, "shop");
  const words = ["--url", server.url, "--office", "lab", "--office", "shop", "--name", "ada"];
  const office = await runHosted("agent.ts", [...words, "office"]);
  assertMatch(office.stdout, /laptop@lab +protocol 0.2.0 +office lab/);
  const call = await runHosted("agent.ts", [...words, "--computer", "laptop@shop", "call", "where"]);
  assertEquals(call.stdout.trim(), "laptop of shop");
  await using _other = await Agent.connect({ url: server.url, office: "shop", name: "eve" });
  const lab = [...words, "--computer", "laptop@lab", "call", "where", "--patience", "0.1s"];
  const { stdout, stderr } = await runHosted("agent.ts", lab);
  assertEquals(stdout.trim(), "laptop of lab");
  assertMatch(stderr, /Cannot use office "shop": .*eve/);
  const watch = await runHosted("agent.ts", [...words, "watch"]);
  assertMatch(watch.stderr, /Cannot watch several offices/);
});

Deno.test("a command in several offices waits for the list of one that is slow", async () => {
  const names = new Map<unknown, unknown>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": (body, ack, { id }) => {
        names.set(id, Object(body).office_id);
        ack(true, null);
      },
      // Longer than a group waits for a list by default.
      "server:list_room": (body, ack, { id }) => {
        const office_id = names.get(id);
        const sessions = [{ sid: "1", role: "computer", name: `of-${office_id}`, office_id }];
        setTimeout(() => ack({ sessions, req_id: Object(body).req_id }), office_id === "shop" ? 2_500 : 0);
      },
    },
  });
  const words = ["--url", server.url, "--office", "lab", "--office", "shop", "--name", "ada", "office"];
  const { stdout, stderr } = await runHosted("agent.ts", words);
  assertEquals([...stdout.matchAll(/of-\w+/g)].map(([name]) => name), ["of-lab", "of-shop"], stderr);
});

Deno.test("a group has offices of several Servers, of the same name, and with tokens of their own", async () => {
  await using one = await SmcpServer.listen({ port: 0 });
  await using other = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["t"] }) });
  using _one = await join(one.url, "lab", "desk");
  await using group = await OfficeGroup.connect({
    url: one.url,
    name: "ada",
    offices: ["lab", { office: "lab", label: "far", url: other.url, token: "t" }],
  });
  assertEquals(group.offices, [{ office: "lab", problem: undefined }, { office: "far", problem: undefined }]);
  using kit = createToolkit(group);
  const names = (await kit.tools()).map(({ name }) => name);
  assertEquals(names.includes("where"), true);
  assertEquals(textOf(await kit.call("where")), '[{"type":"text","text":"desk of lab"}]');
});

Deno.test("a group that no office lets in fails as an Agent does", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["t"] }) });
  const offices = ["lab", "shop"];
  await assertRejects(
    () => OfficeGroup.connect({ url: server.url, name: "ada", offices, token: "wrong" }),
    AuthenticationError,
  );
  await assertRejects(
    () => OfficeGroup.connect({ url: server.url, name: "ada", offices: ["lab", " "], token: "t" }),
    TypeError,
  );
});
