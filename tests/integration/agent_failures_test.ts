import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { assertEquals, assertObjectMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent, type AgentOptions } from "../../src/agent/agent.ts";
import { SmcpError, toErrorAck } from "../../src/protocol/errors.ts";
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../../src/link/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { NOTHING, ScriptedComputer, textResult } from "./_scripted_computer.ts";
import { withConstants } from "../../src/server/options/constants.ts";
import { within } from "../fixtures/within.ts";

function connect(url: string, options: Partial<AgentOptions> = {}): Promise<Agent> {
  return Agent.connect({ url, office: "lab", name: "ada", ...options });
}

// proves: guide-error-shape, guide-error-kept, guide-4202-origin
Deno.test("an error arrives with code, message and details, in whichever form it was sent", async () => {
  const error = { code: 4202, message: "Page out of range", details: { page_index: 9, page_count: 3 } };
  const forms: unknown[] = [
    error,
    { error },
    toErrorAck(new SmcpError(4202, error.message, error), "client:read_resource"),
  ];
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:read_resource": () => forms.shift() },
  });
  await using agent = await connect(server.url);
  while (forms.length > 0) {
    const thrown = await assertRejects(
      () => agent.computer("laptop").readPage("dpe://docs/rpt", 9),
      SmcpError,
    );
    assertEquals([thrown.code, thrown.message, thrown.details], [
      4202,
      "Page out of range: page_index 9, page_count 3",
      error.details,
    ]);
  }
});

// proves: guide-error-logged
Deno.test("a request that fails is logged with its req_id", async () => {
  const lines: unknown[] = [];
  const logger = { debug() {}, info() {}, error() {}, warn: (...line: unknown[]) => void lines.push(line) };
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await connect(server.url, { logger });
  const error = await assertRejects(
    () => agent.computer("nobody").callTool("echo", {}, { reqId: "r7" }),
    SmcpError,
  );
  assertEquals(error.code, 404);
  const fields = { event: "client:tool_call", req_id: "r7", computer: "nobody", error: error.message };
  assertEquals(lines, [["request failed", fields]]);
});

Deno.test("a request that its caller cancels is no warning", async () => {
  const levels: string[] = [];
  const tell = (level: string) => (message: string) => message === "request failed" && levels.push(level);
  const logger = { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error") };
  await using server = await SmcpServer.listen({ port: 0 });
  const asked = Promise.withResolvers<void>();
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_tools": () => (asked.resolve(), new Promise(() => {})) },
  });
  await using agent = await connect(server.url, { logger });
  const ending = new AbortController();
  const tools = agent.computer("laptop").getTools({ signal: ending.signal });
  await within(asked.promise, "the request");
  ending.abort(new Error("enough"));
  await assertRejects(() => tools, Error, "enough");
  assertEquals(levels, ["debug"]);
});

Deno.test("a document or a window that one of several Computers does not have is no warning", async () => {
  const levels: string[] = [];
  const tell = (level: string) => (message: string) => message === "request failed" && levels.push(level);
  const logger = { debug: tell("debug"), info: tell("info"), warn: tell("warn"), error: tell("error") };
  await using server = await SmcpServer.listen({ port: 0 });
  const refusals: Record<string, unknown> = {
    "dpe://docs/rpt": { code: 4201, message: "Document not found" },
    "window://notes/a": { code: 404, message: "Resource not found" },
    "dpe://docs/broken": { code: 500, message: "Disk is broken" },
  };
  const answers = {
    "client:read_resource": ({ uri }: Record<string, unknown>) => refusals[String(uri)],
    "client:get_windows": () => ({ windows: [] }),
    "client:get_tools": ({ req_id }: Record<string, unknown>) => ({ tools: [], req_id }),
  };
  using _laptop = await ScriptedComputer.join(server.url, { answers });
  using _desk = await ScriptedComputer.join(server.url, { answers, name: "desk" });
  await using agent = await connect(server.url, { logger });
  using toolkit = createToolkit(agent);
  await toolkit.call("read_document", { uri: "dpe://docs/rpt" });
  await toolkit.call("view_desktop", { window: "window://notes/a" });
  assertEquals(levels, ["debug", "debug", "debug", "debug"]);
  await toolkit.call("read_document", { uri: "dpe://docs/broken" });
  assertEquals(levels.slice(4), ["warn", "warn"]);
});

Deno.test("an answer that cannot be read is an error, whatever came", async () => {
  const answers: unknown[] = ["text", 7, [], {}, { tools: "none" }, { req_id: "x" }];
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_tools": () => answers.shift() },
  });
  await using agent = await connect(server.url);
  while (answers.length > 0) {
    const error = await assertRejects(() => agent.computer("laptop").getTools(), SmcpError, "Cannot read");
    assertEquals(error.code, 500);
  }
});

Deno.test("an ack that carries nothing means that the Server does not know the event", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:get_finder": () => NOTHING },
  });
  await using agent = await connect(server.url);
  const error = await assertRejects(
    () => agent.computer("laptop").getFinder(),
    SmcpError,
    "does not support",
  );
  assertEquals([error.code, error.details], [400, { field: "event" }]);
});

Deno.test("a Computer that stays silent is a 408 of the Server", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...withConstants({ graceMs: 10 }) });
  using _computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const error = await assertRejects(
    () => agent.computer("laptop").callTool("sleep", {}, { timeoutMs: 1 }),
    SmcpError,
  );
  assertEquals([error.code, error.details], [408, { computer_name: "laptop", may_have_run: true }]);
});

Deno.test("a Computer that leaves during a request is a 404 at once", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const asked = computer.next("client:tool_call");
  const call = assertRejects(() => agent.computer("laptop").callTool("sleep"), SmcpError);
  await asked;
  computer.close();
  assertEquals((await call).code, 404);
});

Deno.test("aborting a call cancels it on the Computer and rejects with the signal's reason", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const controller = new AbortController();
  const reason = new TypeError("enough");
  const asked = computer.next("client:tool_call");
  const cancelled = computer.next("notify:tool_call_cancel");
  const call = assertRejects(
    () => agent.computer("laptop").callTool("sleep", {}, { signal: controller.signal, reqId: "r1" }),
  );
  await asked;
  controller.abort(reason);
  assertEquals(await call, reason);
  assertEquals(await cancelled, { agent: "ada", req_id: "r1" });
});

Deno.test("a signal that is aborted already sends nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url);
  await using agent = await connect(server.url);
  const signal = AbortSignal.abort(new TypeError("too late"));
  await assertRejects(
    () => agent.computer("laptop").callTool("sleep", {}, { signal }),
    TypeError,
    "too late",
  );
  await assertRejects(() => agent.computer("laptop").getTools({ signal }), TypeError, "too late");
  await agent.listOffice();
  assertEquals(computer.requests.filter(({ event }) => event !== "notify:enter_office"), []);
});

Deno.test("a call that was sent may have run, unless it was refused", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  let deep: unknown = {};
  for (let level = 0; level < 300; level++) deep = [deep];
  // The Server refuses to relay the first one; the last one has no answer.
  const answers: unknown[] = [
    deep,
    {},
    ...[408, 500, 403].map((code) => ({ error: { code, message: "no" } })),
    NOTHING,
  ];
  const asked = Promise.withResolvers<void>();
  using _computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": () => {
        if (answers.length === 1) asked.resolve();
        return answers.shift();
      },
    },
  });
  await using agent = await connect(server.url);
  const call = async () => mayHaveRun(await assertRejects(() => agent.computer("laptop").callTool("echo")));
  const told: boolean[] = [];
  while (answers.length > 1) told.push(await call());
  const left = call();
  await within(asked.promise, "the last call");
  await agent.leave();
  assertEquals([...told, await left], [true, true, true, true, false, true]);
});

Deno.test("a call that no Server answers rejects in time and is cancelled", async () => {
  const cancelled = Promise.withResolvers<unknown>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "server:tool_call_cancel": (body) => cancelled.resolve(body),
    },
  });
  await using agent = await connect(server.url, { graceMs: 100 });
  await assertRejects(
    () => agent.computer("laptop").callTool("sleep", {}, { timeoutMs: 1, reqId: "r1" }),
    RequestTimeoutError,
  );
  assertEquals(await cancelled.promise, { agent: "ada", req_id: "r1" });
});

Deno.test("a request over the Server's size limit is a 413 before it is sent", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: 100_000 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: { "client:tool_call": () => textResult("hi") },
  });
  await using agent = await connect(server.url);
  const laptop = agent.computer("laptop");
  const error = await assertRejects(
    () => laptop.callTool("echo", { text: "x".repeat(200_000) }),
    SmcpError,
  );
  assertEquals([error.code, error.details?.["limit"]], [413, 100_000]);
  await laptop.callTool("echo");
  assertEquals(computer.requests.filter(({ event }) => event === "client:tool_call").length, 1);
});

Deno.test("closing ends what is in flight, and nothing goes out any more", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url);
  const agent = await connect(server.url);
  const asked = computer.next("client:tool_call");
  const call = assertRejects(() => agent.computer("laptop").callTool("sleep"), ConnectionClosedError);
  await asked;
  const left = computer.next("notify:leave_office");
  await Promise.all([agent.close(), agent.close()]);
  await call;
  assertEquals(await left, { office_id: "lab", agent: "ada" });
  await assertRejects(() => agent.listOffice(), ConnectionClosedError);
});

Deno.test("an error's message says what it is about, once", async () => {
  const answers = [
    { code: 4201, message: "Document not found", details: { doc_ref: "a\u0007b" } },
    { code: 4203, message: 'No element "e7"', details: { element_id: "e7" } },
    { code: 4201, message: "Document not found", details: { doc_ref: { odd: 1 } } },
    { code: 404, message: "No such Computer", details: { doc_ref: "x" } },
  ];
  const messages = [
    'Document not found: doc_ref "a\\u0007b"',
    'No element "e7"',
    "Document not found",
    "No such Computer",
  ];
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, {
    answers: { "client:read_resource": () => answers.shift() },
  });
  await using agent = await connect(server.url);
  for (const message of messages) {
    const thrown = await assertRejects(() => agent.computer("laptop").readPage("dpe://docs/a", 0), SmcpError);
    assertEquals(thrown.message, message);
  }
});

Deno.test("Agent.connect() says which option is wrong, at once", async () => {
  const good = { url: "http://127.0.0.1:9", office: "lab", name: "ada" };
  const wrong: [string, Record<string, unknown>][] = [
    ['"nonsense": url', { url: "nonsense" }],
    ['"localhost:3000": url', { url: "localhost:3000" }],
    ['"undefined": url', { url: undefined }],
    ['office "undefined"', { office: undefined }],
    ['name "7"', { name: 7 }],
    ['name ""', { name: "" }],
  ];
  for (const [said, change] of wrong) {
    // As JavaScript does, which nobody checks before.
    const options = { ...good, ...change } as unknown as AgentOptions;
    const error = await assertRejects(() => Agent.connect(options), TypeError);
    assertStringIncludes(error.message, said);
  }
});

Deno.test("timeoutMs counts to the millisecond for the Agent, though the Computer is told whole seconds", async () => {
  const told = Promise.withResolvers<Record<string, unknown>>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "client:tool_call": (body) => told.resolve({ ...body as object }),
    },
  });
  await using agent = await connect(server.url, { graceMs: 0 });
  await assertRejects(
    () => agent.computer("laptop").callTool("sleep", {}, { timeoutMs: 200 }),
    RequestTimeoutError,
    "no answer in 200 ms",
  );
  assertObjectMatch(await told.promise, { timeout: 1 });
});
