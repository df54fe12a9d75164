import { assertEquals, assertInstanceOf } from "@std/assert";
import { CallClock } from "../../../../src/computer/tools/running_call.ts";
import type { Progress } from "../../../../src/mcp/call_options.ts";
import { ServerTimeoutError } from "../../../../src/mcp/errors.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";

// proves: ext-progress-restart
Deno.test("only a value above all before restarts the idle time, and never beyond the time in all", () => {
  using timers = new FakeTimers();
  using clock = new CallClock({ timeoutMs: 1_000, idleMs: 100 }, () => {});
  for (let progress = 1; progress <= 12; progress++) {
    timers.advance(80);
    clock.onProgress({ progress });
  }
  assertEquals(clock.signal.aborted, false);
  timers.advance(40);
  assertInstanceOf(clock.signal.reason, ServerTimeoutError);
  assertEquals(clock.signal.reason.idleMs, undefined);
});

Deno.test("a report that brings a new text and no higher value gives no time", () => {
  using timers = new FakeTimers();
  using clock = new CallClock({ timeoutMs: 1_000, idleMs: 100 }, () => {});
  clock.onProgress({ progress: 1 });
  timers.advance(80);
  clock.onProgress({ progress: 1, message: "still here" });
  timers.advance(20);
  assertInstanceOf(clock.signal.reason, ServerTimeoutError);
  assertEquals(clock.signal.reason.idleMs, 100);
});

// proves: ext-progress-plain
Deno.test("without an idle time, progress gives no time", () => {
  using timers = new FakeTimers();
  using clock = new CallClock({ timeoutMs: 100 }, () => {});
  timers.advance(99);
  clock.onProgress({ progress: 1 });
  timers.advance(1);
  assertEquals(clock.signal.aborted, true);
});

Deno.test("a clock that is disposed of leaves no timer, and one that has ended reports nothing", () => {
  using timers = new FakeTimers();
  const reports: Progress[] = [];
  const clock = new CallClock({ timeoutMs: 1_000, idleMs: 100 }, (progress) => reports.push(progress));
  clock.onProgress({ progress: 2, message: "b" });
  clock.onProgress({ progress: 1, message: "a" });
  clock.abort("enough");
  clock.onProgress({ progress: 3 });
  assertEquals(clock.signal.reason, "enough");
  assertEquals(reports, [{ progress: 2, message: "b" }, { progress: 2, message: "a" }]);
  clock[Symbol.dispose]();
  assertEquals(timers.waiting, 0);
});

// proves: question-clock
Deno.test("a clock that is paused stands still; then it has the rest of its time, or a new one", () => {
  using timers = new FakeTimers();
  using rest = new CallClock({ timeoutMs: 100_000, idleMs: 100 }, () => {});
  using anew = new CallClock({ timeoutMs: 100_000 }, () => {});
  rest.pause();
  anew.pause();
  timers.advance(1_000_000);
  assertEquals([rest.signal.aborted, anew.signal.aborted], [false, false]);
  rest.resume();
  anew.restart(50_000);
  timers.advance(99);
  assertEquals([rest.signal.aborted, anew.signal.aborted], [false, false]);
  timers.advance(1);
  assertEquals(rest.signal.reason.idleMs, 100);
  timers.advance(49_900);
  assertEquals([anew.signal.aborted, anew.limitMs], [true, 50_000]);
});

// proves: question-clock
Deno.test("progress during a pause does not let the idle time run", () => {
  using timers = new FakeTimers();
  using clock = new CallClock({ timeoutMs: 100_000, idleMs: 100 }, () => {});
  clock.pause();
  clock.onProgress({ progress: 1 });
  timers.advance(1_000_000);
  assertEquals(clock.signal.aborted, false);
  clock.resume();
  timers.advance(100);
  assertEquals(clock.signal.reason.idleMs, 100);
});

Deno.test("a clock that has ended does not start again", () => {
  using timers = new FakeTimers();
  const disposed = new CallClock({ timeoutMs: 100 }, () => {});
  disposed[Symbol.dispose]();
  disposed.restart(50);
  using aborted = new CallClock({ timeoutMs: 100 }, () => {});
  aborted.abort("enough");
  aborted.resume();
  assertEquals(timers.waiting, 0);
});
