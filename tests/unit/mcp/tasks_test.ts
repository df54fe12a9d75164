import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import {
  ServerAnswerError,
  ServerNotRunningError,
  ServerTimeoutError,
  TaskError,
} from "../../../src/mcp/errors.ts";
import { SessionCalls } from "../../../src/mcp/session_calls.ts";
import { callAsTask, hasTasks, readTask, type TaskSession } from "../../../src/mcp/tasks.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

const RESULT = { content: [{ type: "text", text: "built" }] };
const CALL = { name: "build", arguments: {} };

/** A server that answers a poll with the next of `states`, and with the last one from then on. */
function setUp(states: readonly Record<string, unknown>[], answers: Record<string, unknown> = {}) {
  const sent: string[] = [];
  const texts: string[] = [];
  const over = new AbortController();
  const waiting = [...states];
  const answerTo = (method: string): unknown => {
    if (method in answers) return answers[method];
    const state = waiting.length > 1 ? waiting.shift() : waiting[0];
    if (method === "tools/call") return { task: { taskId: "t1", status: "working", ...state } };
    return method === "tasks/get" ? { taskId: "t1", ...state } : RESULT;
  };
  const request: TaskSession["request"] = async (method, _params, { signal }) => {
    sent.push(method);
    signal?.throwIfAborted();
    await Promise.resolve();
    const answer = answerTo(method);
    if (answer instanceof Error) throw answer;
    return answer as Record<string, unknown>;
  };
  const calls = new SessionCalls(new WarnOnce(silentLogger));
  const call = async (options: { signal?: AbortSignal; timeoutMs?: number } = {}) => {
    using running = calls.begin({ onProgress: ({ message = "" }) => void texts.push(message) });
    const session = { request, log: silentLogger, over: over.signal };
    return await callAsTask(CALL, { timeoutMs: 60_000, call: running, ...options }, session);
  };
  return { sent, texts, over, calls, call };
}

/** Lets what waits for promises run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** Lets time pass in small steps, so that what waits can go on in between. */
async function pass(timers: FakeTimers, ms: number): Promise<void> {
  await settle();
  for (let step = 0; step < ms; step += 50) {
    timers.advance(50);
    await settle();
  }
}

const polls = (sent: readonly string[]) => sent.filter((method) => method === "tasks/get").length;

// proves: mcp-task-poll
Deno.test("a task is polled until it ends, and then its result is fetched", async () => {
  using timers = new FakeTimers();
  const { sent, texts, call } = setUp([
    { pollInterval: 200, statusMessage: "one" },
    { status: "working", pollInterval: 300, statusMessage: "two" },
    { status: "completed" },
  ]);
  const result = call();
  await pass(timers, 450);
  assertEquals(sent, ["tools/call", "tasks/get"]);
  await pass(timers, 50);
  assertEquals(await result, RESULT);
  assertEquals([sent.slice(2), texts], [["tasks/get", "tasks/result"], ["one", "two"]]);
  assertEquals(timers.waiting, 0);
});

// proves: mcp-task-interval
Deno.test("the interval of a server is honoured between a tenth of a second and ten seconds", async () => {
  using timers = new FakeTimers();
  for (const [pollInterval, expected] of [[0, 100], [-5, 100], [1e12, 1], [NaN, 10], ["1", 10], [2_000, 5]]) {
    const { sent, call } = setUp([{ status: "working", pollInterval }]);
    const result = call();
    await pass(timers, 10_000);
    assertEquals(polls(sent), expected, `${pollInterval}`);
    await pass(timers, 50_000);
    await assertRejects(() => result, ServerTimeoutError);
  }
});

// proves: mcp-task-cancel
Deno.test("a call that is cancelled or late cancels its task", async () => {
  using timers = new FakeTimers();
  const abort = new AbortController();
  const cancelled = setUp([{ status: "working" }]);
  const result = cancelled.call({ signal: abort.signal });
  await settle();
  abort.abort(new TypeError("enough"));
  await assertRejects(() => result, TypeError, "enough");
  assertEquals(cancelled.sent, ["tools/call", "tasks/cancel"]);
  const late = setUp([{ status: "working" }], { "tasks/cancel": new ServerAnswerError(-32602, "no") });
  const never = late.call({ timeoutMs: 50 });
  await pass(timers, 50);
  await assertRejects(() => never, ServerTimeoutError);
  assertEquals([late.sent.at(-1), timers.waiting], ["tasks/cancel", 0]);
});

// proves: mcp-task-cancel
Deno.test("a call whose poll or result is lost on the way cancels its task", async () => {
  using timers = new FakeTimers();
  for (const lost of ["tasks/get", "tasks/result"]) {
    const { sent, call } = setUp([{}, { status: "completed" }], {
      [lost]: new ServerNotRunningError({ reason: "event stream lost" }),
    });
    const result = call();
    await pass(timers, 1_000);
    await assertRejects(() => result, ServerNotRunningError, "lost");
    assertEquals(sent.slice(-2), [lost, "tasks/cancel"]);
  }
});

Deno.test("the end of a session ends its tasks at once, and cancels none", async () => {
  using timers = new FakeTimers();
  const { sent, call, over } = setUp([{ status: "working" }]);
  const result = call();
  await settle();
  over.abort(new ServerNotRunningError({ reason: "exited" }));
  await assertRejects(() => result, ServerNotRunningError, "exited");
  assertEquals([sent, timers.waiting], [["tools/call"], 0]);
});

// proves: mcp-task-questions
Deno.test("the result of a task with questions is waited for, since they come with it", async () => {
  using _timers = new FakeTimers();
  const { sent, call } = setUp([{ status: "input_required" }]);
  assertEquals(await call(), RESULT);
  assertEquals(sent, ["tools/call", "tasks/result"]);
});

// proves: mcp-task-failures
Deno.test("a task that is cancelled, lost or none fails the call", async () => {
  using timers = new FakeTimers();
  const cancelled = setUp([{ status: "cancelled", statusMessage: "closing time" }]);
  await assertRejects(cancelled.call, TaskError, "closing time");
  const lost = setUp([{}], { "tasks/get": new ServerAnswerError(-32602, "Task not found") });
  const result = lost.call();
  await pass(timers, 1_000);
  await assertRejects(() => result, ServerAnswerError, "Task not found");
  const gone = setUp([{}], { "tasks/get": { status: "completed" } });
  const unknown = gone.call();
  await pass(timers, 1_000);
  await assertRejects(() => unknown, TaskError, "no state");
  for (
    const task of [undefined, {}, { taskId: 7, status: "working" }, { taskId: "x".repeat(2_000), status: "" }]
  ) {
    const { call } = setUp([], { "tools/call": { task } });
    await assertRejects(() => call(), TaskError, "neither a task nor a result");
  }
  assertEquals(await setUp([], { "tools/call": RESULT }).call(), RESULT);
});

Deno.test("readTask() cuts what a server writes", () => {
  const task = readTask({
    taskId: "t",
    status: "working",
    statusMessage: "x".repeat(20_000),
    pollInterval: 5,
  });
  assertEquals([task?.message?.length, task?.pollMs], [16_385, 100]);
  assertEquals(readTask(null), undefined);
});

// proves: mcp-task-support, mcp-task-2026
Deno.test("a task is begun only where the server offers tasks, and refused for servers of 2026", () => {
  const tasks = { requests: { tools: { call: {} } } };
  assertEquals(hasTasks({ version: "2025-11-25", capabilities: { tasks } }), true);
  for (const capabilities of [{}, { tasks: {} }, { tasks: { requests: { tools: {} } } }]) {
    assertEquals(hasTasks({ version: "2025-11-25", capabilities }), false);
  }
  assertThrows(() => hasTasks({ version: "2026-07-28", capabilities: { tasks } }), TaskError, "2026-07-28");
});
