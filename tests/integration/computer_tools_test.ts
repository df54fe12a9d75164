import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import type { ConfirmRequest } from "../../src/computer/tools/confirmation.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { eventually } from "../fixtures/within.ts";

const echo = {
  name: "echo",
  title: "Echo",
  description: "Says it again",
  inputSchema: { type: "object" },
  annotations: { destructiveHint: false },
};

/** The messages of one kind that the MCP server received. */
async function received(office: ComputerOffice, method: string, tool?: string) {
  return (await office.received(tool)).filter((message) => message.method === method);
}

// proves: data-smcp-tool, data-get-tools-ret, data-meta-a2c, data-meta-annotation, data-meta-native, data-meta-flat
Deno.test("tools are listed with everything that the server and the configuration say of them", async () => {
  const tool = {
    ...echo,
    outputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true, title: "Echo" },
    _meta: { vendor: "x", nested: { a: [1] }, nothing: null },
  };
  const config = {
    default_tool_meta: { tags: ["text"], auto_apply: true },
    tool_meta: { echo: { alias: "say" } },
  };
  await using office = await ComputerOffice.open({ servers: { s: scripted({ tools: [tool] }, config) } });
  const [listed] = await office.laptop.getTools();
  const { meta = {}, ...rest } = listed ?? {};
  assertEquals(rest, {
    name: "say",
    description: "Says it again",
    params_schema: { type: "object" },
    return_schema: { type: "object", properties: {} },
    server: "s",
  });
  assertEquals({ ...meta, a2c_tool_meta: JSON.parse(String(meta?.["a2c_tool_meta"])) }, {
    vendor: "x",
    nested: '{"a":[1]}',
    MCP_TOOL_ANNOTATION: '{"readOnlyHint":true,"title":"Echo"}',
    MCP_TOOL_TITLE: "Echo",
    a2c_tool_meta: { auto_apply: true, alias: "say", tags: ["text"], ret_object_mapper: null },
  } as unknown);
});

Deno.test("a call's result carries the server's metadata under meta and the tool's beside it", async () => {
  const result = {
    content: [{ type: "text", text: "hi", _meta: { item: 1 } }],
    structuredContent: { n: 1 },
    _meta: { own: { deep: true } },
  };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], answers: { "tools/call echo": result } } }),
  );
  const { meta, ...rest } = await office.laptop.callTool("echo");
  assertEquals(rest, {
    content: [{ type: "text", text: "hi", _meta: { item: 1 } }],
    structuredContent: { n: 1 },
    isError: false,
  });
  assertEquals(meta, {
    own: { deep: true },
    a2c_tool_meta: { auto_apply: true, alias: null, tags: null, ret_object_mapper: null },
  });
});

Deno.test("a result that the server itself marked as an error passes as it is, without a code", async () => {
  const failed = { content: [{ type: "text", text: "no such file" }], isError: true };
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [echo], answers: { "tools/call echo": failed } }, {
        default_tool_meta: null,
        tool_meta: { echo: { auto_apply: true } },
      }),
    },
  });
  const { content, isError, meta } = await office.laptop.callTool("echo");
  assertEquals([content, isError], [failed.content, true]);
  assertEquals(meta?.error_code, undefined);
});

Deno.test("an unknown tool is 4001, a forbidden one 4002, and neither is listed", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [echo] }, {
        forbidden_tools: ["echo"],
        default_tool_meta: null,
        tool_meta: { become: { alias: "turn" } },
      }),
    },
  });
  const codeOf = async (tool: string) => (await office.laptop.callTool(tool)).meta?.error_code;
  assertEquals(await codeOf("none"), 4001);
  assertEquals(await codeOf("echo"), 4002);
  assertEquals(await codeOf("become"), 4001, "an alias replaces the name");
  assertEquals((await office.laptop.getTools()).map(({ name }) => name), ["turn", "received"]);
});

Deno.test("a JSON-RPC error of the server is 4003 with its text", async () => {
  const refusal = { error: { code: -32602, message: "bad arguments" } };
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], answers: { "tools/call echo": refusal } } }),
  );
  const { content, isError, meta } = await office.laptop.callTool("echo");
  assertEquals([isError, meta], [true, { error_code: 4003, may_have_run: true }]);
  assertEquals(content[0]?.text, 'Tool "echo" failed: bad arguments (-32602)');
});

Deno.test("a call that is not answered in time is 4004, and the server is told", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], hang: ["tools/call echo"] } }),
  );
  const { isError, meta } = await office.laptop.callTool("echo", {}, { timeoutMs: 1_000 });
  assertEquals([isError, meta], [true, { error_code: 4004, a2c_timeout: true, may_have_run: true }]);
  assertEquals((await received(office, "notifications/cancelled")).length, 1);
});

/** Waits until the MCP server has been asked to run "echo". */
async function calledEcho(office: ComputerOffice): Promise<void> {
  const calls = () => received(office, "tools/call");
  const isEcho = ({ params }: { readonly params?: Record<string, unknown> }) => params?.["name"] === "echo";
  await eventually(calls, (calls) => calls.some(isEcho), 'the call of "echo"');
}

Deno.test("an Agent's cancel reaches the MCP server, and the call's own answer says so", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], hang: ["tools/call echo"] } }),
  );
  const call = office.laptop.callTool("echo", {}, { reqId: "r1", timeoutMs: 600_000 });
  await calledEcho(office);
  await office.agent.request("server:tool_call_cancel", { req_id: "r1" });
  const { isError, meta } = await call;
  assertEquals([isError, meta?.a2c_cancelled], [true, true]);
  assertEquals((await received(office, "notifications/cancelled")).length, 1);
  const outcomes = office.computer.history.map(({ reqId, outcome }) => [reqId, outcome]);
  assert(outcomes.some(([reqId, outcome]) => reqId === "r1" && outcome === "cancelled"));
});

Deno.test("an abort of the Agent's caller cancels the call on the MCP server", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({ s: { tools: [echo], hang: ["tools/call echo"] } }),
  );
  const abort = new AbortController();
  const call = office.laptop.callTool("echo", {}, { signal: abort.signal, timeoutMs: 600_000 });
  await calledEcho(office);
  abort.abort(new TypeError("enough"));
  await assertRejects(() => call, TypeError, "enough");
  const cancelled = () => received(office, "notifications/cancelled");
  await eventually(cancelled, ({ length }) => length > 0, "the MCP server to be told of the cancel");
});

Deno.test("a call that was answered is not cancelled later", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [echo] } }));
  for (let i = 0; i < 3; i++) await office.laptop.callTool("echo");
  assertEquals((await received(office, "notifications/cancelled")).length, 0);
});

// proves: data-req-id-dedupe
Deno.test("a repeated call gets the remembered answer and the tool runs once", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [echo] } }));
  const first = await office.laptop.callTool("echo", { n: 1 }, { reqId: "same" });
  const second = await office.laptop.callTool("echo", { n: 1 }, { reqId: "same" });
  assertEquals(second, first);
  const runs = (await received(office, "tools/call")).filter(({ params }) => params?.["name"] === "echo");
  assertEquals(runs.length, 1);
  const error = await assertRejects(
    () => office.laptop.callTool("echo", { n: 2 }, { reqId: "same" }),
    SmcpError,
  );
  assertEquals([error.code, error.details], [400, { field: "req_id" }]);
});

Deno.test("a repeated call gets the running answer", async () => {
  const decided = Promise.withResolvers<boolean>();
  let asked = 0;
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null }) } },
    { confirm: () => (asked++, decided.promise) },
  );
  const calls = [1, 2].map(() => office.laptop.callTool("echo", {}, { reqId: "same" }));
  await office.laptop.getTools();
  decided.resolve(true);
  const [first, second] = await Promise.all(calls);
  assertEquals(second, first);
  assertEquals(asked, 1);
});

Deno.test("a Computer whose connection was lost gives the same Agent its remembered answers", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [echo] } }));
  const first = await office.laptop.callTool("echo", {}, { reqId: "same" });
  const back = office.next("enterOffice");
  office.cut();
  await back;
  assertEquals(await office.laptop.callTool("echo", {}, { reqId: "same" }), first);
  const runs = (await received(office, "tools/call")).filter(({ params }) => params?.["name"] === "echo");
  assertEquals(runs.length, 1);
});

Deno.test("a Computer that has left the office has forgotten its answers", async () => {
  await using office = await ComputerOffice.open(scriptedServers({ s: { tools: [echo] } }));
  await office.laptop.callTool("echo", {}, { reqId: "same" });
  await office.computer.leave();
  await office.computer.join({ url: office.server.url, office: "lab" });
  await office.laptop.callTool("echo", {}, { reqId: "same" });
  const runs = (await received(office, "tools/call")).filter(({ params }) => params?.["name"] === "echo");
  assertEquals(runs.length, 2);
});

// proves: data-auto-apply
Deno.test("a tool without auto_apply is 4005 where nobody can confirm, and says how to allow it", async () => {
  await using office = await ComputerOffice.open({
    servers: {
      s: scripted({ tools: [echo] }, {
        default_tool_meta: { tags: [] },
        tool_meta: { received: { auto_apply: true } },
      }),
    },
  });
  const { content, isError, meta } = await office.laptop.callTool("echo");
  assertEquals([isError, meta?.error_code], [true, 4005]);
  for (
    const way of [
      '"auto_apply": true for "echo" in "tool_meta" or in "default_tool_meta" of server "s"',
      '"mcpServers": "alwaysAllow": ["echo"]',
      "starts the Computer with --auto-apply or --auto-apply-reads",
    ]
  ) assertStringIncludes(content[0]?.text ?? "", way);
  assertEquals((await received(office, "tools/call")).length, 1, "only the call that asks");
});

for (const autoApply of ["all", "reads"] as const) {
  Deno.test(`a Computer that runs ${autoApply} unasked asks about what its configuration excepts`, async () => {
    const named = (name: string, annotations = {}) => ({ ...echo, name, annotations });
    const tools = [
      named("look", { readOnlyHint: true }),
      named("peek", { readOnlyHint: true }),
      named("write"),
    ];
    const tool_meta = { peek: { auto_apply: false } };
    await using office = await ComputerOffice.open(
      { servers: { s: scripted({ tools }, { default_tool_meta: null, tool_meta }) } },
      { autoApply },
    );
    const codes = tools.map(async ({ name }) => (await office.laptop.callTool(name)).meta?.error_code);
    const expected = [undefined, 4005, autoApply === "all" ? undefined : 4005];
    assertEquals(await Promise.all(codes), expected);
  });
}

Deno.test("the confirm callback decides, and one call that waits for it holds up no other", async () => {
  const decision = Promise.withResolvers<boolean>();
  const requests: ConfirmRequest[] = [];
  await using office = await ComputerOffice.open(
    {
      servers: {
        s: scripted({ tools: [echo] }, { default_tool_meta: null, tool_meta: { echo: { alias: "say" } } }),
      },
    },
    {
      confirm: (
        request,
      ) => (requests.push(request), request.params["ask"] === true ? decision.promise : true),
    },
  );
  const waiting = office.laptop.callTool("say", { ask: true }, { reqId: "r1" });
  assertEquals((await office.laptop.callTool("say", { ask: false })).isError, false);
  decision.resolve(false);
  const declined = await waiting;
  assertEquals([declined.isError, declined.meta?.error_code], [true, 4005]);
  const request = requests.find(({ reqId }) => reqId === "r1");
  const { signal: _, callId: _id, timeLeftMs = 0, fingerprint, definition, ...asked } = request ?? {};
  assertEquals(timeLeftMs > 0 && timeLeftMs <= 30_000, true);
  assertEquals([definition?.title, definition?.description], ["Echo", "Says it again"]);
  assertMatch(fingerprint ?? "", /^[0-9a-f]{64}$/);
  assertEquals(asked, {
    agent: "ada",
    claimedAgent: "ada",
    client: undefined,
    isLocal: false,
    mustAsk: false,
    reqId: "r1",
    server: "s",
    tool: "echo",
    name: "say",
    title: "Echo",
    description: "Says it again",
    annotations: { destructiveHint: false },
    changes: [],
    params: { ask: true },
  });
});

Deno.test("a confirm callback that throws is 4005, and its text stays on the Computer", async () => {
  await using office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo] }, { default_tool_meta: null }) } },
    {
      confirm() {
        throw new TypeError("secret");
      },
    },
  );
  const { content, meta } = await office.laptop.callTool("echo");
  assertEquals(meta?.error_code, 4005);
  assertEquals(content[0]?.text, 'Tool "echo" needs a confirmation: asking for it failed');
});

Deno.test("a call that is cancelled or out of time while it waits for its confirmation never runs", async () => {
  await using office = await ComputerOffice.open(
    {
      servers: {
        s: scripted({ tools: [echo] }, {
          tool_meta: { received: { auto_apply: true } },
          default_tool_meta: null,
        }),
      },
    },
    { confirm: () => new Promise(() => {}) },
  );
  const late = await office.laptop.callTool("echo", {}, { timeoutMs: 1_000 });
  assertEquals([late.isError, late.meta?.error_code], [true, 4005]);
  assertEquals((await received(office, "tools/call")).length, 1);
});

// proves: data-alias-conflict
Deno.test("two servers with one tool name: the first in the config owns it, whoever starts first", async () => {
  await using office = await ComputerOffice.open(
    scriptedServers({
      first: { tools: [echo], answers: { "tools/call echo": { content: [{ type: "text", text: "1" }] } } },
      second: { tools: [echo] },
    }),
  );
  const names = (await office.laptop.getTools()).map(({ name }) => name);
  assertEquals(names, ["echo", "become", "received", "second__echo", "second__become", "second__received"]);
  assertEquals((await office.laptop.callTool("echo")).content[0]?.text, "1");
  await office.laptop.callTool("second__echo");
  assertEquals(
    (await received(office, "tools/call", "second__received")).map(({ params }) => params?.["name"]),
    ["echo", "received"],
  );
});

// proves: data-config-disabled
Deno.test("a disabled server is not started and its tools are not there", async () => {
  await using office = await ComputerOffice.open({
    servers: { off: scripted({ tools: [echo] }, { disabled: true }) },
  });
  assertEquals(office.computer.servers.get("off")?.status, "stopped");
  assertEquals(await office.laptop.getTools(), []);
});
