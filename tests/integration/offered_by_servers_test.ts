/** Everything that real MCP servers offer, as the author of an Agent gets it. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { toolDetails } from "../../src/protocol/tool_details.ts";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { kioskCommand, kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { everything } from "../fixtures/public_servers.ts";
import { within } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

const PAGE = { mimeType: "text/html;profile=mcp-app" };

/** A server on version 2 of the SDK in both eras of MCP: the versions with sessions, and the one without. */
const KIOSKS = [
  { version: "2025-11-25", config: kioskOnStdio() },
  {
    version: "2026-07-28",
    config: kioskOnStdio({ mcp_version: "2026", server_parameters: kioskCommand("2026") }),
  },
];

for (const { version, config } of KIOSKS) {
  // proves: ext-servers-list, ext-prompts-list, ext-prompt-questions, ext-complete-prompt, ext-app-page
  Deno.test(`a server of ${version} is described, and its prompts, page and templates reach the Agent`, async (t) => {
    await using office = await ComputerOffice.open({ servers: { kiosk: config } });
    await checkKiosk(office.laptop, { version, step: (name, check) => t.step(name, check) });
  });
}

async function checkKiosk(
  laptop: RemoteComputer,
  { version, step }: {
    readonly version: string;
    readonly step: (name: string, check: () => Promise<void>) => Promise<boolean>;
  },
): Promise<void> {
  await step("what it says about itself", async () => {
    const [kiosk] = await laptop.getMcpServers();
    assertEquals([kiosk?.mcp_server, kiosk?.status], ["kiosk", "running"]);
    assertEquals(kiosk?.mcp_version, version);
    assertEquals(kiosk?.server_info, { name: "kiosk", title: "Kiosk", version: "2.0.0" });
    assertEquals(kiosk?.instructions, "Order drinks with the tool `order`.");
    assertEquals(kiosk?.capabilities?.["prompts"], { listChanged: true });
  });

  await step("its prompts", async () => {
    const { prompts } = await laptop.getPrompts();
    assertEquals(prompts.map(({ name, title, arguments: args }) => [name, title, args]), [
      ["greet", "Greet a guest", [{ name: "guest", description: "Who is greeted", required: true }]],
      ["survey", undefined, undefined],
      ["close", undefined, undefined],
    ]);
    const { messages } = await laptop.getPrompt("greet", { guest: "Ada" });
    const content = { type: "text", text: "Greet Ada at the kiosk." } as const;
    assertEquals(messages, [{ role: "user", content }]);
    const argument = { name: "guest", value: "A" };
    assertEquals((await laptop.complete({ prompt: "greet", argument })).values, ["Ada", "Alan"]);
    const survey = await laptop.getPrompt("survey");
    assertEquals(survey.messages[0]?.content.text, "The answer was: decline.");
    const missing = await assertRejects(() => laptop.getPrompt("greet"), SmcpError);
    assertEquals(missing.code, ErrorCode.BAD_REQUEST);
  });

  await step("the page of a tool", async () => {
    const echo = (await laptop.getTools()).find(({ name }) => name === "echo") ?? {};
    const { ui, title, icons, mcpServer } = toolDetails(echo);
    assertEquals([title, icons?.length], ["Echo", 1]);
    const { contents } = await laptop.readResource(ui?.resourceUri ?? "", { mcpServer });
    assertEquals(contents, [{ uri: "ui://kiosk/menu", ...PAGE, text: "<p>Tea and coffee</p>" }]);
  });

  await step("its resources of any scheme and its templates", async () => {
    const { resources } = await laptop.getResources("kiosk");
    assert(resources.some(({ uri }) => uri === "kiosk://readme"));
    const { resourceTemplates } = await laptop.getResourceTemplates();
    const uri = "kiosk://drinks/{drink}";
    assert(resourceTemplates.some(({ uri_template }) => uri_template === uri));
    const argument = { name: "drink", value: "t" };
    const { values } = await laptop.complete({ uri, argument, mcpServer: "kiosk" });
    assertEquals(values, ["tea"]);
    const { contents } = await laptop.readResource("kiosk://drinks/tea", { mcpServer: "kiosk" });
    assertEquals(contents[0]?.text, "A cup of tea");
  });
}

// proves: mcp-subscribe-any, ext-prompts-changed
Deno.test("an Agent hears of changed prompts and of any resource of a server of 2026-07-28", async () => {
  await using kiosk = new KioskHttp({ serves: "2026" });
  await using office = await ComputerOffice.open({ servers: { kiosk: kiosk.config() } });
  const { laptop } = office;
  const [described] = await laptop.getMcpServers();
  assertEquals(described?.mcp_version, "2026-07-28");

  const refreshed = office.next("promptsRefreshed");
  kiosk.notify.promptsChanged();
  assertEquals((await refreshed).prompts.map(({ name }) => name), ["greet", "survey", "close"]);

  await laptop.subscribeResource("kiosk://readme", { mcpServer: "kiosk" });
  const updated = Promise.withResolvers<void>();
  office.agent.on("resourcesUpdated", ({ updates }) => {
    if (updates.some(({ uri }) => uri === "kiosk://readme")) updated.resolve();
  });
  kiosk.notify.resourceUpdated("kiosk://readme");
  await within(updated.promise, "the update of a subscribed resource");
});

Deno.test("the public server is described, and its prompts with arguments, completion and resources reach the Agent", async () => {
  await using office = await ComputerOffice.open({ servers: { all: everything() } });
  const { laptop } = office;
  const [all] = await laptop.getMcpServers();
  assertStringIncludes(all?.instructions ?? "", "Everything");
  const { prompts } = await laptop.getPrompts();
  const names = prompts.map(({ name }) => name);
  assertEquals(names, ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]);
  const { messages } = await laptop.getPrompt("args-prompt", { city: "Ulm" });
  assertStringIncludes(messages[0]?.content.text ?? "", "Ulm");
  const argument = { name: "department", value: "Eng" };
  const { values } = await laptop.complete({ prompt: "completable-prompt", argument });
  assertEquals(values, ["Engineering"]);
  const embedded = await laptop.getPrompt("resource-prompt", { resourceType: "Text", resourceId: "1" });
  const resource = embedded.messages.map(({ content }) => content).find(({ type }) => type === "resource");
  assertStringIncludes(resource?.resource?.uri ?? "", "demo://resource/");
});
