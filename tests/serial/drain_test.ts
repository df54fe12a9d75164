import { assert, assertEquals } from "@std/assert";
import { silentLogger } from "../../src/log.ts";
import { Drain } from "../../src/server/drain.ts";
import { openConnection, openConnectionContext } from "../unit/server/relay/_connection.ts";

const request = {
  event: "client:tool_call",
  reqId: "1",
  agent: "ada",
  computer: "busy",
  officeId: "lab",
  isObserving: false,
  timeoutMs: 60_000,
};

Deno.test("a drain ends before its time is over, also when nothing closes, so that there is time to close the rest", async () => {
  const shared = openConnectionContext();
  const busy = openConnection("busy", shared);
  busy.ask(request, { body: {}, sides: [busy.sent], onSettled() {} });
  const timeoutMs = 800;
  let terminated = 0;
  const startMs = performance.now();
  await new Drain().run({
    connections: new Map([[busy.sid, busy]]),
    engine: { size: 1, terminate: () => void terminated++ },
    timeoutMs,
    logger: silentLogger,
  });
  const tookMs = performance.now() - startMs;
  shared.timeouts.clear();
  assertEquals(terminated, 1);
  assert(tookMs >= timeoutMs / 2 && tookMs < timeoutMs, `${tookMs} ms`);
});

Deno.test("a drain does not wait for a join, which may wait for Redis", async () => {
  const shared = openConnectionContext();
  const joining = openConnection("joining", shared);
  joining.openRequests = 1;
  const connections = new Map([[joining.sid, joining]]);
  joining.drop = () => void connections.delete(joining.sid);
  const startMs = performance.now();
  await new Drain().run({
    connections,
    engine: { size: 0, terminate() {} },
    timeoutMs: 10_000,
    logger: silentLogger,
  });
  assert(performance.now() - startMs < 5_000);
});
