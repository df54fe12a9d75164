import { assertEquals, assertRejects } from "@std/assert";
import type { Ask, Progress } from "../../../src/mcp/call_options.ts";
import type { Answer } from "../../../src/protocol/questions.ts";
import { RpcError } from "../../../src/protocol/mcp.ts";
import {
  MAX_OPEN_QUESTIONS,
  readProgress,
  readQuestion,
  SessionCalls,
} from "../../../src/mcp/session_calls.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { LogBook } from "../../fixtures/log_book.ts";

function newCalls(): SessionCalls {
  return new SessionCalls(new WarnOnce(new LogBook()));
}

// proves: ext-progress-late
Deno.test("progress goes to the call of its token, and to none when that has ended", () => {
  using _timers = new FakeTimers();
  const log = new LogBook();
  const calls = new SessionCalls(new WarnOnce(log));
  const got: Progress[][] = [[], []];
  const [first, second] = got.map((all) =>
    calls.begin({ onProgress: (progress) => void all.push(progress) })
  );
  calls.onProgress({ progressToken: first?.token, progress: 1 });
  calls.onProgress({ progressToken: String(second?.token), progress: 2 });
  first?.[Symbol.dispose]();
  calls.onProgress({ progressToken: first?.token, progress: 3 });
  for (const params of [undefined, "x", {}, { progress: 4 }]) calls.onProgress(params);
  for (const progressToken of [null, [second?.token], { toString: 0 }, "", "x".repeat(1_000)]) {
    calls.onProgress({ progressToken, progress: 4 });
  }
  assertEquals(got, [[{ progress: 1 }], [{ progress: 2 }]]);
  assertEquals(log.lines, []);
});

Deno.test("of progress in quick succession the last one counts, and the others are not read", () => {
  using timers = new FakeTimers();
  const log = new LogBook();
  const calls = new SessionCalls(new WarnOnce(log));
  const got: Progress[] = [];
  using call = calls.begin({ onProgress: (progress) => void got.push(progress) });
  calls.onProgress({ progressToken: call.token, progress: 1 });
  for (let index = 0; index < 1_000; index++) calls.onProgress({ progressToken: call.token, progress: "x" });
  calls.onProgress({ progressToken: call.token, progress: 2 });
  timers.advance(100);
  assertEquals([got, log.lines], [[{ progress: 1 }, { progress: 2 }], []]);
});

Deno.test("what was reported right before the result is passed on", () => {
  using timers = new FakeTimers();
  const calls = newCalls();
  const got: Progress[] = [];
  {
    using call = calls.begin({ onProgress: (progress) => void got.push(progress) });
    for (const progress of [1, 2, 3]) calls.onProgress({ progressToken: call.token, progress });
  }
  assertEquals([got, timers.waiting], [[{ progress: 1 }, { progress: 3 }], 0]);
});

Deno.test("texts of elsewhere count as progress until the server reports its own", () => {
  using timers = new FakeTimers();
  const calls = newCalls();
  const got: Progress[] = [];
  using call = calls.begin({ onProgress: (progress) => void got.push(progress) });
  for (const text of ["one", "one", "two"]) {
    call.note(text);
    timers.advance(100);
  }
  calls.onProgress({ progressToken: call.token, progress: 0.5 });
  call.note("three");
  timers.advance(100);
  assertEquals(got, [{ progress: 1, message: "one" }, { progress: 2, message: "two" }, { progress: 0.5 }]);
});

// proves: ext-progress-shape
Deno.test("readProgress() leaves out a total that cannot be one, and refuses other wrong shapes", () => {
  assertEquals(readProgress({ progress: 1, total: 0, message: "" }), { progress: 1 });
  assertEquals(readProgress({ progress: 1, total: null, message: null }), { progress: 1 });
  assertEquals(readProgress({ progress: 0.5, total: 2, message: "half", _meta: {} }), {
    progress: 0.5,
    total: 2,
    message: "half",
  });
  for (
    const wrong of [undefined, [], {}, { progress: "1" }, { progress: NaN }, { progress: 1, total: "2" }]
  ) {
    assertEquals(readProgress(wrong), undefined);
  }
  assertEquals(readProgress({ progress: 1, message: {} }), undefined);
});

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
  const calls = newCalls();
  assertEquals(await calls.answer(form, { signal }), { action: "decline" });
  {
    using _call = calls.begin();
    assertEquals(await calls.answer(form, { signal }), { action: "decline" });
  }
  using _call = calls.begin({ ask: answering({ action: "accept", content: { name: "Ada" } }) });
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { name: "Ada" } });
});

Deno.test("of several running calls, the latest that can ask gets the question", async () => {
  const calls = newCalls();
  using _first = calls.begin({ ask: answering({ action: "accept", content: { from: "first" } }) });
  using _second = calls.begin({ ask: answering({ action: "accept", content: { from: "second" } }) });
  using _third = calls.begin();
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { from: "second" } });
});

Deno.test("a question that came in the stream of a call's answer goes to that call", async () => {
  const calls = newCalls();
  using first = calls.begin({ ask: answering({ action: "accept", content: { from: "first" } }) });
  using second = calls.begin({ ask: answering({ action: "accept", content: { from: "second" } }) });
  first.onRequest(7);
  second.onRequest(8);
  calls.relate("q1", 7);
  const accepted = { action: "accept", content: { from: "first" } };
  assertEquals(await calls.answer(form, { id: "q1", signal }), accepted);
  assertEquals(await calls.answer(form, { id: "q2", signal }), { ...accepted, content: { from: "second" } });
});

Deno.test("a question that names the task, or came in the stream, of an ended call goes to no other call", async () => {
  const calls = newCalls();
  using _other = calls.begin({ ask: answering({ action: "accept" }) });
  {
    using ended = calls.begin({ ask: answering({ action: "decline" }) });
    ended.task = "T1";
    ended.onRequest(7);
  }
  const _meta = { "io.modelcontextprotocol/related-task": { taskId: "T1" } };
  assertEquals(await calls.answer({ ...form, _meta }, { signal }), { action: "cancel" });
  calls.relate("q1", 7);
  assertEquals(await calls.answer(form, { id: "q1", signal }), { action: "cancel" });
  assertEquals(await calls.answer(form, { signal }), { action: "accept" });
});

Deno.test("a question that may be for the Computer's own call or for the office's is cancelled", async () => {
  const calls = newCalls();
  using own = calls.begin({ ask: answering({ action: "accept", content: { from: "own" } }), isLocal: true });
  own.task = "T1";
  {
    using _office = calls.begin({ ask: answering({ action: "accept", content: { from: "office" } }) });
    assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
    const _meta = { "io.modelcontextprotocol/related-task": { taskId: "T1" } };
    const named = await calls.answer({ ...form, _meta }, { signal });
    assertEquals(named, { action: "accept", content: { from: "own" } });
  }
  assertEquals(await calls.answer(form, { signal }), { action: "accept", content: { from: "own" } });
});

Deno.test("a malformed question is refused, and one whose asking fails is cancelled", async () => {
  const calls = newCalls();
  using _call = calls.begin({ ask: () => Promise.reject(new TypeError("no terminal")) });
  assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
  await assertRejects(() => calls.answer({}, { signal }), RpcError);
});

Deno.test("a question ends with its call", async () => {
  const calls = newCalls();
  const call = calls.begin({
    ask: (_question, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const answer = calls.answer(form, { signal });
  call[Symbol.dispose]();
  assertEquals(await answer, { action: "cancel" });
});

Deno.test("a question beyond the most open ones is cancelled at once", async () => {
  const calls = newCalls();
  const { promise, resolve } = Promise.withResolvers<Answer>();
  using _call = calls.begin({ ask: () => promise });
  const open = Array.from({ length: MAX_OPEN_QUESTIONS }, () => calls.answer(form, { signal }));
  assertEquals(await calls.answer(form, { signal }), { action: "cancel" });
  resolve({ action: "decline" });
  assertEquals(await Promise.all(open), open.map(() => ({ action: "decline" })));
  assertEquals(await calls.answer(form, { signal }), { action: "decline" });
});
