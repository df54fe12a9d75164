import { assertEquals, assertRejects } from "@std/assert";
import { abortable } from "../../../src/async/abortable.ts";
import { Deadline } from "../../../src/async/deadline.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

const never = new Promise<never>(() => {});

Deno.test("a deadline aborts with its reason when the time is over", async () => {
  using deadline = new Deadline(1, { reason: () => new RangeError("over") });
  await assertRejects(() => abortable(never, deadline.signal), RangeError, "over");
});

Deno.test("a deadline aborts with its caller's signal, and with that signal's reason", () => {
  const caller = new AbortController();
  using deadline = new Deadline(60_000, { reason: () => new RangeError("over"), signal: caller.signal });
  caller.abort("enough");
  assertEquals([deadline.signal.aborted, deadline.signal.reason], [true, "enough"]);
  using late = new Deadline(60_000, { reason: () => new RangeError("over"), signal: caller.signal });
  assertEquals(late.signal.reason, "enough");
});

Deno.test("a deadline that is disposed of aborts no more", () => {
  const caller = new AbortController();
  const deadline = new Deadline(60_000, { reason: () => new RangeError("over"), signal: caller.signal });
  deadline[Symbol.dispose]();
  caller.abort("enough");
  assertEquals(deadline.signal.aborted, false);
});

Deno.test("a deadline may be later than one timer can wait", () => {
  using clock = new FakeTimers();
  const days = 86_400_000;
  using deadline = new Deadline(60 * days, { reason: () => new RangeError("over") });
  clock.advance(60 * days - 1);
  assertEquals(deadline.signal.aborted, false);
  clock.advance(1);
  assertEquals([deadline.signal.aborted, clock.waiting], [true, 0]);
});
