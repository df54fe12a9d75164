import { assert, assertEquals } from "@std/assert";
import { silentLogger } from "../../src/log.ts";
import { Drain } from "../../src/server/drain.ts";
import { openConnection, openConnectionContext } from "../unit/server/relay/_connection.ts";

Deno.test("a drain ends before its time is over, also when nothing closes, so that there is time to close the rest", async () => {
  const shared = openConnectionContext();
  const busy = openConnection("busy", shared);
  busy.openRequests = 1;
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
