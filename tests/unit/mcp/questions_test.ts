import { assertEquals, assertRejects } from "@std/assert";
import type { Ask } from "../../../src/mcp/call_options.ts";
import type { Answer } from "../../../src/protocol/questions.ts";
import { RpcError } from "../../../src/protocol/mcp.ts";
import { AskingCalls, MAX_OPEN_QUESTIONS, readQuestion } from "../../../src/mcp/questions.ts";

const form = { message: "Your name?", requestedSchema: { type: "object", properties: {} } };
const { signal } = new AbortController();

function answering(answer: Answer): Ask {
  return () => Promise.resolve(answer);
}

Deno.test("readQuestion() reads a form with and without a mode, and a URL", () => {
  const question = { mode: "form", message: "Your name?", schema: form.requestedSchema } as const;
  assertEquals(readQuestion(form), question);
  assertEquals(readQuestion({ ...form, mode: "form", _meta: {} }), question);
  const url = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "e1" } as const;
  assertEquals(readQuestion(url), url);
  assertEquals(readQuestion({ ...url, elicitationId: 5 }), { ...url, elicitationId: undefined });
});

Deno.test("readQuestion() refuses what is malformed", () => {
  for (
    const params of [undefined, "x", {}, { message: "m" }, { ...form, mode: "song" }, { ...form, message: 1 }]
  ) {
    assertEquals(readQuestion(params), undefined, JSON.stringify(params));
  }
  assertEquals(readQuestion({ mode: "url", message: "m" }), undefined);
});

Deno.test("a question goes to the only running call, which declines without somebody to ask", async () => {
  const calls = new AskingCalls();
  assertEquals(await calls.answer(form, { signal }), { action: "decline" });
  {
    using _call = calls.begin(undefined);
    assertEquals(await calls.answer(form, { signal }), { action: "decline" });
  }
  using _call = calls.begin(answering({ action: "accept", content: { name: "Ada" } }));
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { name: "Ada" } });
});

Deno.test("of several running calls, the latest that can ask gets the question", async () => {
  const calls = new AskingCalls();
  using _first = calls.begin(answering({ action: "accept", content: { from: "first" } }));
  using _second = calls.begin(answering({ action: "accept", content: { from: "second" } }));
  using _third = calls.begin(undefined);
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { from: "second" } });
});

Deno.test("a question that came in the stream of a call's answer goes to that call", async () => {
  const calls = new AskingCalls();
  using first = calls.begin(answering({ action: "accept", content: { from: "first" } }));
  using second = calls.begin(answering({ action: "accept", content: { from: "second" } }));
  first.onRequest(7);
  second.onRequest(8);
  calls.relate("q1", 7);
  const accepted = { action: "accept", content: { from: "first" } };
  assertEquals(await calls.answer(form, { id: "q1", signal }), accepted);
  assertEquals(await calls.answer(form, { id: "q2", signal }), { ...accepted, content: { from: "second" } });
});

Deno.test("a question that names the task, or came in the stream, of an ended call goes to no other call", async () => {
  const calls = new AskingCalls();
  using _other = calls.begin(answering({ action: "accept" }));
  {
    using ended = calls.begin(answering({ action: "decline" }));
    ended.onTask("T1");
    ended.onRequest(7);
  }
  const _meta = { "io.modelcontextprotocol/related-task": { taskId: "T1" } };
  assertEquals(await calls.answer({ ...form, _meta }, { signal }), { action: "cancel" });
  calls.relate("q1", 7);
  assertEquals(await calls.answer(form, { id: "q1", signal }), { action: "cancel" });
  assertEquals(await calls.answer(form, { signal }), { action: "accept" });
});

Deno.test("a question that may be for the Computer's own call or for the office's is cancelled", async () => {
  const calls = new AskingCalls();
  using own = calls.begin(answering({ action: "accept", content: { from: "own" } }), { isLocal: true });
  own.onTask("T1");
  {
    using _office = calls.begin(answering({ action: "accept", content: { from: "office" } }));
    assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
    const _meta = { "io.modelcontextprotocol/related-task": { taskId: "T1" } };
    const named = await calls.answer({ ...form, _meta }, { signal });
    assertEquals(named, { action: "accept", content: { from: "own" } });
  }
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { from: "own" } });
});

Deno.test("a malformed question is refused, and one whose asking fails is cancelled", async () => {
  const calls = new AskingCalls();
  using _call = calls.begin(() => Promise.reject(new TypeError("no terminal")));
  assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
  await assertRejects(() => calls.answer({}, { signal }), RpcError);
});

Deno.test("a question ends with its call", async () => {
  const calls = new AskingCalls();
  const call = calls.begin((_question, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)))
  );
  const answer = calls.answer(form, { signal });
  call[Symbol.dispose]();
  assertEquals(await answer, { action: "cancel" });
});

Deno.test("a question beyond the most open ones is cancelled at once", async () => {
  const calls = new AskingCalls();
  const { promise, resolve } = Promise.withResolvers<Answer>();
  using _call = calls.begin(() => promise);
  const open = Array.from({ length: MAX_OPEN_QUESTIONS }, () => calls.answer(form, { signal }));
  assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
  resolve({ action: "decline" });
  assertEquals(await Promise.all(open), open.map(() => ({ action: "decline" })));
  assertEquals(await calls.answer(form, { signal }), { action: "decline" });
});
