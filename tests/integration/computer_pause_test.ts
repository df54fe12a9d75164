// What Agents are given while the owner has paused a Computer: nothing but what says what there is.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import type { ComputerEvent } from "../../src/computer/shared/computer_events.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { DpeResource } from "../../src/protocol/resources.ts";
import { KIOSK_HOST, KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { resourceUpdated } from "../fixtures/script.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

const MENU = `dpe://${KIOSK_HOST}/menu.txt`;
const mcpServer = "kiosk";

const REFUSED: Readonly<Record<string, (laptop: RemoteComputer) => Promise<unknown>>> = {
  desktop: (laptop) => laptop.getDesktop(),
  windows: (laptop) => laptop.getWindows(),
  finder: (laptop) => laptop.getFinder(),
  search: (laptop) => laptop.getFinder({ query: "tea" }),
  window: (laptop) => laptop.readResource(KIOSK_WINDOW),
  document: (laptop) => laptop.readDocumentMetadata(MENU),
  page: (laptop) => laptop.readPage(MENU, 0),
  file: (laptop) => laptop.getDpe(MENU),
  resources: (laptop) => laptop.getResources(mcpServer),
  templates: (laptop) => laptop.getResourceTemplates(),
  completion: (laptop) => laptop.complete({ prompt: "greet", argument: { name: "guest", value: "A" } }),
  prompts: (laptop) => laptop.getPrompts(),
  prompt: (laptop) => laptop.getPrompt("greet", { guest: "Ada" }),
  subscription: (laptop) => laptop.subscribeResource(KIOSK_WINDOW),
  updates: (laptop) => laptop.getResourceUpdates(),
  skills: (laptop) => laptop.getSkills(),
  skill: (laptop) => laptop.getSkill("any"),
};

// proves: error-paused, ext-servers-paused
Deno.test("a paused Computer gives nothing that its owner has, says so by name, and gives all again afterwards", async (t) => {
  await using office = await ComputerOffice.open({ servers: { kiosk: kioskOnStdio() } });
  const { agent, laptop, computer } = office;
  const { calls } = computer;
  await laptop.subscribeResource(KIOSK_WINDOW);
  calls.pause();
  const before = computer.history.length;
  for (const [what, ask] of Object.entries(REFUSED)) {
    await t.step(what, async () => {
      const { code, message, details } = await assertRejects(() => ask(laptop), SmcpError);
      assertEquals([code, details], [403, { state: "paused" }]);
      assertStringIncludes(message, 'paused Computer "laptop"');
    });
  }
  for (const event of ["client:get_dpe", "client:read_resource"]) {
    await t.step(`${event} of what is no text`, async () => {
      const invalid = { computer: "laptop", uri: { toString: null, valueOf: null } };
      const { code } = await assertRejects(() => agent.request(event, invalid), SmcpError);
      assertEquals(code, 403);
    });
  }
  const refused = await laptop.callTool("echo", {});
  assertStringIncludes(refused.content[0]?.text ?? "", 'paused Computer "laptop"');
  assertEquals(
    computer.history.slice(before).map((
      each,
    ) => [each.kind === "call" ? each.tool : each.read, each.outcome]),
    [
      ...["desktop", "finder", "finder", KIOSK_WINDOW, MENU, "greet", "any", "echo"],
    ].map((what) => [what, "refused"]),
  );
  assertEquals((await laptop.getTools()).length > 0, true);
  assertEquals(Object.keys((await laptop.getConfig()).servers), [mcpServer]);
  assertEquals((await laptop.getMcpServers()).map(({ paused }) => paused), [true]);
  await laptop.unsubscribeResource(KIOSK_WINDOW);
  calls.resume();
  assertEquals((await laptop.getWindows()).map(({ uri }) => uri), [KIOSK_WINDOW]);
  assertEquals((await laptop.readPage(MENU, 0)).page_index, 0);
  assertEquals((await laptop.getMcpServers()).map(({ paused }) => paused), [undefined]);
});

Deno.test("what Agents read is in the owner's history, without its content and each thing once", async () => {
  await using office = await ComputerOffice.open({ servers: { kiosk: kioskOnStdio() } });
  const { laptop, computer, agent } = office;
  const told: ComputerEvent[] = [];
  using _ = computer.follow((event) => void told.push(event));
  const refused = [laptop.getSkill("none"), laptop.readResource(`dpe://${KIOSK_HOST}/none`)];
  assertEquals((await Promise.allSettled(refused)).map(({ status }) => status), ["rejected", "rejected"]);
  await laptop.getTools();
  await laptop.readDocumentMetadata(MENU);
  await laptop.readPage(MENU, 0);
  await agent.computer("laptop", { client: "Claude" }).readPage(MENU, 0);
  await laptop.getWindows();
  await laptop.getFinder({ query: "tea" });
  await agent.request("client:get_finder", { computer: "laptop", mcp_server: "invented" });
  await laptop.readResource("kiosk://readme", { mcpServer });
  await laptop.getPrompt("greet", { guest: "Ada" }, { mcpServer });
  await laptop.getDesktop();
  await computer.getDesktop();
  await using observer = await Agent.connect({
    url: office.server.url,
    office: "lab",
    name: "eve",
    observer: true,
  });
  await observer.computer("laptop").getDesktop();
  assertEquals(
    computer.history.filter((each) => each.kind === "read").map((
      { agent, client, server, read, reads, outcome },
    ) => [
      [agent, client, server],
      [read, reads, outcome],
    ]),
    [
      [["ada", undefined, undefined], [MENU, 2, "ok"]],
      [["ada", "Claude", undefined], [MENU, 1, "ok"]],
      [["ada", undefined, undefined], ["finder", 1, "ok"]],
      [["ada", undefined, undefined], ["finder", 1, "ok"]],
      [["ada", undefined, mcpServer], ["kiosk://readme", 1, "ok"]],
      [["ada", undefined, mcpServer], ["greet", 1, "ok"]],
      [["ada", undefined, undefined], ["desktop", 2, "ok"]],
      [["eve", undefined, undefined], ["desktop", 1, "ok"]],
    ],
  );
  assertEquals(told.filter(({ type }) => type === "read").length, 10);
  assertEquals(
    computer.history.flatMap((each) => each.kind === "read" && each.read === "finder" ? [each] : [])
      .map(({ query, documents, moreDocuments }) => [query, documents, moreDocuments]),
    [["tea", [], 0], [undefined, [MENU], 0]],
  );
  assertEquals(/Welcome|Tea\b/.test(JSON.stringify(computer.history)), false);
});

Deno.test("a read that runs when the owner pauses the Computer is refused, too", async () => {
  const asked = Promise.withResolvers<void>();
  const found = Promise.withResolvers<DpeResource>();
  await using office = await ComputerOffice.open({ servers: {} }, {
    resolveDpe() {
      asked.resolve();
      return found.promise;
    },
  });
  const reading = assertRejects(() => office.laptop.getDpe(MENU), SmcpError, "paused");
  await asked.promise;
  office.computer.calls.pause();
  found.resolve({ uri: "https://example.com/menu.txt" });
  await reading;
});

Deno.test("a pause and its end are told as changes of what is given, and no other changes meanwhile", async () => {
  const window = "window://com.example.shop/cart";
  await using office = await ComputerOffice.open(scriptedServers({
    shop: {
      capabilities: { tools: {}, resources: { subscribe: true } },
      resources: [{ uri: window, name: "cart" }],
      contents: { [window]: "empty" },
    },
  }));
  const { laptop, agent, computer } = office;
  assertEquals((await laptop.getWindows()).length, 1);
  const told: string[] = [];
  for (const type of ["updateDesktop", "updateFinder", "updateResources", "updatePrompts"] as const) {
    agent.on(type, () => void told.push(type));
  }
  const all = () =>
    Promise.all((["updateDesktop", "updateFinder"] as const).map((type) => office.next(type)));
  const paused = all();
  computer.calls.pause();
  await paused;
  await laptop.getTools();
  told.length = 0;
  await computer.callTool("become", { contents: { [window]: "full" }, tell: [resourceUpdated(window)] });
  const shown = () => computer.getDesktop();
  await eventually(shown, ([text]) => text?.endsWith("full") === true, "the new text of the window");
  await laptop.getTools();
  assertEquals(told, []);
  const resumed = all();
  computer.calls.resume();
  await resumed;
  assertStringIncludes((await laptop.getDesktop()).join(), "full");
});
