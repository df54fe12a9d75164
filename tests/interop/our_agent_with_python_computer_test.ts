import { assertEquals, assertObjectMatch, assertRejects } from "@std/assert";
import { Agent } from "../../agent.ts";
import { SmcpError } from "../../mod.ts";
import { SmcpServer } from "../../server.ts";
import { GUIDE, HELP, interop, nextEvent, picture, statusSays, untilStatusSays } from "./_office.ts";
import { PythonPeer } from "./peer.ts";

const office = "lab";
const computer = "laptop";

Deno.test("our Agent works with a Python Computer through our Server", interop, async (t) => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
  const came = nextEvent(agent, "enterOffice");
  const address = ["--url", server.url, "--office", office];
  await using python = await PythonPeer.start("computer", [...address, "--name", computer]);
  const laptop = agent.computer(computer);

  await t.step("the Agent hears that the Computer came", async () => {
    assertEquals(await came, { type: "enterOffice", office, role: "computer", name: computer });
  });

  await t.step("the Agent gets the tools with their schemas and metadata", async () => {
    const tools = await laptop.getTools();
    assertEquals(tools.map(({ name }) => name), ["add", "slow", "set_status", "picture"]);
    assertObjectMatch({ ...tools[0] }, {
      params_schema: { required: ["a", "b"] },
      return_schema: { required: ["sum"] },
      meta: { a2c_tool_meta: `{"auto_apply": true, "alias": null, "tags": null, "ret_object_mapper": null}` },
    });
  });

  await t.step("the Agent calls a tool", async () => {
    const result = await laptop.callTool("add", { a: 40, b: 2 });
    assertObjectMatch(result, { isError: false, structuredContent: { sum: 42 } });
    assertObjectMatch(result.meta ?? {}, { a2c_tool_meta: { auto_apply: true } });
  });

  await t.step("an unknown tool is an error result", async () => {
    assertObjectMatch(await laptop.callTool("nope"), {
      isError: true,
      structuredContent: { error_type: "ValueError" },
    });
  });

  await t.step("a picture that the Computer keeps back is fetched, checked and filled in", async () => {
    const result = await laptop.callTool("picture", { size: 600_001 });
    const [item] = result.content;
    assertEquals([item?.data, item?._meta], [picture(600_001), undefined]);
  });

  await t.step("a picture that the Computer sends along stays as it is", async () => {
    const { content: [item] } = await laptop.callTool("picture", { size: 1_000 });
    assertEquals(item?.data, picture(1_000));
  });

  await t.step("the Agent gets the desktop, as much of it as it asks for", async () => {
    assertEquals(await laptop.getDesktop(), [statusSays("idle"), HELP]);
    assertEquals(await laptop.getDesktop({ size: 1 }), [statusSays("idle")]);
    assertEquals(await laptop.getDesktop({ window: "window://interop.windows/help" }), [HELP]);
  });

  await t.step("the Agent hears of a changed window and fetches the desktop anew", async () => {
    const refreshed = untilStatusSays(agent, "busy");
    await laptop.callTool("set_status", { text: "busy" });
    assertEquals((await refreshed).computer, computer);
  });

  await t.step("a call that is aborted is cancelled in the MCP server", async () => {
    const abort = new AbortController();
    const running = untilStatusSays(agent, "slow is running");
    const call = laptop.callTool("slow", { seconds: 60 }, { signal: abort.signal, timeoutMs: 60_000 });
    await running;
    const cancelled = untilStatusSays(agent, "slow was cancelled");
    abort.abort();
    await assertRejects(() => call, DOMException);
    await cancelled;
  });

  await t.step("the Agent pages through the resources of an MCP server", async () => {
    const first = await laptop.getResources("windows");
    assertEquals(first.resources.map(({ name, mime_type }) => [name, mime_type]), [
      ["Help", "text/plain"],
      ["Status", "text/plain"],
    ]);
    const last = await laptop.getResources("windows", { cursor: first.nextCursor });
    assertEquals([last.resources.map(({ uri }) => uri), last.nextCursor], [[GUIDE], undefined]);
  });

  await t.step("the Agent reads the Computer's errors", async () => {
    const error = await assertRejects(
      () => laptop.getResources("nope"),
      SmcpError,
      "MCP Server not registered",
    );
    assertEquals([error.code, error.details], [4014, { mcp_server: "nope" }]);
  });

  await t.step("the Agent reads the configuration", async () => {
    const config = await laptop.getConfig();
    assertObjectMatch({ ...config }, { servers: { windows: { name: "windows", type: "stdio" } } });
  });

  await t.step("what the Computer does not know is refused at once, and the Agent says so", async () => {
    const asks = [
      () => laptop.getFinder(),
      () => laptop.readPage(GUIDE, 0),
    ];
    for (const ask of asks) {
      const error = await assertRejects(ask, SmcpError, "does not support it");
      assertEquals([error.code, error.details], [400, { field: "event" }]);
    }
  });

  await t.step("a window of a Computer that reads no resources is read in its desktop", async () => {
    const uri = "window://interop.windows/help";
    const { contents } = await laptop.readResource(uri);
    assertEquals(contents.map((content) => "text" in content && `${uri}\n\n${content.text}`), [HELP]);
  });

  await t.step("the Agent can use what our SDK does not know", async () => {
    assertObjectMatch(await agent.request("client:get_skills", { computer }) as object, { skills: [] });
    const told = nextEvent(agent, "notification");
    await python.command({ command: "update", what: "skills" });
    assertEquals(await told, { type: "notification", event: "notify:update_skills", body: { computer } });
  });

  await t.step("a request in flight is answered as soon as the Computer is gone", async () => {
    const running = untilStatusSays(agent, "slow is running");
    const call = laptop.callTool("slow", { seconds: 60 }, { timeoutMs: 60_000 });
    const left = nextEvent(agent, "leaveOffice");
    await running;
    const error = assertRejects(() => call, SmcpError);
    await python.close();
    assertEquals([(await error).code, (await left).name], [404, computer]);
  });
});
