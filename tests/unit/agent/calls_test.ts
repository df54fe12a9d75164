import { assertEquals, assertRejects } from "@std/assert";
import { ProgressReaders } from "../../../src/agent/calls.ts";
import { ComputerFacts } from "../../../src/agent/computer_facts.ts";
import { Listeners } from "../../../src/agent/listeners.ts";
import type { Requests } from "../../../src/agent/requests.ts";
import { silentLogger } from "../../../src/log.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { CallProgress } from "../../../src/protocol/progress.ts";

/** A Computer whose answers a test gives one by one. */
function setUp() {
  const listeners = new Listeners(silentLogger);
  const facts = new ComputerFacts(listeners);
  const calls = new ProgressReaders(listeners, { facts, logger: silentLogger });
  const asked: PromiseWithResolvers<unknown>[] = [];
  const requests: Pick<Requests, "computer" | "ask"> = {
    computer: "laptop",
    ask: async (_event, _body, { parse }) => {
      const answer = Promise.withResolvers<unknown>();
      asked.push(answer);
      return parse(await answer.promise);
    },
  };
  const got: CallProgress[] = [];
  const call = { reqId: "c1", onProgress: (progress: CallProgress) => void got.push(progress) };
  const update = (progress: number, hasMessage = false) =>
    calls.onUpdate({ type: "updateProgress", computer: "laptop", reqId: "c1", progress, hasMessage });
  return { listeners, calls, asked, requests, got, call, update };
}

/** Lets what waits for promises run. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

// proves: ext-progress-follow
Deno.test("an answer that is newer than later updates is not followed by older numbers", async () => {
  const { calls, asked, requests, got, call, update } = setUp();
  using _followed = await calls.follow(requests, call);
  asked[0]?.resolve({});
  await settle();
  update(1, true);
  await settle();
  update(2, true);
  update(3);
  asked[1]?.resolve({ progress: { progress: 4, message: "far" } });
  await settle();
  update(4, true);
  asked[2]?.resolve({ progress: { progress: 4, message: "far" } });
  await settle();
  assertEquals(got, [{ progress: 3 }, { progress: 4, message: "far" }]);
  assertEquals(asked.length, 4);
  asked[3]?.reject(new TypeError("lost"));
});

// proves: ext-progress-last
Deno.test("numbers are reported where the text cannot be read or comes too late, and nothing after the end", async () => {
  const { calls, asked, requests, got, call, update } = setUp();
  const followed = await calls.follow(requests, call);
  update(1, true);
  asked[1]?.reject(new TypeError("lost"));
  await settle();
  update(2, true);
  followed[Symbol.dispose]();
  asked[2]?.resolve({ progress: { progress: 2, message: "late" } });
  asked[0]?.resolve({ progress: { progress: 9 } });
  await settle();
  update(3);
  assertEquals(got, [{ progress: 1 }, { progress: 2 }]);
});

Deno.test("the end of a call repeats no progress whose text has been read", async () => {
  const { calls, asked, requests, got, call, update } = setUp();
  const followed = await calls.follow(requests, call);
  update(1, true);
  asked[1]?.resolve({ progress: { progress: 2, message: "newer" } });
  await settle();
  update(2, true);
  followed[Symbol.dispose]();
  assertEquals(got, [{ progress: 2, message: "newer" }]);
});

Deno.test("nobody is asked when nobody wants to know, and everybody while an event has a listener", async () => {
  const { listeners, calls, asked, requests } = setUp();
  (await calls.follow(requests, { reqId: "c1" }))[Symbol.dispose]();
  assertEquals(asked.length, 0);
  using _news = listeners.on("updateProgress", () => {});
  (await calls.follow(requests, { reqId: "c2", timeoutMs: 7_000 }))[Symbol.dispose]();
  assertEquals(asked.length, 1);
  asked[0]?.resolve({});
});

// proves: ext-progress-unknown
Deno.test("a refusal keeps the short time-out, and an abort ends the wait", async () => {
  const { calls, asked, requests } = setUp();
  const abort = new AbortController();
  const times = { timeoutMs: 7_000, resetTimeoutOnProgress: true, maxTimeoutMs: 60_000 };
  const waiting = calls.follow(requests, { reqId: "c1", signal: abort.signal, ...times });
  abort.abort(new TypeError("enough"));
  asked[0]?.reject(abort.signal.reason);
  await assertRejects(() => waiting, TypeError, "enough");
  const refused = calls.follow(requests, { reqId: "c2", ...times });
  asked[1]?.reject(new SmcpError(400, "no", { details: { field: "event" } }));
  assertEquals((await refused).timeoutMs, 7_000);
  // It is not asked again.
  assertEquals((await calls.follow(requests, { reqId: "c3", ...times })).timeoutMs, 7_000);
  assertEquals(asked.length, 2);
});

// proves: ext-progress-restart
Deno.test("a Computer that follows the call gets the time in all", async () => {
  const { calls, asked, requests } = setUp();
  const times = { timeoutMs: 7_000, resetTimeoutOnProgress: true, maxTimeoutMs: 60_000 };
  const followed = calls.follow(requests, { reqId: "c1", ...times });
  asked[0]?.resolve({});
  using served = await followed;
  assertEquals(served.timeoutMs, 60_000);
  // It is waited for no more.
  assertEquals((await calls.follow(requests, { reqId: "c2", ...times })).timeoutMs, 60_000);
  asked[1]?.resolve({});
});
