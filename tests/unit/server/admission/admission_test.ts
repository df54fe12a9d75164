import { assertEquals } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import type { Farewell } from "../../../../src/protocol/farewell.ts";
import { LiveCredentials } from "../../../../src/server/admission/admission.ts";
import { anonymous, CredentialsEndedError, endOf } from "../../../../src/server/admission/provider.ts";
import { openAudit } from "../../../../src/server/observe/logs.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";
import { ManualClock } from "../../async/_manual_clock.ts";

Deno.test("a permit without an end never ends", () => {
  assertEquals(endOf({}), undefined);
  assertEquals(endOf({ signal: new AbortController().signal, expiresAtMs: Date.now() + 60_000 }), undefined);
});

/** The credentials of a connection that notes what it is told, and how they end. */
function openCredentials(timeouts: Timeouts, ends: string[], who = "it"): LiveCredentials {
  const holder = {
    sid: who,
    identity: { principal: who, session: undefined, version: undefined, isObserver: false },
    member: undefined,
    isEnded: false,
    deferred: undefined,
    grant: undefined,
    tell: (event: string) => void ends.push(`${who} ${event}`),
    dismiss: ({ code }: Farewell) => void ends.push(`${who} ${code}`),
  };
  const context = {
    timeouts,
    auth: anonymous,
    authTimeoutMs: 1_000,
    audit: openAudit(silentLogger),
  };
  return new LiveCredentials(holder, { address: "127.0.0.1", context });
}

Deno.test("credentials end once when their signal is aborted, and not after the end of the connection", () => {
  const timeouts = new Timeouts(new ManualClock());
  const account = new AbortController();
  const ends: string[] = [];
  const permit = { signal: account.signal, expiresAtMs: Date.now() + 60_000 };
  const [first, second, third] = ["first", "second", "third"].map((who) =>
    openCredentials(timeouts, ends, who)
  );
  for (const credentials of [first, second, third]) credentials?.watch(permit);
  second?.close();
  account.abort(new CredentialsEndedError("closed", { kind: "revoked" }));
  assertEquals(ends, ["first credentials_revoked", "third credentials_revoked"]);
});

Deno.test("a connection ends at once when its credentials have ended already", () => {
  const ends: string[] = [];
  openCredentials(new Timeouts(new ManualClock()), ends).watch({ signal: AbortSignal.abort() });
  assertEquals(ends, ["it credentials_revoked"]);
});

Deno.test("newer credentials take the place of those before", () => {
  const ends: string[] = [];
  const account = new AbortController();
  const credentials = openCredentials(new Timeouts(new ManualClock()), ends);
  credentials.watch({ signal: account.signal });
  credentials.watch({ expiresAtMs: Date.now() + 60_000 });
  account.abort();
  assertEquals(ends, []);
});

Deno.test("the time of expiry is compared with the clock again and again, since it may be set", () => {
  const clock = new ManualClock();
  const ends: string[] = [];
  const expiry = { expiresAtMs: Date.now() + 10 * 86_400_000 };
  openCredentials(new Timeouts(clock), ends).watch(expiry);
  clock.advance(120_000);
  assertEquals(ends, []);
  expiry.expiresAtMs = Date.now() - 1;
  clock.advance(120_000);
  assertEquals(ends, ["it credentials_expired"]);
});

Deno.test("a member is told that its credentials expire a minute before, and at half of what is left then, and again", () => {
  const clock = new ManualClock();
  const told: string[] = [];
  const expiry = { expiresAtMs: 0 };
  const leave = (ms: number) => expiry.expiresAtMs = Date.now() + ms;
  leave(600_000);
  openCredentials(new Timeouts(clock), told).watch(expiry);
  const counts = [70_000, 59_000, 40_000, 29_000, 20_000, 14_000].map((ms) => {
    leave(ms);
    clock.advance(600_000);
    return told.length;
  });
  assertEquals(counts, [0, 1, 1, 2, 2, 3]);
  assertEquals(new Set(told), new Set(["it notify:credentials_expiring"]));
});
