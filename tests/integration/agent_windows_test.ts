import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError, UnsupportedRequestError } from "../../src/protocol/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer } from "./_scripted_computer.ts";

Deno.test("getWindows() tells URI, text, title and MCP server of each window, in the Desktop's order", async () => {
  const low = { uri: "window://a/low", annotations: { priority: 0.1 }, title: "Low" };
  const high = { uri: "window://a/high?x=1", annotations: { priority: 0.9 } };
  await using office = await ComputerOffice.open(scriptedServers({
    one: {
      resources: [low, high],
      contents: { "window://a/low": "first\n\nsecond", "window://a/high?x=1": "up" },
    },
    two: { resources: [{ uri: "window://b" }], contents: { "window://b": "other" } },
  }));
  assertEquals(await office.laptop.getWindows(), [
    { uri: "window://a/high", text: "up", mcpServer: "one" },
    { uri: "window://a/low", text: "first\n\nsecond", title: "Low", mcpServer: "one" },
    { uri: "window://b", text: "other", mcpServer: "two" },
  ]);
  assertEquals(await office.laptop.getWindows({ window: "window://b" }), [
    { uri: "window://b", text: "other", mcpServer: "two" },
  ]);
  const error = await assertRejects(() => office.laptop.getWindows({ window: "x" }), SmcpError);
  assertEquals([error.code, error.details], [400, { field: "window" }]);
});

Deno.test("getWindows() reads the Desktop of a Computer that does not serve the extension", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const desktops = ["window://a\n\ntext\n\nmore", "window://b"];
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_windows": () => NOTHING,
      "client:get_desktop": ({ req_id }) => ({ desktops, req_id }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const windows = [{ uri: "window://a", text: "text\n\nmore" }, { uri: "window://b", text: "" }];
  assertEquals(await agent.computer("laptop").getWindows({ size: 2 }), windows);
  assertEquals(computer.lastBody("client:get_desktop")["desktop_size"], 2);
  computer.answers["client:get_windows"] = () => ({ code: 413, message: "Too large" });
  assertEquals(await agent.computer("laptop").getWindows(), windows);
});

Deno.test("readResource() reads a window in the Desktop of a Computer that reads no resources", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:read_resource": () => NOTHING,
      "client:get_desktop": ({ req_id, window }) => ({
        desktops: window === "window://A/b?x=1" ? ["window://a/b\n\ntext\n\nmore"] : [],
        req_id,
      }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const uri = "window://A/b?x=1";
  assertEquals(await laptop.readResource(uri), { contents: [{ uri, text: "text\n\nmore" }] });
  const missing = await assertRejects(() => laptop.readResource("window://c"), SmcpError);
  assertEquals([missing.code, missing.details], [404, { uri: "window://c" }]);
  await assertRejects(() => laptop.readResource("dpe://c/d"), UnsupportedRequestError);
  assertEquals(computer.requests.filter(({ event }) => event === "client:get_desktop").length, 2);
});

Deno.test("what is wrong with one window costs that window", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_windows": () => ({
        windows: [{ text: "x" }, null, { uri: "window://a", text: 1, meta: [] }],
      }),
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  assertEquals(await agent.computer("laptop").getWindows(), [{ uri: "window://a", text: "" }]);
});

Deno.test("a link in a result can be read from the MCP server of the tool", async () => {
  const link = { type: "resource_link", uri: "file:///notes", name: "notes" };
  await using office = await ComputerOffice.open(scriptedServers({
    files: {
      tools: [{ name: "find", inputSchema: { type: "object" } }],
      answers: { "tools/call find": { content: [link] } },
      resources: [{ uri: "file:///notes" }],
      contents: { "file:///notes": "milk" },
    },
  }));
  const [tool] = await office.laptop.getTools();
  const { content: [item], meta } = await office.laptop.callTool("find");
  assertEquals([tool?.server, Object.keys(meta ?? {})], ["files", ["a2c_tool_meta"]]);
  const uri = item?.type === "resource_link" ? item.uri : "";
  const { contents } = await office.laptop.readResource(uri, { mcpServer: tool?.server });
  assertEquals(contents[0]?.text, "milk");
});

Deno.test("getWindows() leaves out what does not fit into one message, with a warning", async () => {
  const resources = [{ uri: "window://a/big" }, { uri: "window://a/small" }];
  const contents = { "window://a/big": "x*200000", "window://a/small": "here" };
  await using office = await ComputerOffice.open(scriptedServers({ s: { resources, contents } }), {
    server: { maxPayloadBytes: 100_000 },
  });
  assertEquals((await office.laptop.getWindows()).map(({ uri, mcpServer }) => [uri, mcpServer]), [
    ["window://a/small", "s"],
  ]);
});
