/** Attacker: a Computer. Its questions and progress are huge, endless or malformed, to hold a call or to deceive a user */
import { assert, assertEquals } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import type { AgentQuestion } from "../../src/agent/questions.ts";
import { parseFollowCallRet } from "../../src/protocol/answers.ts";
import { RequestTimeoutError } from "../../src/link/errors.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { type Answer, ScriptedComputer, textResult } from "../integration/_scripted_computer.ts";

const form = { mode: "form", schema: { type: "object", properties: { a: { type: "string" } } } };
const secret = { mode: "form", schema: { type: "object", properties: { password: { type: "string" } } } };

/** A result with a question, whose members may be anything. */
function question(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const required = { state: "s", message: "m", expires_in_ms: 60_000, ...members };
  const meta = { a2c_input_required: JSON.stringify(required) };
  return { ...textResult("a question"), isError: true, meta };
}

/** Calls a tool of a Computer that asks `asked`, and answers its answer with `next`; accepts whatever is shown. */
async function call(asked: Record<string, unknown>, next: Answer, { timeoutMs = 30_000 } = {}) {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, {
    answers: {
      "client:open_input": () => ({ modes: ["form", "url", "approval", "wait"] }),
      "client:tool_call": () => asked,
      "client:answer_input": next,
    },
  });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const shown: AgentQuestion[] = [];
  const onQuestion = (question: AgentQuestion) => (shown.push(question), { action: "accept" } as const);
  const answers = () => computer.requests.filter(({ event }) => event === "client:answer_input").length;
  const calling = agent.computer("laptop").callTool("work", {}, { timeoutMs, onQuestion });
  const outcome: CallToolResult | Error = await calling.catch((error: Error) => error);
  return { outcome, shown, answers: answers() };
}

const done: Answer = () => textResult("done");
const isDone = (outcome: CallToolResult | Error) =>
  !(outcome instanceof Error) && outcome.content[0]?.text === "done";

for (const [what, members] of Object.entries({ "a secret": secret, "something unknown": { mode: "x" } })) {
  Deno.test(`a Computer that asks for ${what} again and again holds a call no longer than its time-out`, async () => {
    const { outcome, shown, answers } = await call(
      question(members),
      () => question(members),
      { timeoutMs: 1 },
    );
    assert(outcome instanceof RequestTimeoutError, String(outcome));
    assertEquals(shown, []);
    assert(answers < 256, `${answers} answers`);
  });
}

Deno.test("a question that is larger than a Computer's may be is not read", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, n) => [`f${n}`, { type: "string" }]),
  );
  const { shown, answers, outcome } = await call(question({ ...form, schema: { properties } }), done);
  assertEquals([shown, answers, isDone(outcome)], [[], 0, false]);
});

Deno.test("a URL is shown in its normal form, and not at all with a user name or without an end", async () => {
  const { shown: [asked] } = await call(
    question({ mode: "url", url: "https://\u0430.example/\u202e\u001b[2J" }),
    done,
  );
  assert(asked?.mode === "url");
  assertEquals(asked.url, "https://xn--80a.example/%E2%80%AE%1B[2J");
  for (
    const url of [
      "https://bank.example@evil.example/",
      `https://evil.example/${"x".repeat(9_000)}`,
      "file:///a",
    ]
  ) {
    const { shown, outcome } = await call(question({ mode: "url", url }), done);
    assertEquals([shown, isDone(outcome)], [[], true], url.slice(0, 40));
  }
});

Deno.test("a question that expires in a million years is not withdrawn at once", async () => {
  const { shown: [asked] } = await call(question({ ...form, expires_in_ms: 1e308 }), done);
  assert(asked !== undefined);
  assertEquals([asked.signal.aborted, asked.timeLeftMs], [false, 2 ** 31 - 1]);
});

Deno.test("problems of an answer that are no texts, or too many, are left out", async () => {
  const problems = ["x".repeat(5_000), { toString: 1 }, ...Array(100).fill("wrong")];
  const refusals = [{ code: 400, message: "m", details: { field: "content", problems } }];
  const { shown: [, again], outcome } = await call(
    question(form),
    () => refusals.pop() ?? textResult("done"),
  );
  assertEquals([again?.problems.length, again?.problems[0]?.length, isDone(outcome)], [19, 1_001, true]);
});

Deno.test("of the text of a progress, the Agent reads as much as a Computer may send", () => {
  const { progress } = parseFollowCallRet({ progress: { progress: 1, message: "x".repeat(500_000) } });
  assertEquals(progress?.message?.length, 1_001);
});
