import { assert, assertEquals, assertRejects } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import { Drain, type DrainOptions } from "../../../src/server/drain.ts";
import type { Connection } from "../../../src/server/relay/connection.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { LogBook } from "../../fixtures/log_book.ts";
import { openConnection, openConnectionContext } from "./relay/_connection.ts";

const request = {
  event: "client:tool_call",
  reqId: "1",
  agent: "ada",
  computer: "busy",
  officeId: "lab",
  isObserving: false,
  timeoutMs: 60_000,
};

/** Drains under a clock of the test's; resolves to the milliseconds that it took. */
async function timeOf(options: Omit<DrainOptions, "logger">): Promise<number> {
  using timers = new FakeTimers();
  let tookMs: number | undefined;
  const startMs = performance.now();
  new Drain().run({ ...options, logger: silentLogger }).then(() => tookMs = performance.now() - startMs);
  for (let passedMs = 0; passedMs < options.timeoutMs; passedMs += 10) {
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    timers.advance(10);
  }
  assert(tookMs !== undefined, "the drain goes on");
  return tookMs;
}

Deno.test("the log tells the time of a drain in whole milliseconds", async () => {
  const logger = new LogBook();
  const engine = { size: 0, terminate: () => {} };
  await new Drain().run({ connections: new Map(), engine, timeoutMs: 3999.68, logger });
  assertEquals(logger.lines[0]?.fields["timeout_ms"], 4_000);
});

Deno.test("a drain ends before its time is over, also when nothing closes, so that there is time to close the rest", async () => {
  const shared = openConnectionContext();
  const busy = openConnection("busy", shared);
  busy.ask(request, { body: {}, sides: [busy.sent], onSettled() {} });
  let terminated = 0;
  const tookMs = await timeOf({
    connections: new Map([[busy.sid, busy]]),
    engine: { size: 1, terminate: () => void terminated++ },
    timeoutMs: 800,
  });
  shared.timeouts.clear();
  assertEquals(terminated, 1);
  assert(tookMs >= 400, `${tookMs} ms`);
});

Deno.test("a drain does not wait for a join, which may wait for Redis", async () => {
  const shared = openConnectionContext();
  const joining = openConnection("joining", shared);
  joining.openRequests = 1;
  const connections = new Map([[joining.sid, joining]]);
  joining.drop = () => void connections.delete(joining.sid);
  const tookMs = await timeOf({ connections, engine: { size: 0, terminate() {} }, timeoutMs: 10_000 });
  assert(tookMs < 5_000, `${tookMs} ms`);
});

Deno.test("a drain gives the work around a Server its whole time, and ends what is left then", async () => {
  let [began, endedAtMs, startMs] = [0, 0, 0];
  const around = {
    begin() {
      began++;
      startMs = performance.now();
    },
    isIdle: false,
    end() {
      endedAtMs = performance.now() - startMs;
      return Promise.resolve();
    },
  };
  const engine = { size: 0, terminate() {} };
  await timeOf({ connections: new Map(), engine, timeoutMs: 20_000, around });
  assertEquals(began, 1);
  assert(endedAtMs >= 19_000, `${endedAtMs} ms`);
});

Deno.test("a drain gives answers more than a quarter of the closing, and ends all also where the work fails", async () => {
  let [forAnswersMs, terminated] = [0, 0];
  const logger = new LogBook();
  const around = {
    begin() {},
    isIdle: true,
    end(timeoutMs: number) {
      forAnswersMs = timeoutMs;
      return Promise.reject(new Error("no such seat"));
    },
  };
  const engine = { size: 0, terminate: () => void terminated++ };
  const drained = new Drain().run({ connections: new Map(), engine, timeoutMs: 60_000, around, logger });
  await assertRejects(() => drained, Error, "no such seat");
  assert(forAnswersMs > 250, `${forAnswersMs} ms`);
  assertEquals([terminated, logger.lines.at(-1)?.message], [1, "drained"]);
});

Deno.test("a drain keeps the Computers that work under way may need again, and closes the others", async () => {
  const shared = openConnectionContext();
  const connections = new Map<string, Connection>();
  const dropped: string[] = [];
  const add = (sid: string, officeId: string, role: "agent" | "computer" = "computer") => {
    const connection = openConnection(sid, shared);
    const member = { sid, officeId, name: sid, role, principal: "anonymous" } as const;
    connection.enter({ ...member, isObserver: false, joinedAt: "" });
    Object.defineProperty(connection, "isInner", { value: sid === "inner" });
    connection.drop = () => {
      dropped.push(sid);
      connections.delete(sid);
      around.isIdle ||= sid === "other";
    };
    connections.set(sid, connection);
  };
  const ended: (readonly string[])[] = [];
  const around = {
    begin() {},
    isIdle: false,
    end() {
      ended.push([...dropped]);
      return Promise.resolve();
    },
  };
  add("used", "lab");
  add("observer", "lab", "agent");
  add("other", "den");
  add("inner", "lab", "agent");
  await timeOf({ connections, engine: { size: 0, terminate() {} }, timeoutMs: 20_000, around });
  assertEquals(dropped, ["observer", "other", "used"]);
  assertEquals([...connections.keys()], ["inner"]);
  assertEquals(ended, [dropped]);
});
