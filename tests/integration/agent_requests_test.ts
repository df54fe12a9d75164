import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import { type LogFields, silentLogger } from "../../src/log.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { ScriptedComputer, textResult } from "./_scripted_computer.ts";

const echo = {
  name: "echo",
  description: "Says it again",
  params_schema: { type: "object" },
  return_schema: null,
  meta: {},
};

function connect(url: string, options: Partial<AgentOptions> = {}): Promise<Agent> {
  return Agent.connect({ url, office: "lab", name: "ada", ...options });
}

// proves: data-list-room-req, data-list-room-ret, data-session-info
Deno.test("listOffice() tells who is in the office, this Agent included", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const members = await agent.listOffice();
  assertEquals(
    members.map(({ role, name, office_id, a2c_version }) => [role, name, office_id, a2c_version]).sort(),
    [["agent", "ada", "lab", "0.2.0"], ["computer", "laptop", "lab", "0.2.0"]],
  );
});

// proves: data-get-tools-req, data-get-tools-ret, data-smcp-tool, data-agent-call
Deno.test("getTools() asks one Computer for its tools", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_tools": ({ req_id }) => ({ tools: [echo], req_id }) },
  });
  await using agent = await connect(server.url);
  assertEquals(await agent.computer("laptop").getTools(), [echo]);
  const { req_id, ...body } = computer.lastBody("client:get_tools");
  assertEquals([typeof req_id, body], ["string", { agent: "ada", computer: "laptop" }]);
});

// proves: data-tool-call-req, data-timeout-seconds, data-snake-case
Deno.test("callTool() names the tool, its parameters and its time in whole seconds", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": () => textResult("hi") },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  const result = await laptop.callTool("echo", { message: "hi" }, { timeoutMs: 1_200 });
  assertEquals(result, { content: [{ type: "text", text: "hi" }], isError: false });
  const { req_id, ...body } = computer.lastBody("client:tool_call");
  assertMatch(String(req_id), /^[0-9a-f-]{36}$/);
  assertEquals(body, {
    agent: "ada",
    computer: "laptop",
    tool_name: "echo",
    params: { message: "hi" },
    timeout: 2,
  });
  await laptop.callTool("echo");
  assertEquals(computer.lastBody("client:tool_call")["timeout"], 30);
});

// proves: data-req-id-dedupe, guide-agent-req-id
Deno.test("each request has an id of its own, and a call can be repeated under its id", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": () => textResult("hi") },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  await laptop.callTool("echo");
  await laptop.callTool("echo");
  await laptop.callTool("echo", {}, { reqId: "again" });
  await laptop.callTool("echo", {}, { reqId: "again" });
  const calls = computer.requests.filter(({ event }) => event === "client:tool_call");
  const ids = calls.map(({ body }) => body["req_id"]);
  assertEquals([new Set(ids).size, ids.slice(2)], [3, ["again", "again"]]);
});

Deno.test("callTool() reads the metadata of a result in both spellings", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const item = { type: "text", text: "hi", annotations: null };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": ({ tool_name }) =>
        tool_name === "old"
          ? { meta: { error_code: 4003 }, content: [{ ...item, meta: { x: 1 } }], isError: true }
          : { _meta: { error_code: 4003 }, content: [{ ...item, _meta: { x: 1 } }], isError: true },
    },
  });
  await using agent = await connect(server.url);
  for (const tool of ["old", "new"]) {
    const { meta, content, isError } = await agent.computer("laptop").callTool(tool);
    assertEquals([meta?.error_code, content[0]?._meta, isError], [4003, { x: 1 }, true]);
  }
});

Deno.test("callTool() fills in large binary items", async () => {
  const bytes = Uint8Array.from({ length: 300_000 }, (_, i) => i % 256);
  const sha256 = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": () => ({
        content: [{ type: "image", mimeType: "image/png", data: "", meta: { a2c_blob_handle: "h1" } }],
      }),
      "client:get_blob"({ blob_handle, chunk_offset, max_chunk_bytes, req_id }) {
        const [start, length] = [Number(chunk_offset), Number(max_chunk_bytes)];
        return {
          blob_handle,
          mime_type: "image/png",
          total_size: bytes.length,
          sha256,
          chunk_offset,
          eof: start + length >= bytes.length,
          blob: bytes.slice(start, start + length).toBase64(),
          req_id,
        };
      },
    },
  });
  await using agent = await connect(server.url);
  const { content } = await agent.computer("laptop").callTool("screenshot");
  assertEquals(content, [{ type: "image", mimeType: "image/png", data: bytes.toBase64() }]);
  const chunks = computer.requests.filter(({ event }) => event === "client:get_blob");
  assertEquals(chunks.map(({ body }) => [body["blob_handle"], body["chunk_offset"]]), [["h1", 0], [
    "h1",
    262_144,
  ]]);
});

Deno.test("callTool() keeps the handle of an item that cannot be had", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const item = {
    type: "image" as const,
    data: "",
    mimeType: "image/png",
    _meta: { a2c_blob_handle: "gone" },
  };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": () => ({ content: [item] }),
      "client:get_blob": () => ({ code: 4018, message: "Gone", details: { reason: "gone" } }),
    },
  });
  await using agent = await connect(server.url);
  assertEquals((await agent.computer("laptop").callTool("screenshot")).content, [item]);
});

// proves: data-get-config-req, data-get-config-ret
Deno.test("getConfig() asks for the configuration", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const web = { name: "web", type: "sse", server_parameters: { url: "http://web/sse" } };
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_config": () => ({ inputs: null, servers: { web } }) },
  });
  await using agent = await connect(server.url);
  const { servers, inputs } = await agent.computer("laptop").getConfig();
  assertEquals([servers["web"]?.type, inputs], ["sse", null]);
  assertEquals(computer.lastBody("client:get_config")["computer"], "laptop");
});

// proves: data-desktop-req, data-desktop-size, data-desktop-window, data-desktop-ret
Deno.test("getDesktop() asks for windows, and for as many and which only when told to", async () => {
  const desktops = ["window://a\n\nA"];
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_desktop": ({ req_id }) => ({ desktops, req_id }) },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  assertEquals(await laptop.getDesktop(), desktops);
  const { req_id: _, ...bare } = computer.lastBody("client:get_desktop");
  assertEquals(bare, { agent: "ada", computer: "laptop" });
  await laptop.getDesktop({ size: 3, window: "window://a", timeoutMs: 7_000 });
  const { req_id: _id, ...full } = computer.lastBody("client:get_desktop");
  assertEquals(full, { ...bare, desktop_size: 3, window: "window://a", timeout: 7 });
});

// proves: guide-agent-get-finder, guide-agent-leaves-out, data-finder-req, data-finder-ret
Deno.test("getFinder() sends the options that it is given and no others", async () => {
  const document = {
    doc_ref: "rpt",
    uri: "dpe://docs/rpt",
    file_uri: "file:///rpt.xlsx",
    file_type: "xlsx",
    title: "Report",
    page_count: 12,
    server: "docs",
  };
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_finder": ({ req_id }) => ({ documents: [document], total_count: 41, req_id }) },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  assertEquals(await laptop.getFinder(), { documents: [document], totalCount: 41 });
  const { req_id: _, ...bare } = computer.lastBody("client:get_finder");
  assertEquals(bare, { agent: "ada", computer: "laptop" });
  await laptop.getFinder({ keywords: ["report"], fileType: "xlsx", offset: 20, limit: 5 });
  const { req_id: _id, ...full } = computer.lastBody("client:get_finder");
  assertEquals(full, { ...bare, keywords: ["report"], file_type: "xlsx", offset: 20, limit: 5 });
});

Deno.test("getResources() and getDpe() ask one MCP server and the host program", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:get_resources": ({ cursor, req_id }) =>
        cursor === undefined
          ? { resources: [{ uri: "file:///a" }], next_cursor: "2", req_id }
          : { resources: [], req_id },
      "client:get_dpe": ({ uri, req_id }) => ({ resource: { uri: `https://x/?of=${uri}`, size: 7 }, req_id }),
    },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  const first = await laptop.getResources("files");
  assertEquals(first, { resources: [{ uri: "file:///a" }], nextCursor: "2" });
  assertEquals(await laptop.getResources("files", { cursor: first.nextCursor }), { resources: [] });
  assertEquals(computer.lastBody("client:get_resources")["mcp_server"], "files");
  assertEquals((await laptop.getDpe("dpe://docs/rpt")).uri, "https://x/?of=dpe://docs/rpt");
});

Deno.test("request() sends any event with agent and req_id", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_skills": ({ req_id }) => ({ skills: [], req_id }) },
  });
  await using agent = await connect(server.url);
  const answer = await agent.request("client:get_skills", { computer: "laptop" }, { timeoutMs: 3_000 });
  const { req_id, ...body } = computer.lastBody("client:get_skills");
  assertEquals(answer, { skills: [], req_id });
  assertEquals(body, { agent: "ada", computer: "laptop", timeout: 3 });
  assertEquals(await agent.request("server:tool_call_cancel", { req_id: "r1" }), undefined);
});

Deno.test("an Agent has one Computer's answer for each of many requests at a time", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": ({ params }) => ({ content: [], structuredContent: params }) },
  });
  await using agent = await connect(server.url);
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  const results = await Promise.all(numbers.map((n) => agent.computer("laptop").callTool("echo", { n })));
  assertEquals(results.map(({ structuredContent }) => structuredContent), numbers.map((n) => ({ n })));
});

Deno.test("one bad entry of an answer costs that entry, and the logger hears of it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const link = { type: "resource_link", name: "notes", uri: "file:///notes", mimeType: null, meta: null };
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": () => ({
        meta: null,
        content: [link, { type: "text", text: null, annotations: null, meta: null }],
        structuredContent: [1, 2],
        isError: false,
      }),
      "client:get_tools": ({ req_id }) => ({
        tools: [{ name: "t", description: "", params_schema: {}, return_schema: null }, { name: 7 }],
        req_id,
      }),
    },
  });
  const warnings: LogFields[] = [];
  const warn = (_message: string, fields: LogFields = {}) => void warnings.push(fields);
  await using agent = await connect(server.url, { logger: { ...silentLogger, warn } });
  const { content, structuredContent } = await agent.computer("laptop").callTool("work");
  assertEquals(content[0], { type: "resource_link", name: "notes", uri: "file:///notes" });
  assertEquals([content[1]?.type, structuredContent], ["unknown", [1, 2]]);
  const tools = await agent.computer("laptop").getTools();
  assertEquals(tools.map(({ name }) => name), ["t"]);
  assertEquals(warnings.map(({ event, count }) => [event, count]), [["client:tool_call", 1], [
    "client:get_tools",
    1,
  ]]);
  assertStringIncludes(String(warnings[1]?.["flaws"]), "tools.1: left out");
});
