import { assertEquals } from "@std/assert";
import { PermitWatch } from "../../../../src/server/admission/live_credentials.ts";
import { CredentialsEndedError, endOf } from "../../../../src/server/admission/provider.ts";
import { TimingWheel } from "../../../../src/server/timing_wheel.ts";

/** A wheel whose clock stands still until it is told to go on. */
function openWheel() {
  let nowMs = 0;
  let timer: { readonly fire: () => void; readonly atMs: number } | undefined;
  const wheel = new TimingWheel({
    nowMs: () => nowMs,
    startTimer(fire, delayMs) {
      timer = { fire, atMs: nowMs + delayMs };
      return () => timer = undefined;
    },
  });
  const advanceTo = (timeMs: number) => {
    while (timer !== undefined && timer.atMs <= timeMs) {
      const { fire, atMs } = timer;
      nowMs = atMs;
      timer = undefined;
      fire();
    }
    nowMs = timeMs;
  };
  return { wheel, advanceTo };
}

Deno.test("a permit without an end never ends", () => {
  assertEquals(endOf({}), undefined);
  assertEquals(endOf({ signal: new AbortController().signal, expiresAtMs: Date.now() + 60_000 }), undefined);
});

Deno.test("PermitWatch tells once when the signal is aborted, and not after the end of the watch", () => {
  const { wheel } = openWheel();
  const watch = new PermitWatch(wheel);
  const account = new AbortController();
  const ends: string[] = [];
  const permit = { signal: account.signal, expiresAtMs: Date.now() + 60_000 };
  watch.watch(permit, { onEnd: ({ code }) => ends.push(`first ${code}`) });
  watch.watch(permit, { onEnd: ({ code }) => ends.push(`second ${code}`) })();
  watch.watch(permit, { onEnd: ({ code }) => ends.push(`third ${code}`) });
  account.abort(new CredentialsEndedError("closed", { kind: "revoked" }));
  assertEquals(ends, ["first credentials_revoked", "third credentials_revoked"]);
});

Deno.test("PermitWatch tells at once of credentials that have ended already", () => {
  const ends: string[] = [];
  new PermitWatch(openWheel().wheel).watch({ signal: AbortSignal.abort() }, {
    onEnd: ({ code }) => ends.push(code),
  });
  assertEquals(ends, ["credentials_revoked"]);
});

Deno.test("PermitWatch looks at the clock again and again, since it may be set", () => {
  const { wheel, advanceTo } = openWheel();
  const ends: string[] = [];
  const expiry = { expiresAtMs: Date.now() + 10 * 86_400_000 };
  new PermitWatch(wheel).watch(expiry, { onEnd: ({ code }) => ends.push(code) });
  advanceTo(120_000);
  assertEquals(ends, []);
  expiry.expiresAtMs = Date.now() - 1;
  advanceTo(240_000);
  assertEquals(ends, ["credentials_expired"]);
});
