// Questions that MCP servers ask during calls, from the Agent's call to the answer, with real MCP servers.

import { assert, assertEquals, assertRejects, assertStrictEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentQuestion } from "../../src/agent/questions.ts";
import type { QuestionRequest } from "../../src/computer/questions/question.ts";
import { ConnectionClosedError, mayHaveRun } from "../../src/link/errors.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import type { InputRequired } from "../../src/protocol/questions.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { everything } from "../fixtures/public_servers.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";
import { NOTHING, ScriptedComputer } from "./_scripted_computer.ts";

const FORM = "trigger-elicitation-request";
const PAGE = "trigger-url-elicitation";

function textOf({ content }: CallToolResult): string {
  return content.map(({ text }) => text ?? "").join("\n");
}

// proves: question-who, question-answer, question-form-schema, question-default
Deno.test("the Agent's user answers the form of the public server, whose call has waited", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const asked: AgentQuestion[] = [];
  const result = await office.laptop.callTool(FORM, {}, {
    onQuestion(question) {
      asked.push(question);
      return { action: "accept", content: { name: "Ada", check: true } };
    },
  });
  const [question] = asked;
  assert(question?.mode === "form");
  assertEquals([question.tool, question.mcpServer, question.computer], [FORM, "s", "laptop"]);
  assertEquals(question.fields.filter(({ kind }) => kind === "choice" || kind === "choices").length, 5);
  assertStringIncludes(textOf(result), "Name: Ada");
  assertStringIncludes(textOf(result), '"integer": 42');
  assertEquals(asked.length, 1);
});

Deno.test("the public server is told what the Agent's user answers, and whether to open a page", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  for (const action of ["decline", "cancel"] as const) {
    const result = await office.laptop.callTool(FORM, {}, { onQuestion: () => ({ action }) });
    assertStringIncludes(textOf(result), `"action": "${action}"`);
  }
  const asked: AgentQuestion[] = [];
  const page = await office.laptop.callTool(PAGE, { url: "https://example.com/pay" }, {
    onQuestion: (question) => (asked.push(question), { action: "accept" }),
  });
  const [question] = asked;
  assert(question?.mode === "url");
  assertEquals(question.url, "https://example.com/pay");
  assertEquals(page.isError, false);
});

Deno.test("the public server is asked again after the user has opened the page that its error wants", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const call = async (action: "accept" | "decline") => {
    const pages: AgentQuestion[] = [];
    const params = { url: `https://example.com/${action}`, errorPath: true };
    const onQuestion = (question: AgentQuestion) => (pages.push(question), { action } as const);
    const { content, meta } = await office.laptop.callTool(PAGE, params, { onQuestion });
    return [pages.map(({ mode }) => mode), meta?.error_code, content[0]?.text ?? ""] as const;
  };
  const agreed = await call("accept");
  assertEquals(agreed.slice(0, 2), [["url"], 4003]);
  assertStringIncludes(agreed[2], "call the tool again");
  assertStringIncludes((await call("decline"))[2], "did not agree");
  const again = await call("accept");
  assertEquals(again[1], undefined);
});

Deno.test("an answer that reaches nobody is no sign that the tool has not run", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const onQuestion = async () => {
    await office.agent.close();
    return { action: "accept", content: { name: "Ada", check: true } } as const;
  };
  const error = await assertRejects(
    () => office.laptop.callTool(FORM, {}, { onQuestion }),
    ConnectionClosedError,
  );
  assertEquals([error.isPermanent, mayHaveRun(error)], [true, true]);
});

Deno.test("a call that waits for the person at its Computer may have run, whoever leaves", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } }, {
    answerQuestion: () => new Promise<undefined>(() => {}),
  });
  const options = { onQuestion: () => undefined, onWait: () => void office.agent.close() };
  assert(mayHaveRun(await assertRejects(() => office.laptop.callTool(FORM, {}, options))));
});

Deno.test("a tool that asks may have run when the credentials of its Agent have ended", async () => {
  const account = new AbortController();
  // The Computer comes first, the Agent second.
  const accounts = [undefined, account.signal];
  await using office = await ComputerOffice.open({ servers: { s: everything() } }, {
    server: { auth: { authenticate: () => ({ principal: "ada", signal: accounts.shift() }) } },
  });
  const ended = office.next("failed");
  const onQuestion = async () => {
    account.abort("revoked");
    await ended;
    return { action: "accept", content: { name: "Ada", check: true } } as const;
  };
  assert(mayHaveRun(await assertRejects(() => office.laptop.callTool(FORM, {}, { onQuestion }))));
});

Deno.test("an answer that cannot be sent is none", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const content = { name: 1n as unknown as number, check: true };
  const result = await office.laptop.callTool(FORM, {}, {
    onQuestion: () => ({ action: "accept", content }),
  });
  assertStringIncludes(textOf(result), '"action": "cancel"');
});

Deno.test("the reason of an abort is that of the signal, whatever the tool has done", async () => {
  await using office = await ComputerOffice.open({ servers: { s: everything() } });
  const ending = new AbortController();
  const reason = new SmcpError(403, "mine");
  const onQuestion = () => (ending.abort(reason), new Promise<undefined>(() => {}));
  const call = () => office.laptop.callTool(FORM, {}, { onQuestion, signal: ending.signal });
  assertStrictEquals(await assertRejects(call), reason);
});

Deno.test("a server on version 2 of the SDK asks for an order and gets it", async () => {
  await using office = await ComputerOffice.open({ servers: { kiosk: kioskOnStdio() } });
  const result = await office.laptop.callTool("order", {}, {
    onQuestion: () => ({ action: "accept", content: { size: "large", cups: 3 } }),
  });
  assertEquals(textOf(result), 'ordered {"size":"large","cups":3,"sugar":false}');
});

const ASKING_SERVER = fromFileUrl(new URL("../fixtures/asking_server.ts", import.meta.url));
const peopleForm = {
  message: "For how many people?",
  requestedSchema: {
    type: "object",
    properties: { people: { type: "integer", minimum: 1 } },
    required: ["people"],
  },
};

/** A server that asks what its tool `ask` is told to. */
function askingServer(config: Readonly<Record<string, unknown>> = {}) {
  return {
    type: "stdio",
    default_tool_meta: { auto_apply: true },
    server_parameters: {
      command: Deno.execPath(),
      args: ["run", "-A", "--no-check", "--no-lock", "--quiet", ASKING_SERVER],
    },
    ...config,
  };
}

/** An office with that server. */
function openAsking(
  config: Readonly<Record<string, unknown>> = {},
  options: OfficeOptions = {},
): Promise<ComputerOffice> {
  return ComputerOffice.open({ servers: { bistro: askingServer(config) } }, options);
}

const onePerson = { action: "accept", content: { people: 1 } } as const;

/** What came of the questions, as the server saw it: the first text of the result. */
function answersIn({ content }: CallToolResult): unknown {
  return JSON.parse(content[0]?.text ?? "null");
}

// proves: question-who
Deno.test("the person at the Computer is asked first, with the Agent's name, and the Agent is not asked", async () => {
  const asked: QuestionRequest[] = [];
  await using office = await openAsking({}, {
    answerQuestion: (question) => (asked.push(question), onePerson),
  });
  const result = await office.laptop.callTool("ask", { questions: [peopleForm] }, {
    onQuestion: () => ({ action: "decline" }),
  });
  assertEquals(answersIn(result), [onePerson]);
  const [question] = asked;
  assert(question?.mode === "form");
  const { server, tool, agent, isLocal, message } = question;
  assertEquals([server, tool, agent, isLocal], ["bistro", "ask", "ada", false]);
  assertEquals(message, "For how many people?");
});

// proves: question-who
Deno.test("where nobody is at the Computer, the Agent's user is asked", async () => {
  await using office = await openAsking({}, { answerQuestion: () => undefined });
  const result = await office.laptop.callTool("ask", { questions: [peopleForm] }, {
    onQuestion: () => onePerson,
  });
  assertEquals(answersIn(result), [onePerson]);
});

for (const elicitation of ["agent", "computer"] as const) {
  // proves: question-who
  Deno.test(`"elicitation": "${elicitation}" asks nobody else`, async () => {
    const asked: string[] = [];
    await using office = await openAsking({ elicitation }, {
      answerQuestion: () => (asked.push("computer"), onePerson),
    });
    const result = await office.laptop.callTool("ask", { questions: [peopleForm] }, {
      onQuestion: () => (asked.push("agent"), onePerson),
    });
    assertEquals([answersIn(result), asked], [[onePerson], [elicitation]]);
  });
}

// proves: question-declined, question-opt-in
Deno.test("a question that nobody can answer is declined, and the model reads why", async () => {
  await using office = await openAsking();
  const result = await office.laptop.callTool("ask", { questions: [peopleForm] });
  assertEquals(answersIn(result), [{ action: "decline" }]);
  const [, note] = result.content;
  for (const words of ["bistro", "For how many people?", "nobody can be asked"]) {
    assertStringIncludes(note?.text ?? "", words);
  }
});

// proves: question-no-answerer
Deno.test("a question in a call without onQuestion is cancelled, and the model reads what the caller can do", async () => {
  await using office = await openAsking();
  await office.laptop.callTool("ask", { questions: [peopleForm] }, { onQuestion: () => onePerson });
  const result = await office.laptop.callTool("ask", { questions: [peopleForm] });
  assertEquals(answersIn(result), [{ action: "cancel" }]);
  const [, note] = result.content;
  for (const words of ["nobody could be asked", "onQuestion", "--answer"]) {
    assertStringIncludes(note?.text ?? "", words);
  }
});

// proves: question-secret, question-url, question-declined
Deno.test("a form that asks for a secret and a URL that is none are declined, whoever could answer", async () => {
  await using office = await openAsking({}, { answerQuestion: () => onePerson });
  const password = { type: "object", properties: { password: { type: "string" } } };
  const questions = [
    { message: "Log in", requestedSchema: password },
    { mode: "url", message: "Look", url: "javascript:alert(1)", elicitationId: "e1" },
  ];
  const result = await office.laptop.callTool("ask", { questions });
  assertEquals(answersIn(result), [{ action: "decline" }, { action: "decline" }]);
  assertStringIncludes(textOf(result), "looks like a secret");
  assertStringIncludes(textOf(result), "not one of the web");
});

// proves: question-answer-checked
Deno.test("a wrong answer is asked for again, with what was wrong, at the Agent and at the Computer", async () => {
  const problems: (readonly string[])[] = [];
  const answer = (question: { readonly problems: readonly string[] }) => {
    problems.push(question.problems);
    return problems.length % 2 === 1 ? { action: "accept", content: { people: 0 } } as const : onePerson;
  };
  await using office = await openAsking({}, {
    answerQuestion: (question) => question.isLocal ? answer(question) : undefined,
  });
  const remote = await office.laptop.callTool("ask", { questions: [peopleForm] }, { onQuestion: answer });
  const local = await office.computer.callTool("ask", { questions: [peopleForm] });
  assertEquals([answersIn(remote), answersIn(local)], [[onePerson], [onePerson]]);
  const wrong = ['"people" must be at least 1'];
  assertEquals(problems, [[], wrong, [], wrong]);
});

/** Opens the channel and calls the tool, as a program without our Agent does. */
async function ask(
  office: ComputerOffice,
  questions: readonly unknown[] = [peopleForm],
): Promise<InputRequired> {
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["form", "url"] });
  const { isError, meta } = await office.laptop.callTool("ask", { questions }, { reqId: "r1" });
  assertEquals([isError, meta?.error_code], [true, undefined]);
  return JSON.parse(String(meta?.["a2c_input_required"]));
}

function answer(office: ComputerOffice, state: string, body: Record<string, unknown> = onePerson) {
  return office.agent.request("client:answer_input", { computer: "laptop", state, ...body }) as Promise<
    CallToolResult
  >;
}

// proves: question-answer-checked
Deno.test("wrong content is 400 with each problem, and the question stays open", async () => {
  await using office = await openAsking();
  const { state } = await ask(office);
  const wrong = { action: "accept", content: { people: "two", wine: true } };
  const refusal = await assertRejects(() => answer(office, state, wrong), SmcpError);
  const problems = ['"people" must be a whole number', '"wine" is not a field of the form'];
  assertEquals([refusal.code, refusal.details], [400, { field: "content", problems }]);
  assertEquals(answersIn(await answer(office, state)), [onePerson]);
});

// proves: question-answer
Deno.test("the answer to a question is acked with the next question, under a state of its own", async () => {
  await using office = await openAsking();
  const first = await ask(office, [peopleForm, { ...peopleForm, message: "And children?" }]);
  const { meta } = await answer(office, first.state);
  const second: InputRequired = JSON.parse(String(meta?.["a2c_input_required"]));
  assertEquals([second.message, second.state === first.state], ["And children?", false]);
  assertEquals(answersIn(await answer(office, second.state, { action: "cancel" })), [onePerson, {
    action: "cancel",
  }]);
});

// proves: question-in-turn
Deno.test("questions that a call asks at once are answered one after the other", async () => {
  await using office = await openAsking();
  let open = 0;
  const most: number[] = [];
  const result = await office.laptop.callTool("ask", { questions: [peopleForm, peopleForm], atOnce: true }, {
    async onQuestion() {
      most.push(++open);
      await Promise.resolve();
      open--;
      return onePerson;
    },
  });
  assertEquals([answersIn(result), most], [[onePerson, onePerson], [1, 1]]);
});

// proves: question-bounds
Deno.test("questions of one call beyond the bound are declined", async () => {
  await using office = await openAsking({}, { answerQuestion: () => onePerson });
  const result = await office.laptop.callTool("ask", { questions: Array(34).fill(peopleForm) });
  const answers = answersIn(result);
  assert(Array.isArray(answers));
  assertEquals(answers.filter(({ action }) => action === "accept").length, 32);
  assertStringIncludes(textOf(result), "more than 32 questions");
});

// proves: question-local
Deno.test("a call of the Computer's own program is answered where it was made, never by the Agent", async () => {
  await using office = await openAsking({ elicitation: "agent" }, {
    answerQuestion: () => ({ action: "decline" }),
  });
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["form"] });
  const own = await office.computer.callTool("ask", { questions: [peopleForm] }, {
    answerQuestion: ({ isLocal, agent }) => (assertEquals([isLocal, agent], [true, undefined]), onePerson),
  });
  assertEquals(answersIn(own), [onePerson]);
  const other = await office.computer.callTool("ask", { questions: [peopleForm] });
  assertEquals(answersIn(other), [{ action: "decline" }]);
});

// proves: question-clock
Deno.test("the time of a local call stands still while a person is asked", async () => {
  await using office = await openAsking();
  const result = await office.computer.callTool("ask", { questions: [peopleForm] }, {
    timeoutMs: 1_000,
    answerQuestion: ({ timeLeftMs }) => (assertEquals(timeLeftMs, 600_000), onePerson),
  });
  assertEquals(answersIn(result), [onePerson]);
});

// proves: question-open-at-end
Deno.test("a call that is out of time, or cancelled, while the person at the Computer is asked says so", async () => {
  const signals: AbortSignal[] = [];
  const asked = Promise.withResolvers<void>();
  await using office = await openAsking({}, {
    answerQuestion: ({ signal, message }) => {
      signals.push(signal);
      if (message === "Cancel me") asked.resolve();
      return new Promise(() => {});
    },
  });
  const late = await office.laptop.callTool("ask", { questions: [peopleForm] }, { timeoutMs: 1_000 });
  assertEquals([late.meta?.error_code, late.meta?.a2c_timeout], [4004, true]);
  assertStringIncludes(textOf(late), 'a question of MCP server "bistro" was open');
  const questions = [{ ...peopleForm, message: "Cancel me" }];
  const call = office.laptop.callTool("ask", { questions }, { reqId: "r2" });
  await within(asked.promise, "the question");
  await office.agent.request("server:tool_call_cancel", { req_id: "r2" });
  const cancelled = await call;
  assertEquals(cancelled.meta?.a2c_cancelled, true);
  assertStringIncludes(textOf(cancelled), 'a question of MCP server "bistro" was open');
  assertEquals(signals.map(({ aborted }) => aborted), [true, true]);
});

// proves: question-expiry, question-not-open, question-repeated
Deno.test("a question that nobody answers in time is told as cancel, and the result is kept for a repeated call", async () => {
  await using office = await openAsking({}, { limits: { questionTimeoutMs: 50 } });
  const { state } = await ask(office);
  const repeat = () => office.laptop.callTool("ask", { questions: [peopleForm] }, { reqId: "r1" });
  const last = await eventually(
    repeat,
    ({ meta }) => meta?.["a2c_input_required"] === undefined,
    "the result",
  );
  assertEquals(answersIn(last), [{ action: "cancel" }]);
  const late = await assertRejects(() => answer(office, state), SmcpError);
  assertEquals([late.code, late.details], [404, { state, reason: "expired" }]);
});

// proves: question-leave
Deno.test("a time for answers beyond what a timer can count is as long as it can", async () => {
  await using office = await openAsking({}, { limits: { questionTimeoutMs: Infinity } });
  const result = await office.laptop.callTool("ask", { questions: [peopleForm] }, {
    onQuestion: () => onePerson,
  });
  assertEquals(answersIn(result), [onePerson]);
});

Deno.test("an open question ends when its Agent leaves, and the MCP server is told to cancel", async () => {
  await using office = await openAsking();
  const { state } = await ask(office);
  await office.agent.leave();
  await office.agent.join("lab");
  const late = await assertRejects(() => answer(office, state), SmcpError);
  assertEquals(late.details?.["reason"], "ended");
  const messages = answersIn(await office.laptop.callTool("received")) as { method?: string }[];
  assert(messages.some(({ method }) => method === "notifications/cancelled"));
});

// proves: question-computer-returns
Deno.test("an open question is answered after the Computer has come back", async () => {
  await using office = await openAsking();
  const { state } = await ask(office);
  const back = office.next("enterOffice");
  office.cut();
  await back;
  assertEquals(answersIn(await answer(office, state)), [onePerson]);
});

Deno.test("an open question is answered after an Agent has come back that was later than the Computer", async () => {
  await using office = await openAsking();
  const { state } = await ask(office);
  const isConnected = () => office.computer.connection?.isConnected ?? false;
  office.wire.interrupt();
  await eventually(isConnected, (isThere) => !isThere, "the loss");
  await office.agent.leave();
  office.wire.restore();
  await eventually(isConnected, Boolean, "the return of the Computer");
  const observer = { url: office.server.url, office: "lab", name: "eve", observer: true };
  await using witness = await Agent.connect(observer);
  // The Computer has looked who is there when this is answered.
  await witness.computer("laptop").getTools();
  await office.agent.join("lab");
  assertEquals(answersIn(await answer(office, state)), [onePerson]);
});

// proves: question-leave, question-not-open
Deno.test("a question ends with its call when the MCP server does not wait for the answer", async () => {
  await using office = await openAsking();
  await office.agent.request("client:open_input", { computer: "laptop", modes: ["form"] });
  const call = () => office.laptop.callTool("ask", { questions: [peopleForm], hasty: true }, { reqId: "r1" });
  const required = (await call()).meta?.["a2c_input_required"];
  const last = await eventually(call, ({ meta }) => meta?.["a2c_input_required"] === undefined, "the result");
  assertEquals(last.content[0]?.text, '"hasty"');
  if (required === undefined) return;
  const late = await assertRejects(() => answer(office, JSON.parse(String(required)).state), SmcpError);
  assertEquals(late.details?.["reason"], "ended");
});

/** Calls a tool of a Computer of another program, which answers with a question; gives what it gets as the answer. */
async function answerTo(
  question: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  await using server = await SmcpServer.listen({ port: 0 });
  const done = { content: [{ type: "text", text: "done" }], isError: false };
  const required = JSON.stringify({ state: "x", message: "?", expires_in_ms: 60_000, ...question });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:open_input": () => ({ modes: ["form", "wait"] }),
      "client:tool_call": () => ({ ...done, meta: { a2c_input_required: required } }),
      "client:answer_input": () => done,
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const result = await agent.computer("laptop").callTool("t", {}, {
    onQuestion: () => ({ action: "accept", content: { password: "hunter2" } }),
    timeoutMs: 30_000,
  });
  assertEquals(result.content[0]?.text, "done");
  const sent = computer.requests.find(({ event }) => event === "client:answer_input");
  return { ...sent?.body };
}

// proves: question-secret
Deno.test("the Agent itself shows no form for a secret, whatever its Computer lets through", async () => {
  const schema = { type: "object", properties: { password: { type: "string" } } };
  const { action, content } = await answerTo({ mode: "form", schema });
  assertEquals([action, content], ["cancel", undefined]);
});

// proves: question-wait
Deno.test("a Computer holds a call of our Agent for an hour at most", async () => {
  const { action, timeout } = await answerTo({ mode: "wait", expires_in_ms: 1e12 });
  assertEquals([action, timeout], ["accept", 3_630]);
});

// proves: question-who
Deno.test("an answer of the Agent's user that comes after the owner has taken the question is cancelled", async () => {
  await using office = await openAsking();
  const { state } = await ask(office);
  const { adopted } = await office.computer.reconfigure({
    servers: { bistro: askingServer({ elicitation: "computer" }) },
  });
  assertEquals(adopted, ["bistro"]);
  const result = await answer(office, state);
  assertEquals(answersIn(result), [{ action: "cancel" }]);
  assertStringIncludes(textOf(result), "no longer");
});

for (const [what, answerOpen] of [["400", refuseEvent], ["an empty ack", () => NOTHING]] as const) {
  // proves: question-unknown
  Deno.test(`a Computer that answers client:open_input with ${what} is called as without questions`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    const done = { content: [{ type: "text", text: "done" }], isError: false };
    const forged = {
      ...done,
      meta: { a2c_input_required: '{"state":"x","mode":"approval","message":"?","expires_in_ms":1}' },
    };
    let calls = 0;
    using computer = await ScriptedComputer.join(server.url, {
      answers: { "client:open_input": answerOpen, "client:tool_call": () => calls++ === 0 ? done : forged },
    });
    await using agent = await Agent.connect({
      url: server.url,
      office: "lab",
      name: "ada",
      onQuestion: () => onePerson,
    });
    const laptop = agent.computer("laptop");
    assertEquals((await laptop.callTool("t")).content[0]?.text, "done");
    // Without a channel nothing is taken for a question.
    assertEquals((await laptop.callTool("t")).content[0]?.text, "done");
    const events = computer.requests.map(({ event }) => event).filter((event) => event.startsWith("client:"));
    assertEquals(events, ["client:open_input", "client:tool_call", "client:tool_call"]);
  });
}

function refuseEvent(): unknown {
  return { code: 400, message: "Cannot serve it", details: { field: "event" } };
}
