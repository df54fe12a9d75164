// Agents that wait while the person at the Computer is asked, for longer than the time-out of the call.

import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { ConnectionClosedError } from "../../src/link/errors.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import type { CallWait } from "../../src/agent/questions.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };
const answers = { "tools/call echo": { content: [{ type: "text", text: "done" }] } };

/** An office whose tool `echo` waits for the person at the Computer, and their confirmation. */
async function openOffice(options: OfficeOptions = {}) {
  const asked = Promise.withResolvers<AbortSignal>();
  const confirmed = Promise.withResolvers<boolean>();
  const settings = { default_tool_meta: null, tool_meta: { received: { auto_apply: true } } };
  const office = await ComputerOffice.open(
    { servers: { s: scripted({ tools: [echo], answers }, settings) } },
    {
      confirm: ({ signal }) => (asked.resolve(signal), confirmed.promise),
      ...options,
    },
  );
  const runs = async (laptop = office.laptop) => {
    const calls = (await office.received("received", laptop)).filter(({ params }) =>
      params?.["name"] === "echo"
    );
    return calls.length;
  };
  return { office, asked: asked.promise, confirm: confirmed.resolve, runs };
}

/** Opens the channel and calls the tool, as a program without our Agent does; gives the state to wait under. */
async function callTool(office: ComputerOffice): Promise<string> {
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["wait"] });
  const { isError, meta } = await office.laptop.callTool("echo", {}, { reqId: "r1", timeoutMs: 1_000 });
  const { mode, state, expires_in_ms } = JSON.parse(String(meta?.["a2c_input_required"]));
  assertEquals([isError, meta?.error_code, mode, expires_in_ms], [true, 4005, "wait", 600_000]);
  return state;
}

function wait(office: ComputerOffice, state: string, action = "accept"): Promise<CallToolResult> {
  const body = { computer: "laptop", state, action };
  return office.agent.request("client:answer_input", body, { timeoutMs: 630_000 }) as Promise<CallToolResult>;
}

// proves: question-wait
Deno.test("an Agent that waits gets the result when the person at the Computer has confirmed the call", async () => {
  const { office, confirm, runs } = await openOffice();
  await using _ = office;
  const state = await callTool(office);
  const result = wait(office, state);
  // Requests keep their order: after this answer the Computer knows that the Agent waits.
  await office.laptop.getTools();
  confirm(true);
  assertEquals((await result).content[0]?.text, "done");
  assertEquals(await runs(), 1);
});

Deno.test("an Agent need not wait for a confirmation that a rule gives at once", async () => {
  const asking = Promise.withResolvers<void>();
  const { office, runs } = await openOffice({ confirm: () => (asking.resolve(), true) });
  await using _ = office;
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["wait"] });
  const { isError, meta, content } = await office.laptop.callTool("echo");
  await within(asking.promise, "the question to the rule");
  assertEquals([isError, meta?.["a2c_input_required"], content[0]?.text], [false, undefined, "done"]);
  assertEquals(await runs(), 1);
});

// proves: question-wait
Deno.test("the person may have answered before the Agent waits", async () => {
  const { office, confirm } = await openOffice();
  await using _ = office;
  const state = await callTool(office);
  confirm(true);
  const result = await wait(office, state).catch((error) => error);
  // The call may also have ended already: its result is then kept for a repeated call.
  if (result instanceof SmcpError) assertEquals(result.details?.["reason"], "ended");
  const again = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals(again.content[0]?.text, "done");
});

// proves: question-wait
Deno.test("our Agent waits by itself, and its user is not asked", async () => {
  const { office, asked, confirm } = await openOffice();
  await using _ = office;
  const onQuestion = (): never => {
    throw new TypeError("The Agent's user was asked");
  };
  const call = office.laptop.callTool("echo", {}, { timeoutMs: 1_000, onQuestion });
  await within(asked, "the confirmation");
  confirm(true);
  assertEquals((await call).content[0]?.text, "done");
});

// proves: question-wait
Deno.test("a program learns that its call waits for the person at the Computer, and a failing onWait changes nothing", async () => {
  const { office, confirm } = await openOffice();
  await using _ = office;
  const { promise: waiting, resolve } = Promise.withResolvers<CallWait>();
  const call = office.laptop.callTool("echo", {}, {
    reqId: "r2",
    onQuestion: () => ({ action: "cancel" }),
    onWait(wait) {
      resolve(wait);
      throw new Error("A failing listener");
    },
  });
  const { message, mcpServer, ...rest } = await within(waiting, "onWait");
  assertStringIncludes(message, "a confirmation");
  assertEquals(typeof mcpServer, "string");
  assertEquals(rest, { computer: "laptop", tool: "echo", reqId: "r2", timeLeftMs: 600_000 });
  confirm(true);
  assertEquals((await call).content[0]?.text, "done");
});

// proves: question-wait
Deno.test("a confirmation that a program gives at once asks nobody, and no Agent is told to wait", async () => {
  const { office } = await openOffice({ confirm: ({ params }) => params["allow"] === true });
  await using _ = office;
  const waits: CallWait[] = [];
  const options = {
    onQuestion: () => ({ action: "cancel" } as const),
    onWait: (wait: CallWait) => void waits.push(wait),
  };
  const allowed = await office.laptop.callTool("echo", { allow: true }, options);
  assertEquals(allowed.content[0]?.text, "done");
  const refused = await office.laptop.callTool("echo", {}, options);
  assertEquals(refused.meta?.error_code, 4005);
  assertEquals(waits, []);
});

// proves: question-expiry, question-confirm-late
Deno.test("a confirmation that nobody gives in the time for a question is 4005, and the call has not run", async () => {
  const { office, asked, runs } = await openOffice({ limits: { questionTimeoutMs: 50 } });
  await using _ = office;
  const { content, meta } = await office.laptop.callTool("echo", {}, {
    onQuestion: () => ({ action: "cancel" }),
  });
  assertEquals([meta?.error_code, (await asked).aborted, await runs()], [4005, true, 0]);
  assertStringIncludes(content[0]?.text ?? "", "has not run");
});

// proves: question-wait
Deno.test("a confirmation that nobody gives in the time of the call is unconfirmed", async () => {
  const { office, runs } = await openOffice();
  await using _ = office;
  const { meta } = await office.laptop.callTool("echo", {}, { timeoutMs: 1_000 });
  assertEquals([meta?.error_code, meta?.a2c_reason, await runs()], [4005, "unconfirmed", 0]);
});

Deno.test("an Agent that does not wait ends the call, which never runs", async () => {
  const { office, asked, runs } = await openOffice();
  await using _ = office;
  const state = await callTool(office);
  assertEquals((await wait(office, state, "decline")).meta?.a2c_cancelled, true);
  assertEquals([(await asked).aborted, await runs()], [true, 0]);
  const late = await assertRejects(() => wait(office, state), SmcpError);
  assertEquals(late.details?.["reason"], "ended");
});

Deno.test("a call that is confirmed after its Agent has gone runs when it is asked for again, and not before", async () => {
  const { office, asked, confirm, runs } = await openOffice();
  await using _ = office;
  await office.agent.leave();
  await using wire = new TcpProxy(office.server.port);
  await using agent = await Agent.connect({ url: wire.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const call = () => laptop.callTool("echo", {}, { reqId: "r1" });
  const lost = assertRejects(call, ConnectionClosedError);
  const { aborted } = await within(asked, "the question");
  wire.cut();
  await lost;
  // Requests and notifications keep their order: after this answer the Computer knows that the Agent was gone.
  await laptop.getTools();
  confirm(true);
  assertEquals([aborted, await runs(laptop)], [false, 0]);
  assertEquals((await within(call(), "the result")).content[0]?.text, "done");
  assertEquals(await runs(laptop), 1);
});

Deno.test("a call that is confirmed after the Computer was away runs when it is asked for again, and not before", async () => {
  const { office, asked, confirm, runs } = await openOffice();
  await using _ = office;
  await callTool(office);
  const back = office.next("enterOffice");
  office.cut();
  await back;
  assertEquals((await asked).aborted, false);
  confirm(true);
  assertEquals(await runs(), 0);
  const { content } = await within(office.laptop.callTool("echo", {}, { reqId: "r1" }), "the result");
  assertEquals([content[0]?.text, await runs()], ["done", 1]);
});
