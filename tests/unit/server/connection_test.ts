import { assertEquals } from "@std/assert";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { silentLogger } from "../../../src/log.ts";
import { createEventLogs } from "../../../src/server/bounded_log.ts";
import { Connection, type Wire } from "../../../src/server/connection.ts";
import { OfficeLoads } from "../../../src/server/load.ts";
import { TimingWheel } from "../../../src/server/timing_wheel.ts";

/** A wire whose peer never answers. */
function silentWire(sid: string): Wire {
  return {
    sid,
    emit() {},
    ask: () => ({ ackId: 1, bytes: 10 }),
    answer() {},
    forgetAck() {},
    enterRoom() {},
    leaveRoom() {},
    close() {},
  };
}

function openPair() {
  const timeouts = new TimingWheel();
  const shared = {
    timeouts,
    officeLoads: new OfficeLoads(),
    observerLoads: new OfficeLoads(),
    createEventLog: createEventLogs(silentLogger),
    logger: silentLogger,
  };
  const identity = { principal: "anonymous", session: undefined, version: undefined, isObserver: false };
  const [asker, computer] = ["a", "c"].map((sid) =>
    new Connection(silentWire(sid), { identity, permit: {}, shared })
  );
  return { asker, computer, [Symbol.dispose]: () => timeouts.clear() };
}

/** Sends a request, and gives a weak reference to its body. */
function ask({ asker, computer }: ReturnType<typeof openPair>): WeakRef<object> {
  const body = { params: new Array(1_000).fill("x") };
  const question = {
    event: "client:tool_call",
    reqId: "1",
    agent: "ada",
    computer: "laptop",
    officeId: "lab",
    isObserving: false,
    timeoutMs: 60_000,
  };
  if (asker !== undefined) computer?.ask(question, { body, asker, onSettled() {} });
  assertEquals(computer?.owed.requests, 1);
  return new WeakRef(body);
}

Deno.test("a connection does not keep the body of a request that waits for its answer", async () => {
  using pair = openPair();
  const body = ask(pair);
  setFlagsFromString("--expose-gc");
  // A weak reference lives at least as long as the turn of the event loop that made it.
  await new Promise((resolve) => setTimeout(resolve, 0));
  runInNewContext("gc")();
  assertEquals(body.deref(), undefined);
});
