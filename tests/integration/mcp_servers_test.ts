/** What MCP servers say about themselves, on the way to an Agent. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError, UnsupportedRequestError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer } from "./_scripted_computer.ts";

/** The answer to `initialize` of a server that says this about itself. */
function introducing(more: Record<string, unknown>): { answers: Record<string, unknown> } {
  const capabilities = { tools: {}, prompts: { listChanged: true } };
  return { answers: { initialize: { protocolVersion: "2025-06-18", capabilities, ...more } } };
}

// proves: ext-servers-list, ext-servers-named
Deno.test("an Agent learns name, version, instructions and capabilities of a server that runs, and no more of others", async () => {
  const icon = { src: "https://shop.example.com/i.png" };
  const serverInfo = {
    name: "com.example.shop",
    title: "Example Shop",
    version: "2.1.0",
    websiteUrl: "https://shop.example.com",
    description: null,
    icons: [icon, 7],
    secret: "not asked for",
  };
  await using office = await ComputerOffice.open({
    servers: {
      shop: scripted(introducing({ serverInfo, instructions: "Call show_cart first." })),
      files: scripted({}, { disabled: true }),
    },
  });
  const { laptop } = office;
  const shop = {
    mcp_server: "shop",
    status: "running",
    mcp_version: "2025-06-18",
    server_info: {
      name: "com.example.shop",
      title: "Example Shop",
      version: "2.1.0",
      website_url: "https://shop.example.com",
      icons: [icon],
    },
    instructions: "Call show_cart first.",
    capabilities: { tools: {}, prompts: { listChanged: true } },
    tools: ["become", "received"],
  };
  assertEquals(await laptop.getMcpServers(), [shop, { mcp_server: "files", status: "stopped" }]);
  assertEquals(await laptop.getMcpServers({ mcpServer: "shop" }), [shop]);
  const ghost = await assertRejects(() => laptop.getMcpServers({ mcpServer: "ghost" }), SmcpError);
  assertEquals(ghost.code, 4014);
  assertStringIncludes(ghost.message, 'No MCP server named "ghost" (MCP servers: shop, files)');
});

// proves: ext-servers-bounds
Deno.test("huge instructions are cut, and what else is huge is left out", async () => {
  const serverInfo = { name: "x*9000", icons: [{ src: "x*90000" }] };
  const script = introducing({ serverInfo, instructions: "x*200000" });
  const capabilities = { tools: {}, experimental: { odd: "x*90000" } };
  Object.assign(script.answers["initialize"] ?? {}, { capabilities });
  await using office = await ComputerOffice.open({ servers: { shop: scripted(script) } });
  const [shop] = await office.laptop.getMcpServers();
  assertEquals(shop?.instructions, `${"x".repeat(65_536)}…`);
  assertEquals(shop?.instructions_cut, true);
  assertEquals(shop?.capabilities, undefined);
  assertEquals(shop?.server_info, { name: `${"x".repeat(4_096)}…` });
  await office.laptop.getMcpServers();
  const warnings = office.log.of("warn").filter(({ message }) => message.includes("of an MCP server are"));
  assertEquals(warnings.length, 3);
});

Deno.test("instructions of a wrong type cost nothing else", async () => {
  const script = introducing({ serverInfo: "x", instructions: { text: "y" } });
  await using office = await ComputerOffice.open({ servers: { shop: scripted(script) } });
  const [shop] = await office.laptop.getMcpServers();
  assertEquals(shop?.status, "running");
  assertEquals([shop?.instructions, shop?.server_info], [undefined, undefined]);
});

// proves: ext-servers-private
Deno.test("a secret that a server repeats in its instructions is masked", async () => {
  const script = introducing({ instructions: "The token is tok-12345678901234567890" });
  const entry = scripted(script) as { server_parameters: Record<string, unknown> };
  const server_parameters = { ...entry.server_parameters, env: { API_TOKEN: "tok-12345678901234567890" } };
  await using office = await ComputerOffice.open({ servers: { shop: { ...entry, server_parameters } } });
  const [shop] = await office.laptop.getMcpServers();
  assertEquals(shop?.instructions, "The token is ***");
});

Deno.test("a request that meets a limit is refused in the Server's own words, not as an unknown one", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const refused = { code: 400, message: "too many events wait", details: { field: "event", limit: 64 } };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_prompts": () => refused },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const error = await assertRejects(() => agent.computer("laptop").getPrompts(), SmcpError);
  assertEquals([error.name, error.message], ["SmcpError", refused.message]);
});

// proves: ext-unknown-event
Deno.test("a Computer that does not know a request is named, with the request and what to do", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const refused = { code: 400, message: "unknown", details: { field: "event" } };
  const answers = { "client:get_mcp_servers": () => NOTHING, "client:get_prompts": () => refused };
  using _computer = await ScriptedComputer.join(server.url, { answers });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  for (const ask of [() => laptop.getMcpServers(), () => laptop.getPrompts()]) {
    const error = await assertRejects(ask, UnsupportedRequestError);
    assertEquals([error.code, error.name], [400, "UnsupportedRequestError"]);
    assertStringIncludes(error.message, `"${error.event}": Computer "laptop"`);
  }
});
