// What becomes of a call beside its result: refused arguments, records, log lines, confirmations that end early.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { DEFAULT_LIMITS } from "../../src/config/limits.ts";
import { parseConfig } from "../../src/config/config.ts";
import type { ConfirmRequest } from "../../src/computer/tools/confirmation.ts";
import { McpHost } from "../../src/computer/host.ts";
import { endedCalls } from "../fixtures/ended_calls.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { TOOLS_CHANGED } from "../fixtures/script.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const inputSchema = {
  type: "object",
  properties: { path: { type: "string" }, count: { type: "integer" } },
  required: ["path"],
  additionalProperties: false,
};
const head = { name: "head", inputSchema };
const echo = { name: "echo", inputSchema: { type: "object" } };
const unasked = { received: { auto_apply: true }, become: { auto_apply: true } };

/** How often a tool of the scripted server was called. */
async function runs(office: ComputerOffice, tool: string): Promise<number> {
  const messages = await office.received();
  return messages.filter(({ method, params }) => method === "tools/call" && params?.["name"] === tool).length;
}

Deno.test("a call with wrong arguments is refused by name; nobody is asked and the server never sees it", async () => {
  const asked: string[] = [];
  await using office = await ComputerOffice.open(
    {
      servers: {
        s: scripted({ tools: [head] }, {
          default_tool_meta: null,
          tool_meta: { ...unasked, head: { alias: "top" } },
        }),
      },
    },
    { confirm: ({ reqId }) => asked.push(reqId) > 0 },
  );
  const { content, isError, meta } = await office.laptop.callTool("top", { count: "SECRET", pth: "x" });
  assertEquals([isError, meta], [true, { error_code: 4003, a2c_reason: "arguments" }]);
  assertEquals(
    content[0]?.text,
    'Tool "top" was not called: argument "path" is missing; ' +
      'argument "pth" is unknown, did you mean "path"?; argument "count" must be integer',
  );
  assertEquals([asked, await runs(office, "head")], [[], 0]);
  assertEquals((await office.laptop.callTool("top", { path: "x" })).isError, false);
  assertEquals([asked.length, await runs(office, "head")], [1, 1]);
});

Deno.test("a schema that cannot be checked is the server's matter, and is told once", async () => {
  const odd = { name: "odd", inputSchema: { $ref: "#" } };
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [odd] } }));
  for (const n of [1, 2]) assertEquals((await office.laptop.callTool("odd", { n })).isError, false);
  const told = office.log.of("warn").filter(({ message }) => message.startsWith("arguments are not checked"));
  assertEquals(told.map(({ fields }) => [fields["server"], fields["tool"]]), [["s", "odd"]]);
});

Deno.test("a server that lists the same tools again keeps what is known about them", async () => {
  const log = new LogBook();
  await using host = new McpHost({
    name: "laptop",
    config: parseConfig(scriptedServers({ a: { tools: [head] }, b: {} })),
    inputs: () => undefined,
    confirm: undefined,
    limits: { ...DEFAULT_LIMITS },
    log,
    onChange() {},
  });
  await host.settled();
  const call = (tool_name: string, params: Record<string, unknown>) =>
    host.calls.call({ agent: "ada", req_id: crypto.randomUUID(), computer: "laptop", tool_name, params });
  const before = host.tools.view.routes.get("head")?.tool;
  await call("become", { tell: [TOOLS_CHANGED] });
  const lists = async () => {
    const { content } = await call("received", {});
    const messages: { method: string }[] = JSON.parse(content[0]?.text ?? "[]");
    return messages.filter(({ method }) => method === "tools/list").length;
  };
  await eventually(lists, (count) => count >= 2, "a second list of tools");
  await call("received", {});
  await call("b__become", { tools: [echo], tell: [TOOLS_CHANGED] });
  const route = () => host.tools.view.routes.get("echo");
  await eventually(route, (route) => route !== undefined, 'a route for "echo"');
  assert(before !== undefined && host.tools.view.routes.get("head")?.tool === before);
});

Deno.test("every call is recorded with its agent, outcome and error code, refused ones too", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [head, echo, { ...echo, name: "rm" }], hang: ["tools/call echo"] }, {
        default_tool_meta: null,
        tool_meta: { echo: { auto_apply: true } },
        forbidden_tools: ["rm"],
      }),
    },
  });
  const call = (reqId: string, tool: string, params = {}) =>
    office.laptop.callTool(tool, params, { reqId, timeoutMs: 1_000 });
  await call("unknown", "none");
  await call("forbidden", "rm");
  await call("arguments", "head", { path: 1 });
  await call("unconfirmed", "head", { path: "x" });
  await call("late", "echo");
  const records = endedCalls(office.computer).map((
    { reqId, agent, server, tool, outcome, errorCode },
  ) => [
    [reqId, agent, server, tool],
    [outcome, errorCode],
  ]);
  assertEquals(records, [
    [["unknown", "ada", undefined, "none"], ["error", 4001]],
    [["forbidden", "ada", undefined, "rm"], ["error", 4002]],
    [["arguments", "ada", "s", "head"], ["error", 4003]],
    [["unconfirmed", "ada", "s", "head"], ["unconfirmed", 4005]],
    [["late", "ada", "s", "echo"], ["timeout", 4004]],
  ]);
  assert(
    endedCalls(office.computer).every(({ durationMs, startedAt }) =>
      durationMs >= 0 && startedAt <= new Date()
    ),
  );
});

Deno.test("a result of an MCP server says nothing in the Computer's place, neither to the Agent nor in the record", async () => {
  const claims = { error_code: 4005, a2c_reason: "paused", a2c_timeout: true, a2c_cancelled: true };
  const own = { content: [], isError: true, _meta: { ...claims, may_have_run: true, own: 1 } };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], answers: { "tools/call echo": own } } }),
  );
  const { meta } = await office.laptop.callTool("echo");
  assertEquals(Object.keys(meta ?? {}).sort(), ["a2c_tool_meta", "own"]);
  assertEquals(
    endedCalls(office.computer).map((
      { outcome, errorCode },
    ) => [outcome, errorCode]),
    [
      ["error", undefined],
    ],
  );
});

Deno.test("a call is one log line that names request, agent, tool, server and duration", async () => {
  const answer = { content: [{ type: "text", text: "SECRET result" }], structuredContent: { x: "SECRET" } };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [head, echo], answers: { "tools/call echo": answer } } }),
  );
  await office.laptop.callTool("echo", { token: "SECRET" }, { reqId: "r1" });
  await office.laptop.callTool("head", { path: 1, SECRET: "SECRET" }, { reqId: "r2" });
  await office.laptop.callTool("n".repeat(500), {}, { reqId: "r3" });
  const lines = office.log.lines.filter(({ message }) => message === "tool call");
  const told = lines.map((
    { level, fields: { duration_ms, ...fields } },
  ) => [level, typeof duration_ms, fields]);
  const agent = "ada";
  assertEquals(told, [
    ["info", "number", {
      req_id: "r1",
      agent,
      client: undefined,
      server: "s",
      tool: "echo",
      outcome: "ok",
      error_code: undefined,
    }],
    ["info", "number", {
      req_id: "r2",
      agent,
      client: undefined,
      server: "s",
      tool: "head",
      outcome: "error",
      error_code: 4003,
    }],
    [
      "info",
      "number",
      {
        req_id: "r3",
        agent,
        client: undefined,
        server: undefined,
        tool: `${"n".repeat(128)}…`,
        outcome: "error",
        error_code: 4001,
      },
    ],
  ]);
  assert(!JSON.stringify(office.log.lines).includes("SECRET"));
});

/** An office whose confirmations are never given, or as `answer` says, and the first of them. */
async function openWaiting(answer: Promise<boolean> = new Promise(() => {})) {
  const asked = Promise.withResolvers<ConfirmRequest>();
  const office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null, tool_meta: unasked }) } },
    { confirm: (request) => (asked.resolve(request), answer) },
  );
  return { office, asked: asked.promise };
}

Deno.test("whoever is asked is told when the call is cancelled, and the call never runs", async () => {
  const { office, asked } = await openWaiting();
  await using _ = office;
  const call = office.laptop.callTool("echo", {}, { reqId: "r1", timeoutMs: 600_000 });
  const { signal } = await asked;
  assertEquals(signal.aborted, false);
  await office.agent.request("server:tool_call_cancel", { req_id: "r1" });
  assertEquals((await call).meta?.a2c_cancelled, true);
  assertEquals([signal.aborted, await runs(office, "echo")], [true, 0]);
});

// proves: question-confirm-late
Deno.test("whoever is asked is told when the call is out of time, and the call has not run", async () => {
  const { office, asked } = await openWaiting();
  await using _ = office;
  const call = office.laptop.callTool("echo", {}, { timeoutMs: 1_000 });
  const { signal } = await asked;
  const { content, meta } = await call;
  assertEquals([meta?.error_code, meta?.a2c_timeout], [4005, undefined]);
  assertStringIncludes(content[0]?.text ?? "", "has not run");
  assertEquals(office.computer.history.map(({ outcome }) => outcome), ["unconfirmed"]);
  assert(signal.aborted);
});

for (
  const { what, becomes, errorCode, text } of [
    { what: "forbidden", becomes: { forbidden_tools: ["echo"] }, errorCode: 4002, text: "is disabled" },
    { what: "not allowed", becomes: { allowed_tools: ["receive*"] }, errorCode: 4002, text: "is disabled" },
    {
      what: "another program's",
      becomes: scripted({ tools: [echo], stderr: "other" }),
      errorCode: 4003,
      text: 'MCP server "s": stopped',
    },
  ]
) {
  Deno.test(`a call that is confirmed when its tool is ${what} by now does not run`, async () => {
    const confirmed = Promise.withResolvers<boolean>();
    const { office, asked } = await openWaiting(confirmed.promise);
    await using _ = office;
    const call = office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
    await asked;
    const before = scripted({ tools: [echo] }, { default_tool_meta: null, tool_meta: unasked });
    await office.computer.reconfigure({ servers: { s: { ...before, ...becomes } } });
    confirmed.resolve(true);
    const result = await call;
    assertEquals(result.meta?.error_code, errorCode);
    assertStringIncludes(result.content[0]?.text ?? "", text);
    await office.computer.ready();
    assertEquals(await runs(office, "echo"), 0);
  });
}

Deno.test("a call that is confirmed when its MCP server has changed the tool by now does not run", async () => {
  const confirmed = Promise.withResolvers<boolean>();
  const { office, asked } = await openWaiting(confirmed.promise);
  await using _ = office;
  const call = office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
  await asked;
  const description = "Deletes everything";
  await office.become({ tools: [{ ...echo, description }], tell: [TOOLS_CHANGED] });
  const tool = () => office.computer.tools.find(({ name }) => name === "echo");
  await eventually(tool, (tool) => tool?.description === description, "the changed tool");
  confirmed.resolve(true);
  const result = await call;
  assertEquals(result.meta?.error_code, 4005);
  assertStringIncludes(result.content[0]?.text ?? "", "description of the tool has changed");
  assertEquals(await runs(office, "echo"), 0);
});

Deno.test("a Computer that closes leaves nobody to be asked", async () => {
  const { office, asked } = await openWaiting();
  await using _ = office;
  const call = office.laptop.callTool("echo", {}, { timeoutMs: 600_000 }).catch(() => {});
  const { signal } = await asked;
  await office.computer.close();
  assert(signal.aborted);
  await call;
});

Deno.test("a result of every kind of content passes as it came", async () => {
  const content = [
    { type: "text", text: "grüß dich 😀\u0000\u2028", annotations: { audience: ["user"], priority: 0 } },
    { type: "image", data: btoa("\x89PNG\x00"), mimeType: "image/png", _meta: { item: 1 } },
    { type: "audio", data: btoa("RIFF\x00\xff".repeat(1_000)), mimeType: "audio/wav" },
    {
      type: "resource_link",
      uri: "file:///a%20b.txt",
      name: "a b",
      title: "A",
      mimeType: "text/plain",
      size: 7,
    },
    { type: "resource", resource: { uri: "demo://1", mimeType: "text/plain", text: "", _meta: { a: null } } },
    { type: "resource", resource: { uri: "demo://2", mimeType: "application/pdf", blob: btoa("%PDF\x00") } },
    { type: "of tomorrow", payload: { deep: [null, 0, -0.5, "", {}] } },
  ];
  const structuredContent = {
    list: [],
    nothing: null,
    nested: { list: [{ a: 1e300 }] },
    "": "empty",
    "ü": "ü",
  };
  const answer = { content, structuredContent };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], answers: { "tools/call echo": answer } } }),
  );
  const result = await office.laptop.callTool("echo");
  const last = { type: "unknown", item: content.at(-1) };
  assertEquals([result.content, result.structuredContent] as unknown, [
    [...content.slice(0, -1), last],
    structuredContent,
  ]);
  assertEquals(Object.keys(result.meta ?? {}), ["a2c_tool_meta"]);
});

// proves: data-config-vrl
Deno.test("a server's VRL script transforms its results, those that are errors too", async () => {
  const answers = {
    "tools/call echo": {
      content: [{ type: "text", text: "42", _meta: { a: 1 } }],
      structuredContent: { n: 1 },
    },
    "tools/call head": { content: [{ type: "text", text: "no such file" }], isError: true },
  };
  const vrl = `
    .sum = to_int!(.content[0].text) + 1
    .first = .content[0]
    del(.content)`;
  const config = { vrl: 'if .isError == true { . = {"failed": .tool_name} } else {' + vrl + "}" };
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [head, echo], answers }, { ...config, tool_meta: { echo: { alias: "say" } } }),
      plain: scripted({ tools: [{ ...echo, name: "plain" }] }),
    },
  });
  const { meta = {}, ...rest } = await office.laptop.callTool("say", { b: "x" });
  assertEquals(rest as unknown, { ...answers["tools/call echo"], isError: false });
  const a2c_tool_meta = { auto_apply: true, alias: "say", tags: null, ret_object_mapper: null };
  assertEquals(meta?.["a2c_tool_meta"], a2c_tool_meta);
  assertEquals(JSON.parse(meta?.a2c_vrl_transformed ?? ""), {
    sum: 43,
    first: { type: "text", text: "42", meta: { a: 1 } },
    structuredContent: { n: 1 },
    isError: false,
    meta: { a2c_tool_meta },
    tool_name: "echo",
    parameters: { b: "x" },
  });
  const failed = await office.laptop.callTool("head", { path: "x" });
  assertEquals([failed.isError, failed.meta?.a2c_vrl_transformed], [true, '{"failed":"head"}']);
  assertEquals((await office.laptop.callTool("plain")).meta?.a2c_vrl_transformed, undefined);
  const refused = await office.laptop.callTool("head", {});
  assertEquals(refused.meta?.a2c_vrl_transformed, undefined, "no result, nothing to transform");
});

Deno.test("a script that fails leaves the result as it is, with a warning that tells nothing of it", async () => {
  const answer = { content: [{ type: "text", text: "SECRET" }] };
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [echo], answers: { "tools/call echo": answer } }, {
        vrl: ". = parse_json!(.content[0].text)",
      }),
    },
  });
  const { content, meta } = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals([content[0]?.text, meta?.a2c_vrl_transformed], ["SECRET", undefined]);
  const { fields } = await office.log.until(({ message }) => message.includes("transform"));
  assertEquals(fields, {
    req_id: "r1",
    server: "s",
    tool: "echo",
    error: 'Cannot run the VRL script: "parse_json" failed at line 1, column 5',
  });
});

Deno.test("a script that does not compile fails its server with the finding, and no other", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      bad: scripted({ tools: [echo] }, { vrl: ".a = 1\n.b = nothing(1)" }),
      good: scripted({ tools: [head] }),
    },
  });
  const { status, lastError = "" } = office.computer.servers.get("bad") ?? {};
  assertEquals(status, "failed");
  assertStringIncludes(
    lastError,
    "Cannot compile the VRL script: line 2, column 6: call to undefined function",
  );
  assertEquals(office.computer.servers.get("good")?.status, "running");
  assertEquals((await office.laptop.callTool("head", { path: "x" })).isError, false);
});

// proves: data-req-id-dedupe
Deno.test("another Agent that takes the seat gets no result of the one before, whatever name it states", async () => {
  const answers = { "tools/call echo": { content: [{ type: "text", text: "done" }] } };
  const tools = { default_tool_meta: { auto_apply: true } };
  await using office = await ComputerOffice.open({
    servers: { s: scripted({ tools: [echo], answers }, tools) },
  });
  await office.laptop.callTool("echo", {}, { reqId: "r1" });
  await office.agent.leave();
  await using eve = await Agent.connect({ url: office.server.url, office: "lab", name: "eve" });
  const again = { agent: "ada", req_id: "r1", computer: "laptop", tool_name: "echo", params: {} };
  await eve.request("client:tool_call", again);
  const { content } = await eve.computer("laptop").callTool("received");
  const calls: { params?: { name?: string } }[] = JSON.parse(content[0]?.text ?? "[]");
  assertEquals(calls.filter(({ params }) => params?.name === "echo").length, 2);
});
