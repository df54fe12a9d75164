/** A heartbeat whose pings are answered as `answers` says, then with yes. */
import { assertEquals, assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { CredentialCheck, Heartbeat, RestartPace } from "../../../../src/mcp/supervision/health.ts";
import { silentLogger } from "../../../../src/log.ts";
import type { ResolvedServerConfig } from "../../../../src/protocol/config.ts";

function heartbeat(answers: boolean[], isIdle = () => true) {
  let pings = 0;
  const enough = Promise.withResolvers<void>();
  const beat = new Heartbeat({
    ping() {
      if (++pings === 5) enough.resolve();
      return Promise.resolve(answers.shift() ?? true);
    },
    isIdle,
    intervalMs: 1,
  });
  return { beat, pings: () => pings, enough: enough.promise };
}

/** Whether the server counts as hung by now. */
async function isHung(beat: Heartbeat): Promise<boolean> {
  return await Promise.race([beat.hung.then(() => true), Promise.resolve().then(() => false)]);
}

Deno.test("a server hangs after two consecutive unanswered pings", async () => {
  const { beat } = heartbeat([false, false]);
  const startMs = performance.now();
  await beat.check();
  assertEquals(await isHung(beat), false);
  await beat.check();
  assertEquals(await beat.hung, "no answer to 2 pings");
  assertLessOrEqual(beat.answeredAtMs, startMs);
});

Deno.test("an answer resets the count of unanswered pings", async () => {
  const { beat } = heartbeat([false, true, false, true]);
  for (let i = 0; i < 4; i++) await beat.check();
  assertEquals(await isHung(beat), false);
});

Deno.test("simultaneous checks share one ping", async () => {
  const { beat, pings } = heartbeat([false, false]);
  await Promise.all([beat.check(), beat.check(), beat.check()]);
  assertEquals([pings(), await isHung(beat)], [1, false]);
});

Deno.test("an idle server is pinged until the signal is aborted, and a busy one is not pinged", async () => {
  const abort = new AbortController();
  const idle = heartbeat([]);
  const busy = heartbeat([], () => false);
  const running = [idle.beat.run(abort.signal), busy.beat.run(abort.signal)];
  await idle.enough;
  abort.abort();
  await Promise.all(running);
  assertEquals([busy.pings(), await isHung(idle.beat)], [0, false]);
});

function configured(token: string): ResolvedServerConfig {
  return {
    name: "s",
    type: "sse",
    disabled: false,
    forbidden_tools: [],
    tool_meta: {},
    server_parameters: {
      url: "http://x",
      headers: { Authorization: token },
      timeout: 5,
      sse_read_timeout: 300,
    },
  };
}

/** A renewal under a clock of the test's. */
function renewal(resolve: () => Promise<ResolvedServerConfig>) {
  const seen = { resolved: 0, renewed: 0, nowMs: 0 };
  const subject = new CredentialCheck(configured("first"), {
    resolve: () => (seen.resolved++, resolve()),
    onRenewed: () => void seen.renewed++,
    now: () => seen.nowMs,
    log: silentLogger,
  });
  return { subject, seen };
}

Deno.test("credentials that changed since the start of the session are reported", async () => {
  const { subject, seen } = renewal(() => Promise.resolve(configured("second")));
  await subject.check();
  assertEquals([seen.resolved, seen.renewed], [1, 1]);
});

Deno.test("the same credentials, and inputs that cannot be resolved, are not reported", async () => {
  for (
    const resolve of [() => Promise.resolve(configured("first")), () => Promise.reject(new TypeError("no"))]
  ) {
    const { subject, seen } = renewal(resolve);
    await subject.check();
    assertEquals([seen.resolved, seen.renewed], [1, 0]);
  }
});

Deno.test("a thousand refusals cause one check in ten seconds", async () => {
  const { subject, seen } = renewal(() => Promise.resolve(configured("first")));
  for (let i = 0; i < 1_000; i++) await subject.check();
  assertEquals(seen.resolved, 1);
  seen.nowMs = 10_000;
  await subject.check();
  assertEquals(seen.resolved, 2);
});

Deno.test("after a minute of running, the waits between starts begin anew", () => {
  const pace = new RestartPace({ restartDelayMs: 1_000 });
  const waitAfter = (ranMs: number) => pace.waitAfter({ ranMs, isLost: false });
  for (let start = 0; start < 8; start++) waitAfter(0);
  assertGreaterOrEqual(waitAfter(59_000), 30_000);
  assertLessOrEqual(waitAfter(61_000), 1_000);
});
