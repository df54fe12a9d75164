// Calls that the user of the Agent confirms, in an office with a Server, a Computer and an Agent.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { AgentQuestion, OnQuestion } from "../../src/agent/questions.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { InputRequired } from "../../src/protocol/questions.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };
const answers = { "tools/call echo": { content: [{ type: "text", text: "done" }] } };

/** An MCP server whose tool `echo` needs a confirmation. */
function withSettings(config: Readonly<Record<string, unknown>>) {
  const settings = { default_tool_meta: null, tool_meta: { received: { auto_apply: true } }, ...config };
  return scripted({ tools: [echo], answers }, settings);
}

/** An office with that MCP server. */
function openOffice(
  config: Readonly<Record<string, unknown>> = { approval: "agent" },
  options: OfficeOptions = {},
): Promise<ComputerOffice> {
  return ComputerOffice.open({ servers: { s: withSettings(config) } }, options);
}

async function runs(office: ComputerOffice): Promise<number> {
  const calls = (await office.received()).filter(({ method, params }) =>
    method === "tools/call" && params?.["name"] === "echo"
  );
  return calls.length;
}

/** The question in a result, as a program without our Agent reads it. */
function questionIn({ meta }: CallToolResult): InputRequired {
  return JSON.parse(String(meta?.["a2c_input_required"]));
}

// proves: question-approval
Deno.test("the Agent's user sees the tool and its arguments, and the call runs once after the approval", async () => {
  await using office = await openOffice();
  const asked: AgentQuestion[] = [];
  const { content, isError } = await office.laptop.callTool("echo", { path: "/x" }, {
    onQuestion: (question) => (asked.push(question), { action: "accept" }),
  });
  assertEquals([isError, content[0]?.text], [false, "done"]);
  const [question] = asked;
  assert(question?.mode === "approval");
  assertEquals([question.tool, question.mcpServer, question.params], ["echo", "s", { path: "/x" }]);
  assertEquals([asked.length, await runs(office)], [1, 1]);
});

Deno.test("a call that the Agent's user declines is 4005, and has not run", async () => {
  await using office = await openOffice();
  const { content, meta } = await office.laptop.callTool("echo", {}, {
    onQuestion: () => ({ action: "decline" }),
  });
  assertEquals([meta?.error_code, await runs(office)], [4005, 0]);
  assertStringIncludes(content[0]?.text ?? "", "declined");
});

for (const config of [{}, { approval: "computer" }]) {
  // proves: question-approval
  Deno.test(`the Agent's user approves nothing with the setting ${JSON.stringify(config)}`, async () => {
    await using office = await openOffice(config);
    const onQuestion = (): never => {
      throw new TypeError("The Agent's user was asked");
    };
    const { meta } = await office.laptop.callTool("echo", {}, { onQuestion });
    assertEquals([meta?.error_code, await runs(office)], [4005, 0]);
  });
}

// proves: question-opt-in
Deno.test("an Agent that has not opened the channel gets no question: the person at the Computer is asked", async () => {
  let asked = 0;
  await using office = await openOffice({ approval: "agent" }, { confirm: () => (asked++, false) });
  const { meta } = await office.laptop.callTool("echo");
  assertEquals([meta?.error_code, meta?.["a2c_input_required"], asked], [4005, undefined, 1]);
});

// proves: question-local
Deno.test("a call of the Computer's own program is never approved by the Agent", async () => {
  let asked = 0;
  await using office = await openOffice({ approval: "agent" }, { confirm: () => (asked++, true) });
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["approval"] });
  const { content } = await office.computer.callTool("echo");
  assertEquals([content[0]?.text, asked], ["done", 1]);
});

/** Opens the channel and calls the tool, as a program without our Agent does. */
async function ask(office: ComputerOffice, reqId = "r1"): Promise<InputRequired> {
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["approval"] });
  return questionIn(await office.laptop.callTool("echo", {}, { reqId }));
}

function answer(office: ComputerOffice, state: string, more: Record<string, unknown> = {}): Promise<unknown> {
  const body = { computer: "laptop", state, action: "accept", ...more };
  return office.agent.request("client:answer_input", body);
}

// proves: question-result, question-answer
Deno.test("a question is a failed result with a sentence and a state, and the answer is acked with the result", async () => {
  await using office = await openOffice();
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["approval", "new"] });
  const first = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals([first.isError, first.meta?.error_code], [true, 4005]);
  assertStringIncludes(first.content[0]?.text ?? "", "has not run");
  const { state, mode, expires_in_ms } = questionIn(first);
  assertEquals([mode, expires_in_ms], ["approval", 600_000]);
  const last = await answer(office, state) as CallToolResult;
  assertEquals(last.content[0]?.text, "done");
});

// proves: question-repeated
Deno.test("a repeated call gets the open question, and the result after the end; the tool runs once", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  const again = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals(questionIn(again).state, state);
  await answer(office, state);
  const after = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals([after.content[0]?.text, await runs(office)], ["done", 1]);
});

// proves: question-not-open
Deno.test("an answer that comes twice, or to a question that never was, is 404 with the reason", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  await answer(office, state);
  const twice = await assertRejects(() => answer(office, state), SmcpError);
  assertEquals([twice.code, twice.details], [404, { state, reason: "answered" }]);
  const never = await assertRejects(() => answer(office, "nonsense"), SmcpError);
  assertEquals([never.code, never.details], [404, { state: "nonsense", reason: "unknown" }]);
});

// proves: question-other-agent
Deno.test("an answer in the name of another Agent is 403, and the question stays open", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  const refusal = await assertRejects(() => answer(office, state, { agent: "eve" }), SmcpError);
  assertEquals(refusal.code, 403);
  const result = await answer(office, state) as CallToolResult;
  assertEquals(result.content[0]?.text, "done");
});

// proves: question-approval
Deno.test("an approval that comes after the owner has taken the permission back lets nothing run", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  const { adopted } = await office.computer.reconfigure({ servers: { s: withSettings({}) } });
  assertEquals(adopted, ["s"]);
  const { meta, content } = await answer(office, state) as CallToolResult;
  assertEquals([meta?.error_code, await runs(office)], [4005, 0]);
  assertStringIncludes(content[0]?.text ?? "", "no longer");
});

// proves: question-expiry, question-confirm-late
Deno.test("an approval that nobody gives in time ends the call with 4005", async () => {
  await using office = await openOffice({ approval: "agent" }, { limits: { questionTimeoutMs: 50 } });
  let late: AbortSignal | undefined;
  const { content, meta } = await office.laptop.callTool("echo", {}, {
    onQuestion: ({ signal }) => (late = signal, new Promise(() => {})),
  });
  assertEquals([meta?.error_code, late?.aborted, await runs(office)], [4005, true, 0]);
  assertStringIncludes(content[0]?.text ?? "", "nobody answered");
});

// proves: question-leave
Deno.test("an open question ends when the Agent leaves, and its answer is 404", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  await office.agent.leave();
  await office.agent.join("lab");
  const refusal = await assertRejects(() => answer(office, state), SmcpError);
  assertEquals(refusal.details?.["reason"], "ended");
  const after = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals([after.meta?.a2c_cancelled, await runs(office)], [true, 0]);
  assertStringIncludes(after.content[0]?.text ?? "", "has not run");
});

// proves: question-session
Deno.test("the channel is closed when the Agent leaves", async () => {
  await using office = await openOffice();
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["approval"] });
  await office.agent.leave();
  await office.agent.join("lab");
  const { content, meta } = await office.laptop.callTool("echo");
  assertEquals([meta?.error_code, meta?.["a2c_input_required"]], [4005, undefined]);
  assertStringIncludes(content[0]?.text ?? "", "does not offer to ask them. To confirm it");
});

// proves: question-computer-returns, question-session
Deno.test("an open question stays while the Computer reconnects, and the channel has to be opened again", async () => {
  await using office = await openOffice();
  const { state } = await ask(office);
  const back = office.next("enterOffice");
  office.cut();
  await back;
  const { meta } = await office.laptop.callTool("echo");
  assertEquals(meta?.["a2c_input_required"], undefined);
  const result = await answer(office, state) as CallToolResult;
  assertEquals(result.content[0]?.text, "done");
});

Deno.test("an Agent with onQuestion opens the channel again after the Computer has come back", async () => {
  await using office = await openOffice();
  const call = () => office.laptop.callTool("echo", {}, { onQuestion: () => ({ action: "accept" }) });
  assertEquals((await call()).content[0]?.text, "done");
  const back = office.next("enterOffice");
  office.cut();
  await back;
  assertEquals((await call()).content[0]?.text, "done");
});

Deno.test("a call that is cancelled while the Agent's user is asked never runs", async () => {
  await using office = await openOffice();
  const asked = Promise.withResolvers<AgentQuestion>();
  const ending = new AbortController();
  const call = office.laptop.callTool("echo", {}, {
    signal: ending.signal,
    onQuestion: (question) => (asked.resolve(question), new Promise(() => {})),
  });
  const { signal } = await within(asked.promise, "the question");
  ending.abort(new TypeError("Enough"));
  await assertRejects(() => call, TypeError, "Enough");
  assertEquals([signal.aborted, await runs(office)], [true, 0]);
});

// proves: question-no-answerer
Deno.test("a call without onQuestion of an Agent that opened the channel for another call says that nobody could be asked", async () => {
  await using office = await openOffice();
  await office.laptop.callTool("echo", {}, { onQuestion: () => ({ action: "accept" }) });
  const { meta, content } = await office.laptop.callTool("echo");
  assertEquals([meta?.error_code, meta?.["a2c_input_required"], await runs(office)], [4005, undefined, 1]);
  for (const words of ["nobody could be asked", "onQuestion", "--approve"]) {
    assertStringIncludes(content[0]?.text ?? "", words);
  }
});

// proves: question-no-answerer, question-unasked
Deno.test("the person at the Computer is asked about a call whose program has nobody to ask, whoever else opened the channel", async () => {
  const asked: unknown[] = [];
  await using office = await openOffice({ approval: "agent" }, {
    confirm: ({ params }) => (asked.push(params["n"]), true),
  });
  const byAgent: unknown[] = [];
  const onQuestion = (question: AgentQuestion) => {
    byAgent.push(question.mode === "approval" && question.params["n"]);
    return { action: "accept" } as const;
  };
  const call = async (n: number, ask?: OnQuestion) => {
    const { content } = await office.laptop.callTool("echo", { n }, { onQuestion: ask });
    assertEquals(content[0]?.text, "done");
  };
  await call(1);
  await call(2, onQuestion);
  await call(3);
  await call(4, () => undefined);
  await call(5, onQuestion);
  assertEquals([asked, byAgent], [[1, 3, 4], [2, 5]]);
});

// proves: question-unasked, question-wait
Deno.test("a call that its Agent asks nobody about waits for the person at the Computer", async () => {
  const answered = Promise.withResolvers<boolean>();
  await using office = await openOffice({ approval: "agent" }, { confirm: () => answered.promise });
  const open = { computer: "laptop", modes: ["approval", "wait"] };
  await office.agent.request("client:open_input", open);
  const { state } = questionIn(await office.laptop.callTool("echo", {}, { reqId: "r1" }));
  const unasked = { action: "cancel", asked: false };
  const wait = questionIn(await answer(office, state, unasked) as CallToolResult);
  assertEquals(wait.mode, "wait");
  answered.resolve(true);
  // The call may have ended before an answer to the wait comes.
  const result = await office.laptop.callTool("echo", {}, { reqId: "r1" });
  assertEquals([result.content[0]?.text, await runs(office)], ["done", 1]);
});

Deno.test("a user of the Agent who does not decide leaves nothing to the person at the Computer", async () => {
  let asked = 0;
  await using office = await openOffice({ approval: "agent" }, { confirm: () => (asked++, true) });
  for (const action of ["cancel", "decline"] as const) {
    const { meta } = await office.laptop.callTool("echo", {}, { onQuestion: () => ({ action }) });
    assertEquals([meta?.error_code, asked], [4005, 0]);
  }
});

// proves: question-bounds
Deno.test("more questions than the bound are refused, and the open ones stay", async () => {
  await using office = await openOffice({ approval: "agent" }, { limits: { maxQuestions: 1 } });
  const { state } = await ask(office, "r1");
  const second = await office.laptop.callTool("echo", {}, { reqId: "r2" });
  assertEquals([second.meta?.error_code, second.meta?.["a2c_input_required"]], [4005, undefined]);
  assertStringIncludes(second.content[0]?.text ?? "", "too many");
  assertEquals((await answer(office, state) as CallToolResult).content[0]?.text, "done");
});
