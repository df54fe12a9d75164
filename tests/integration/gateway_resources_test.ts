/** Windows, documents and prompts of several Computers through the gateway, with the official clients of both eras. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { KIOSK_HOST, KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { resourceUpdated } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { eventually, within } from "../fixtures/within.ts";
import { connectV1, connectV2, GatewayOffice } from "./_gateway_office.ts";

// The transports of the official clients wait with a timer for the end of a program, and leave it behind.
const test = (name: string, fn: (t: Deno.TestContext) => Promise<void>) => Deno.test({ name, fn });

const KIOSK = { servers: { kiosk: kioskOnStdio() } };
const MENU = `dpe://${KIOSK_HOST}/menu.txt`;

interface Resource {
  readonly uri: string;
  readonly name: string;
  readonly _meta?: Record<string, unknown>;
}

/** The text of the only item of a resource's contents. */
function textOf({ contents }: { contents: { text?: string }[] }): string {
  return contents[0]?.text ?? "";
}

test("what several MCP servers of a Computer list under one host is listed and read", async () => {
  const claim = (contents: Record<string, string>) => ({
    resources: Object.keys(contents).filter((uri) => !uri.includes("/pages/")).map((uri) => ({
      uri,
      name: uri,
    })),
    contents,
  });
  const shared = scriptedServers({
    first: claim({ "window://shared/w1": "first", "dpe://shared/one": "{}" }),
    second: claim({
      "window://shared/w2": "second",
      "dpe://shared/two": "{}",
      "dpe://shared/two/pages/0": "page",
    }),
  });
  await using office = await GatewayOffice.open({ laptop: shared });
  await using client = await connectV1(office.words());
  const { resources } = await client.listResources() as { resources: Resource[] };
  const uris = resources.map(({ uri }) => uri).filter((uri) => uri.includes("shared"));
  assertEquals(uris.length, 4);
  for (const uri of uris) assertEquals((await client.readResource({ uri })).contents.length, 1, uri);
  assertEquals(textOf(await client.readResource({ uri: "dpe://shared/two/pages/0" })), "page");
});

test("the resources of one Computer keep their URIs and are read at all levels", async (t) => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words());
  const { resources } = await client.listResources() as { resources: Resource[] };

  await t.step("list", () => {
    assertEquals(resources.map(({ uri }) => uri).filter((uri) => uri.includes(KIOSK_HOST)).sort(), [
      MENU,
      KIOSK_WINDOW,
    ]);
    const window = resources.find(({ uri }) => uri === KIOSK_WINDOW);
    assertEquals([window?.name, window?._meta?.["a2c_computer"], window?._meta?.["a2c_mcp_server"]], [
      "Screen",
      "laptop",
      "kiosk",
    ]);
  });
  await t.step("window, catalogue, document, page, element", async () => {
    assertEquals(textOf(await client.readResource({ uri: KIOSK_WINDOW })), "Welcome");
    assertMatch(textOf(await client.readResource({ uri: `dpe://${KIOSK_HOST}` })), /menu\.txt/);
    assertMatch(textOf(await client.readResource({ uri: MENU })), /"page_count":1/);
    const page = JSON.parse(textOf(await client.readResource({ uri: `${MENU}/pages/0?format=markdown` })));
    assertEquals(page.content_markdown, "Tea and coffee");
    const element = `${MENU}/elements/${page.elements[0].element_id}`;
    assertMatch(textOf(await client.readResource({ uri: element })), /Tea and coffee/);
  });
  await t.step("templates and completion", async () => {
    const { resourceTemplates } = await client.listResourceTemplates();
    const template = resourceTemplates.find(({ uriTemplate }: { uriTemplate: string }) =>
      uriTemplate.startsWith(`dpe://${KIOSK_HOST}/{`) && uriTemplate.includes("pages")
    );
    const ref = { type: "ref/resource" as const, uri: template?.uriTemplate ?? "" };
    const docRef = await client.complete({ ref, argument: { name: "doc_ref", value: "me" } });
    assertEquals(docRef.completion.values, ["menu.txt"]);
    const context = { arguments: { doc_ref: "menu.txt" } };
    const index = await client.complete({ ref, argument: { name: "page_index", value: "" }, context });
    assertEquals(index.completion.values, ["0"]);
  });
  await t.step("what is not there", async () => {
    const error = await assertRejects(() => client.readResource({ uri: `dpe://${KIOSK_HOST}/none.txt` }));
    assertMatch(String(error), /-32002|not found/i);
    await assertRejects(() => client.readResource({ uri: "dpe://com.example.nobody/x" }));
    await assertRejects(() => client.listResources({ cursor: "nonsense" }), Error, "its cursor is unknown");
  });
});

test("two Computers with the same host stay apart, and a newcomer leaves the URIs of the first as they are", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words());
  await client.listResources();
  await office.add("desk", KIOSK);
  const uris = async () => {
    const { resources } = await client.listResources() as { resources: Resource[] };
    return resources.map(({ uri }) => uri).filter((uri) => uri.endsWith(KIOSK_WINDOW)).sort();
  };
  const apart = [`a2c://desk/${KIOSK_WINDOW}`, KIOSK_WINDOW];
  // The Computer is listed once the gateway has heard of it.
  while ((await uris()).length < 2);
  assertEquals(await uris(), apart);
  await client.callTool({ name: "show", arguments: { text: "of the laptop" } });
  assertEquals(textOf(await client.readResource({ uri: KIOSK_WINDOW })), "of the laptop");
  const [first = ""] = apart;
  const { contents } = await client.readResource({ uri: first }) as {
    contents: { uri: string; text: string }[];
  };
  assertEquals(contents.map(({ uri, text }) => [uri, text]), [[first, "Welcome"]]);
});

test("two Computers that are there from the start are both named in their URIs", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK, desk: KIOSK });
  await using client = await connectV1(office.words());
  const { resources } = await client.listResources() as { resources: Resource[] };
  const windows = resources.map(({ uri }) => uri).filter((uri) => uri.endsWith(KIOSK_WINDOW)).sort();
  assertEquals(windows, [`a2c://desk/${KIOSK_WINDOW}`, `a2c://laptop/${KIOSK_WINDOW}`]);
  const menu = await client.readResource({ uri: `a2c://desk/${MENU}/pages/0?format=text` });
  assertMatch(textOf(menu), /Tea and coffee/);
  const refusal = async (uri: string) =>
    String(await client.readResource({ uri }).catch((error: unknown) => error));
  assertMatch(await refusal(KIOSK_WINDOW), /several Computers have this host.*a2c:\/\/COMPUTER\/window:/);
  assertMatch(await refusal(`a2c://attic/${MENU}`), /Computer "attic" is not in the office/);
  assertMatch(await refusal("dpe://unknown.example/x"), /no Computer has it/);
});

test("a subscription is delivered, in both eras", async (t) => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });

  await t.step("1.x: a window, and a document that somebody wrote", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    const updated = new Updates();
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }: { params: { uri: string } }) => updated.add(params.uri),
    );
    await using _ = await connectV1(office.words(), client);
    await client.subscribeResource({ uri: KIOSK_WINDOW });
    await client.callTool({ name: "show", arguments: { text: "first" } });
    await updated.has(KIOSK_WINDOW);
    assertEquals(textOf(await client.readResource({ uri: KIOSK_WINDOW })), "first");
    await client.subscribeResource({ uri: MENU });
    await client.callTool({ name: "write", arguments: { name: "menu.txt", text: "Tea alone" } });
    await updated.has(MENU);
    await client.unsubscribeResource({ uri: MENU });
  });
  await t.step("2.x, 2026-07-28: a stream", async () => {
    const client = new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
    const updated = new Updates();
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated.add(params.uri));
    await using _ = await connectV2(office.words(), client);
    const listening = await client.listen({ resourceSubscriptions: [KIOSK_WINDOW] });
    await client.callTool({ name: "show", arguments: { text: "second" } });
    await updated.has(KIOSK_WINDOW);
    await listening.close();
  });
  await t.step("after a lost connection each subscription is told once and goes on", async () => {
    const client = new ClientV1({ name: "v1", version: "1" });
    let updated = new Updates();
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }: { params: { uri: string } }) => updated.add(params.uri),
    );
    await using _ = await connectV1(office.words(), client);
    await client.subscribeResource({ uri: KIOSK_WINDOW });
    office.wire.cut();
    await updated.has(KIOSK_WINDOW);
    updated = new Updates();
    await client.callTool({ name: "show", arguments: { text: "third" } });
    await updated.has(KIOSK_WINDOW);
  });
});

test("a Computer that its owner has paused is named, and gives all again afterwards", async (t) => {
  const note = "note://board/first";
  const board = { resources: [{ uri: note, name: "first" }], contents: { [note]: "text" } };
  const { servers } = scriptedServers({ board });
  await using office = await GatewayOffice.open({ laptop: { servers: { ...KIOSK.servers, ...servers } } });
  const client = new ClientV1({ name: "v1", version: "1" });
  let updated = new Updates();
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }: { params: { uri: string } }) => updated.add(params.uri),
  );
  await using _ = await connectV1(office.words(), client);
  const uris = async () => {
    const { resources } = await client.listResources() as { resources: Resource[] };
    return resources.map(({ uri }) => uri);
  };
  const call = async (name: string, args = {}) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  const before = await uris();
  const calls = office.computers.get("laptop")?.calls;
  calls?.pause();
  await eventually(() => uris().then(() => false, () => true), (isRefused) => isRefused, "the pause");

  await t.step("what it has listed before is not listed any more", async () => {
    const lists = [
      () => client.listResources(),
      () => client.listResourceTemplates(),
      () => client.readResource({ uri: MENU }),
      () => client.readResource({ uri: "dpe://com.example.unknown/x" }),
    ];
    for (const list of lists) assertMatch(String(await assertRejects(list)), /paused Computer \W*laptop/);
    const { prompts } = await client.listPrompts();
    assertEquals(prompts.every(({ name }: { name: string }) => name.startsWith("attach_")), true);
  });
  await t.step("the tools of the gateway name it", async () => {
    assertMatch(await call("list_computers"), /paused by its owner.*"paused":true/);
    for (
      const [name, args] of [["find_documents", {}], ["view_desktop", {}], ["read_document", { uri: MENU }]]
    ) {
      const answer = await call(String(name), Object(args));
      assertMatch(answer, /paused Computer \W*laptop.*"isError":true/);
      assertEquals(/No document fits|No window/.test(answer), false);
    }
  });
  await t.step("a subscription that was refused is made afterwards", async () => {
    await client.subscribeResource({ uri: note });
    updated = new Updates();
    calls?.resume();
    await updated.has(note);
    updated = new Updates();
    await call("become", { tell: [resourceUpdated(note)] });
    await updated.has(note);
    assertEquals(await uris(), before);
  });
});

test("prompts of Computers are listed and filled in", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  await using client = await connectV1(office.words());
  const { prompts } = await client.listPrompts();
  const names = prompts.map(({ name }: { name: string }) => name);
  const [name = ""] = names.filter((each: string) => !each.startsWith("attach_"));
  const { messages } = await client.getPrompt({ name, arguments: { guest: "Ada", drink: "tea" } });
  assertEquals(messages.length > 0, true);
  await assertRejects(() => client.getPrompt({ name: "nothing" }), Error, 'No prompt named "nothing"');
});

/** The URIs that a client was told of. */
class Updates {
  readonly #uris = new Set<string>();
  #more = Promise.withResolvers<void>();

  add(uri: string): void {
    this.#uris.add(uri);
    this.#more.resolve();
    this.#more = Promise.withResolvers();
  }

  async has(uri: string): Promise<void> {
    while (!this.#uris.has(uri)) await within(this.#more.promise, `the update of "${uri}"`);
  }
}
