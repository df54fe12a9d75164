import { assertEquals } from "@std/assert";
import { Heartbeat } from "../../../../src/mcp/supervision/heartbeat.ts";

/** A heartbeat whose pings are answered as `answers` says, then with yes. */
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

Deno.test("two pings in a row without an answer mean that the server hangs", async () => {
  const { beat } = heartbeat([false, false]);
  await beat.check();
  assertEquals(await isHung(beat), false);
  await beat.check();
  assertEquals(await beat.hung, "no answer to 2 pings");
});

Deno.test("an answer in between starts the count anew", async () => {
  const { beat } = heartbeat([false, true, false, true]);
  for (let i = 0; i < 4; i++) await beat.check();
  assertEquals(await isHung(beat), false);
});

Deno.test("checks that are asked for at one time are one ping", async () => {
  const { beat, pings } = heartbeat([false, false]);
  await Promise.all([beat.check(), beat.check(), beat.check()]);
  assertEquals([pings(), await isHung(beat)], [1, false]);
});

Deno.test("an idle server is pinged again and again until the signal ends it, a busy one not at all", async () => {
  const abort = new AbortController();
  const idle = heartbeat([]);
  const busy = heartbeat([], () => false);
  const running = [idle.beat.run(abort.signal), busy.beat.run(abort.signal)];
  await idle.enough;
  abort.abort();
  await Promise.all(running);
  assertEquals([busy.pings(), await isHung(idle.beat)], [0, false]);
});
