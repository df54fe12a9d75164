import { assertEquals, assertRejects } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import type { Ask } from "../../../src/mcp/call_options.ts";
import { ServerAnswerError, ServerNotRunningError, ServerTimeoutError } from "../../../src/mcp/errors.ts";
import { MAX_INPUT_ROUNDS, MAX_ROUND_QUESTIONS, requestInRounds } from "../../../src/mcp/input_rounds.ts";
import { SessionCalls } from "../../../src/mcp/session_calls.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import type { Result } from "../../../src/mcp/rpc_peer.ts";

const { signal } = new AbortController();
const params = { name: "order", arguments: { cups: 2 } };

function question(message: string): unknown {
  return { method: "elicitation/create", params: { message, requestedSchema: { type: "object" } } };
}

/** Sends a call to a server that gives these results in turn; returns what it was sent and how it ended. */
async function play(
  results: readonly Result[],
  { ask, method = "tools/call", timeoutMs = 600_000 }: {
    readonly ask?: Ask;
    readonly method?: string;
    readonly timeoutMs?: number;
  } = {},
): Promise<{ sent: Result[]; result: Result }> {
  const sent: Result[] = [];
  const send = (params: Result) => {
    sent.push(params);
    return Promise.resolve(results[Math.min(sent.length, results.length) - 1] ?? {});
  };
  const result = await requestInRounds({
    method,
    params,
    send,
    timeoutMs,
    calls: new SessionCalls(new WarnOnce(silentLogger)),
    ask,
    signals: [signal],
  });
  return { sent, result };
}

Deno.test("a complete result is passed on without its type, and one without a type counts as complete", async () => {
  assertEquals((await play([{ resultType: "complete", content: [] }])).result, { content: [] });
  assertEquals((await play([{ content: [] }])).result, { content: [] });
});

Deno.test("the time of a request is that of all its rounds together", async () => {
  const waiting = { resultType: "input_required", requestState: "wait" };
  await assertRejects(
    () => play([waiting], { method: "resources/read", timeoutMs: 10 }),
    ServerTimeoutError,
    "resources/read",
  );
});

Deno.test("a request is repeated with the answers, and with the state as it came", async () => {
  const state = 'opaque: {"a": 1}  \u0000é';
  const asked: string[] = [];
  const ask: Ask = ({ message }) => {
    asked.push(message);
    return Promise.resolve({ action: "accept", content: { message } });
  };
  const { sent, result } = await play([
    {
      resultType: "input_required",
      requestState: state,
      inputRequests: { one: question("1?"), two: question("2?") },
    },
    { resultType: "input_required", inputRequests: { three: question("3?") } },
    { resultType: "complete", content: ["done"] },
  ], { ask });
  assertEquals(asked, ["1?", "2?", "3?"]);
  const accept = (message: string) => ({ action: "accept", content: { message } });
  assertEquals(sent, [
    params,
    { ...params, inputResponses: { one: accept("1?"), two: accept("2?") }, requestState: state },
    { ...params, inputResponses: { three: accept("3?") } },
  ]);
  assertEquals(result, { content: ["done"] });
});

Deno.test("a request without questions is repeated with the state alone", async () => {
  const { sent } = await play([
    { resultType: "input_required", requestState: "later" },
    { resultType: "complete" },
  ]);
  assertEquals(sent, [params, { ...params, requestState: "later" }]);
});

Deno.test("questions are declined without somebody to ask", async () => {
  const { sent } = await play([
    { resultType: "input_required", inputRequests: { one: question("1?") } },
    { resultType: "complete" },
  ]);
  assertEquals(sent[1]?.["inputResponses"], { one: { action: "decline" } });
});

Deno.test("a server that asks without end is given up after a number of rounds", async () => {
  const endless = { resultType: "input_required", inputRequests: { one: question("again?") } };
  let rounds = 0;
  const ask: Ask = () => {
    rounds++;
    return Promise.resolve({ action: "decline" });
  };
  await assertRejects(() => play([endless], { ask }), ServerAnswerError, "times");
  assertEquals(rounds, MAX_INPUT_ROUNDS + 1);
});

Deno.test("a state of any length is not sent back: the request ends with the reason", async () => {
  const results = [{ resultType: "input_required", requestState: "x".repeat(1024 ** 2 + 1) }, {
    content: [],
  }];
  await assertRejects(() => play(results), ServerAnswerError, "state");
});

Deno.test("sampling, roots and malformed questions end the request with the reason", async () => {
  for (const method of ["sampling/createMessage", "roots/list"]) {
    const results = [{ resultType: "input_required", inputRequests: { one: { method, params: {} } } }];
    await assertRejects(() => play(results), ServerAnswerError, method);
  }
  const odd = [{ resultType: "input_required", inputRequests: { one: { method: "elicitation/create" } } }];
  await assertRejects(() => play(odd), ServerAnswerError, "malformed");
  const many = Object.fromEntries(
    Array.from({ length: MAX_ROUND_QUESTIONS + 1 }, (_, key) => [key, question("?")]),
  );
  await assertRejects(
    () => play([{ resultType: "input_required", inputRequests: many }]),
    ServerAnswerError,
    "at once",
  );
});

Deno.test("nobody is asked beside what ends the request", async () => {
  let asked = 0;
  const ask: Ask = () => {
    asked++;
    return Promise.resolve({ action: "accept" });
  };
  const sampling = { method: "sampling/createMessage", params: {} };
  const results = [{ resultType: "input_required", inputRequests: { one: question("1?"), two: sampling } }];
  await assertRejects(() => play(results, { ask }), ServerAnswerError, "sampling");
  assertEquals(asked, 0);
});

Deno.test("a result of another type, without anything asked, or to a request that may not be asked about cannot be read", async () => {
  await assertRejects(() => play([{ resultType: "task" }]), ServerNotRunningError);
  await assertRejects(() => play([{ resultType: "input_required" }]), ServerNotRunningError);
  const asking = { resultType: "input_required", inputRequests: { one: question("?") } };
  await assertRejects(() => play([asking], { method: "tools/list" }), ServerNotRunningError);
});
