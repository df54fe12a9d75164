import { assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer } from "./_scripted_computer.ts";
import { within } from "../fixtures/within.ts";

const listed = { description: "", params_schema: {}, return_schema: null, meta: {} };

Deno.test("a tool belongs to the MCP server that lists it, and its metadata is what the MCP server sends", async () => {
  const tool = { name: "find", inputSchema: { type: "object" } };
  await using office = await ComputerOffice.open(
    scriptedServers({
      one: { tools: [tool] },
      two: { tools: [tool, { ...tool, _meta: { a2c_mcp_server: "x" }, name: "get" }] },
    }),
  );
  const tools = (await office.laptop.getTools()).filter(({ name }) => /find|get/.test(name));
  assertEquals(tools.map(({ name, server, meta }) => [name, server, meta?.["a2c_mcp_server"]]), [
    ["find", "one", undefined],
    ["two__find", "two", undefined],
    ["get", "two", "x"],
  ]);
  const onWire = await office.agent.request("client:get_tools", { computer: "laptop" });
  const names = (onWire as { tools: Record<string, unknown>[] }).tools.map((each) => Object.keys(each));
  assertEquals(names[0], ["name", "description", "params_schema", "return_schema", "meta"]);
  assertEquals(Object.keys((await office.laptop.callTool("find")).meta ?? {}), ["a2c_tool_meta"]);
  assertEquals([...new Set(office.computer.tools.map(({ server }) => server))], ["one", "two"]);
  assertEquals(office.computer.mcp.getMcpServers({ mcpServer: "two" })[0]?.tools?.slice(0, 2), [
    "two__find",
    "get",
  ]);
});

Deno.test("the MCP servers of tools are requested once until the tools or the configuration change", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  let requests = 0;
  let owner = "one";
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_tools": ({ req_id }) => ({ tools: [{ ...listed, name: "t" }], req_id }),
      "client:get_mcp_servers": ({ req_id }) => {
        requests++;
        return { mcp_servers: [{ mcp_server: owner, status: "running", tools: ["t", 5] }], req_id };
      },
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const serverOf = async () => (await agent.computer("laptop").getTools())[0]?.server;
  assertEquals([await serverOf(), await serverOf(), requests], ["one", "one", 1]);
  for (const event of ["update_tool_list", "update_config"] as const) {
    owner = event;
    const told = Promise.withResolvers<unknown>();
    using _unsubscribe = agent.on(
      event === "update_config" ? "updateConfig" : "updateToolList",
      told.resolve,
    );
    await computer.send(`server:${event}`, { computer: "laptop" });
    await within(told.promise, "the event");
    assertEquals([await serverOf(), await serverOf()], [event, event]);
  }
  assertEquals(requests, 3);
});

for (
  const [what, answer] of [["does not know", () => NOTHING], ["does not answer", () => undefined]] as const
) {
  Deno.test(`the tools of a Computer that ${what} that request are listed without MCP servers`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(server.url, {
      answers: {
        "client:get_tools": ({ req_id }) => ({ tools: [{ ...listed, name: "t" }], req_id }),
        "client:get_mcp_servers": answer,
      },
    });
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
    const [tool] = await agent.computer("laptop").getTools();
    assertEquals([tool?.name, tool?.server], ["t", undefined]);
  });
}
