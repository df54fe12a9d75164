import { assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { openConnection } from "../../../src/link/connect.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { ClosedPort } from "../../fixtures/tcp_proxy.ts";

Deno.test("an attempt that is ended between a failure and its report leaves no timer", async () => {
  await using port = await ClosedPort.open();
  using timers = new FakeTimers();
  const ending = new AbortController();
  const context = { onEvent: () => {}, signal: ending.signal, timeoutMs: 60_000 };
  const connecting = openConnection({ url: port.url }, context);
  const begun = timers.waiting;
  // The clock of `within()` stands still.
  for (let turn = 0; timers.waiting === begun && turn < 100_000; turn++) await setImmediate();
  assertEquals(timers.waiting, begun + 1);
  ending.abort();
  await assertRejects(() => connecting, DOMException);
  assertEquals(timers.waiting, 0);
});
