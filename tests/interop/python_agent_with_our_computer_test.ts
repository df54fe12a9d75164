import { assertEquals, assertObjectMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { SMCPTool } from "../../agent.ts";
import { SmcpServer } from "../../server.ts";
import { fields, GUIDE, HELP, interop, openComputer, picture, statusSays } from "./_office.ts";
import { PeerError, PythonPeer } from "./peer.ts";

const office = "lab";
const computer = "laptop";
const agent = "ada";

Deno.test("a Python Agent works with our Computer through our Server", interop, async (t) => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using laptop = await openComputer(computer);
  const address = ["--url", server.url, "--office", office];
  await using ada = await PythonPeer.start("agent", [...address, "--name", agent]);
  let lastRequest = 0;

  /** Sends an event that the reference Agent has no method for. */
  function request(event: string, body: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
    const data = { agent, req_id: `r-${++lastRequest}`, computer, ...body };
    return ada.command({ command: "request", event, data });
  }

  await t.step("the Agent fetches the tools of a Computer that comes", async () => {
    await laptop.join({ url: server.url, office });
    const { data } = await ada.nextEvent("tools_received");
    const tools = ["add", "slow", "set_status", "picture", "echo", "fail"].map((name) => ({ name }));
    assertObjectMatch(fields(data), { computer, tools });
  });

  await t.step("the metadata of a tool is flat, as the Agent wants it", async () => {
    // proves: data-meta-flat, data-meta-a2c, data-meta-annotation, data-meta-nulls
    const { tools } = fields(await ada.command({ command: "tools", computer })) as { tools: [SMCPTool] };
    const { a2c_tool_meta, MCP_TOOL_ANNOTATION } = fields(tools[0].meta);
    const unset = { alias: null, tags: null, ret_object_mapper: null };
    assertEquals(JSON.parse(String(a2c_tool_meta)), { auto_apply: true, ...unset });
    assertObjectMatch(JSON.parse(String(MCP_TOOL_ANNOTATION)), { title: "Add", readOnlyHint: true });
  });

  await t.step("the Agent finds the Computer in the office", async () => {
    const computers = await ada.command({ command: "computers" });
    assertObjectMatch({ computers }, {
      computers: [{ name: computer, role: "computer", office_id: office }],
    });
  });

  await t.step("the Agent calls tools and reads their results as MCP's", async () => {
    const sum = await ada.command({ command: "call", computer, tool: "add", params: { a: 40, b: 2 } });
    assertObjectMatch(fields(sum), { isError: false, structuredContent: { sum: 42 } });
    const failed = await ada.command({ command: "call", computer, tool: "fail" });
    assertObjectMatch(fields(failed), { isError: true, content: [{ text: "out of paper" }] });
    const unknown = await ada.command({ command: "call", computer, tool: "nope" });
    assertObjectMatch(fields(unknown), { isError: true, _meta: { error_code: 4001 } });
  });

  await t.step("a large picture arrives whole", async () => {
    const params = { size: 600_000 };
    const result = await ada.command({ command: "call", computer, tool: "picture", params });
    assertObjectMatch(fields(result), { content: [{ type: "image", data: picture(params.size) }] });
  });

  await t.step("the Agent gets the desktop, as much of it as it asks for", async () => {
    const all = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(all.desktops, [statusSays("idle"), HELP]);
    const first = fields(await ada.command({ command: "desktop", computer, size: 1 }));
    assertEquals(first.desktops, [statusSays("idle")]);
    const window = "window://interop.windows/help";
    const help = fields(await ada.command({ command: "desktop", computer, window }));
    assertEquals(help.desktops, [HELP]);
  });

  await t.step("the Agent hears of a changed window and fetches the desktop anew", async () => {
    ada.takeEvents();
    await ada.command({ command: "call", computer, tool: "set_status", params: { text: "busy" } });
    assertEquals((await ada.nextEvent("notify:update_desktop")).data, { computer });
    const { desktops } = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(desktops, [statusSays("busy"), HELP]);
  });

  await t.step("a call that the Agent cancels ends at once, in the MCP server, too", async () => {
    ada.takeEvents();
    const params = { seconds: 60 };
    const call = ada.command({ command: "call", computer, tool: "slow", params, timeout: 60 });
    const isCall = (sent: unknown) => fields(sent).event === "client:tool_call";
    const { data } = await ada.nextEvent("sent", { where: isCall });
    await ada.nextEvent("notify:update_desktop");
    await ada.command({ command: "cancel", req_id: fields(fields(data).data).req_id });
    assertObjectMatch(fields(await call), { isError: true, _meta: { a2c_cancelled: true } });
    await ada.nextEvent("notify:update_desktop");
    const { desktops } = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(desktops, [statusSays("slow was cancelled"), HELP]);
  });

  await t.step("a call that takes too long ends on the Agent's side and is cancelled", async () => {
    ada.takeEvents();
    const result = await ada.command({
      command: "call",
      computer,
      tool: "slow",
      params: { seconds: 60 },
      timeout: 1,
    });
    assertObjectMatch(fields(result), { isError: true });
    await ada.nextEvent("notify:update_desktop");
    await ada.nextEvent("notify:update_desktop");
    const { desktops } = fields(await ada.command({ command: "desktop", computer }));
    assertEquals(desktops, [statusSays("slow was cancelled"), HELP]);
  });

  await t.step("the Agent pages through the resources of an MCP server", async () => {
    const ask = { command: "resources", computer, mcp_server: "windows" };
    const first = fields(await ada.command(ask));
    assertObjectMatch(first, { resources: [{ name: "Help", mime_type: "text/plain" }, { name: "Status" }] });
    const last = fields(await ada.command({ ...ask, cursor: first.next_cursor }));
    assertObjectMatch(last, { resources: [{ uri: GUIDE }] });
    assertEquals("next_cursor" in last, false);
  });

  await t.step("the Agent reads our errors", async () => {
    const resources = (mcp_server: string) => ada.command({ command: "resources", computer, mcp_server });
    await assertRejects(() => resources("nope"), PeerError, "SMCPProtocolError: [4014]");
    await assertRejects(() => resources("plain"), PeerError, "SMCPProtocolError: [4015]");
  });

  await t.step("the Agent reads the configuration", async () => {
    const [config] = await ada.command({ command: "config", computer }) as unknown[];
    assertObjectMatch(fields(config), { servers: { windows: { type: "stdio" }, plain: { type: "stdio" } } });
  });

  await t.step("documents are open to an Agent whose SDK has no method for them", async () => {
    // proves: mcp-list-cursor, guide-bridge-host, guide-collect-server
    const [finder] = await request("client:get_finder", { keywords: ["guide"] }) as unknown[];
    assertObjectMatch(fields(finder), { documents: [{ uri: GUIDE, server: "windows" }], total_count: 1 });
    const [page] = await request("client:read_resource", { uri: `${GUIDE}/pages/1` }) as unknown[];
    assertStringIncludes(JSON.stringify(page), "Round trips");
  });

  await t.step("an event that our Computer does not serve is answered at once", async () => {
    const [answer] = await request("client:make_coffee") as unknown[];
    assertObjectMatch(fields(answer), { code: 400, details: { field: "event" } });
  });

  await t.step("the Agent hears that the Computer left", async () => {
    await laptop.leave();
    assertEquals((await ada.nextEvent("notify:leave_office")).data, { office_id: office, computer });
  });
});
