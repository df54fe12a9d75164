import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { MAX_TIMER_MS } from "../../../src/async/backoff.ts";
import { retryCall } from "../../../src/agent/retried_calls.ts";
import type { CallRetry } from "../../../src/agent/remote_options.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../../../src/link/errors.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { CallToolResult } from "../../../src/protocol/tools.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

const PATIENT = { patienceMs: 60_000 };
const done: CallToolResult = { content: [], isError: false };
const unsent = new ConnectionClosedError("not connected", { isUnsent: true });
const lost = new ConnectionClosedError("lost");

function failed(meta: CallToolResult["meta"]): CallToolResult {
  return { content: [], isError: true, meta };
}

interface Retried {
  readonly result?: CallToolResult;
  readonly error?: unknown;
  readonly attempts: number;
  /** The different ids under which the call was made. */
  readonly ids: number;
}

/** Calls until it has ended, and tells the number of attempts; time passes whenever it waits. */
async function retried(
  outcomes: readonly (CallToolResult | Error)[],
  retry: CallRetry = PATIENT,
): Promise<Retried> {
  using clock = new FakeTimers();
  let attempts = 0;
  const ids = new Set<string>();
  const call = async (reqId: string) => {
    ids.add(reqId);
    const outcome = outcomes[attempts++];
    if (outcome === undefined) throw new RangeError("one attempt too many");
    if (outcome instanceof Error) throw await Promise.resolve(outcome);
    return outcome;
  };
  let ended: { result: CallToolResult } | { error: unknown } | undefined;
  const following = retryCall(call, retry, { reqId: "r1", signal: undefined })
    .then((result) => ended = { result }, (error: unknown) => ended = { error });
  while (ended === undefined) {
    await Promise.resolve();
    if (clock.waiting > 0) clock.advance(retry.patienceMs === Infinity ? MAX_TIMER_MS : 5_000);
  }
  await following;
  return { ...ended, attempts, ids: ids.size };
}

const PASSING: Readonly<Record<string, CallToolResult | Error>> = {
  "a lost connection": unsent,
  "a connection that did not come in time": new RequestTimeoutError("no connection", { isUnsent: true }),
  "a Server that restarts": new SmcpError(503, "restarts"),
  "a limit of the Server": new SmcpError(429, "slower", { details: { retry_after_ms: 7_000 } }),
  "a Computer that is away": new SmcpError(404, "nobody"),
  "an MCP server that starts again": failed({ error_code: 4003, a2c_reason: "not_running" }),
  "a Computer with too many calls": failed({ error_code: 4003, a2c_reason: "busy" }),
};
for (const [name, outcome] of Object.entries(PASSING)) {
  Deno.test(`a call is made again after ${name}`, async () => {
    assertEquals(await retried([outcome, outcome, done]), { result: done, attempts: 3, ids: 1 });
  });
}

const FINAL: Readonly<Record<string, CallToolResult | Error>> = {
  "the Agent has left": new ConnectionClosedError("left", { isUnsent: true, isPermanent: true }),
  "no answer came in time": new RequestTimeoutError("no answer"),
  "a quota leaves nothing to wait for": new SmcpError(429, "no more"),
  "another machine has the name": new SmcpError(404, "replaced", { details: { replaced: true } }),
  "the arguments are wrong": failed({ error_code: 4003, a2c_reason: "arguments" }),
  "the MCP server ended in the call": failed({
    error_code: 4003,
    a2c_reason: "not_running",
    may_have_run: true,
  }),
  "the tool has failed": failed(undefined),
  "a listener has thrown": new TypeError("a defect"),
};
for (const [name, outcome] of Object.entries(FINAL)) {
  Deno.test(`a call is not made again when ${name}`, async () => {
    const { result, error, attempts } = await retried([outcome]);
    assertStrictEquals(result ?? error, outcome);
    assertEquals(attempts, 1);
  });
}

Deno.test("a call that may have run is made again for an idempotent tool alone", async () => {
  assertEquals(await retried([lost, done]), { error: lost, attempts: 1, ids: 1 });
  const idempotent = { ...PATIENT, isIdempotent: true };
  assertEquals(await retried([lost, unsent, done], idempotent), { result: done, attempts: 3, ids: 1 });
  const ended = failed({ error_code: 4003, a2c_reason: "not_running", may_have_run: true });
  assertEquals(await retried([ended, done], idempotent), { result: done, attempts: 2, ids: 2 });
});

Deno.test("an idempotent call that was cancelled since its Agent was away is made again under another id", async () => {
  const idempotent = { ...PATIENT, isIdempotent: true };
  for (const may_have_run of [false, true]) {
    const given = failed({ a2c_cancelled: true, a2c_reason: "caller_gone", may_have_run });
    assertEquals(await retried([lost, given, done], idempotent), { result: done, attempts: 3, ids: 2 });
  }
});

Deno.test("an error after which the tool may have run outweighs what comes after it", async () => {
  const idempotent = { ...PATIENT, isIdempotent: true };
  const refused = failed({ error_code: 4002 });
  const ended = failed({ error_code: 4003, a2c_reason: "not_running", may_have_run: true });
  const removed = new SmcpError(403, "no more");
  assertEquals(await retried([ended, removed], idempotent), { result: ended, attempts: 2, ids: 2 });
  const cancelled = failed({ a2c_cancelled: true, may_have_run: true });
  for (const outcome of [new SmcpError(403, "paused"), refused]) {
    assertEquals(await retried([lost, outcome], idempotent), { error: lost, attempts: 2, ids: 1 });
  }
  assertEquals(await retried([lost, cancelled], idempotent), { result: cancelled, attempts: 2, ids: 1 });
});

Deno.test("no attempt begins after the patience", async () => {
  const late = new SmcpError(429, "slower", { details: { retry_after_ms: 3_600_000 } });
  assertEquals(await retried([late]), { error: late, attempts: 1, ids: 1 });
  assertEquals(await retried([unsent], { patienceMs: 0 }), { error: unsent, attempts: 1, ids: 1 });
  const busy = failed({ error_code: 4003, a2c_reason: "busy" });
  assertEquals(await retried([busy], { patienceMs: 0 }), { result: busy, attempts: 1, ids: 1 });
  const forever = { patienceMs: Infinity };
  assertEquals(await retried([lost], forever), { error: lost, attempts: 1, ids: 1 });
  const tooLong = new SmcpError(429, "slower", { details: { retry_after_ms: 1e12 } });
  assertEquals(await retried([unsent, tooLong, done], forever), { result: done, attempts: 3, ids: 1 });
  const { error, attempts } = await retried([done], { patienceMs: NaN });
  assertEquals([error instanceof RangeError, attempts], [true, 0]);
});

Deno.test("an abort ends the wait for the next attempt with its reason", async () => {
  const controller = new AbortController();
  const call = () => Promise.reject(unsent);
  const calling = retryCall(call, PATIENT, { reqId: "r1", signal: controller.signal });
  const stopped = assertRejects(() => calling, RangeError, "enough");
  queueMicrotask(() => controller.abort(new RangeError("enough")));
  await stopped;
});
