import { assertEquals, assertInstanceOf } from "@std/assert";
import {
  CallClock,
  type ProgressUpdate,
  RunningCalls,
} from "../../../../src/computer/shared/running_call.ts";
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
  assertEquals(clock.leftMs, 20);
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

function setUp() {
  const told: ProgressUpdate[] = [];
  const calls = new RunningCalls((update) => void told.push(update));
  const begin = (req_id: string) =>
    calls.begin({ agent: "ada", req_id, computer: "laptop", tool_name: "t", params: {} }, {
      isLocal: false,
      mustAsk: false,
      report: () => {},
    });
  return { told, calls, begin };
}

// proves: ext-progress-rate
Deno.test("a call is told of at most twice a second, at once and with its latest value", () => {
  using timers = new FakeTimers();
  const { told, calls, begin } = setUp();
  calls.follow("a");
  const call = begin("a");
  for (let progress = 1; progress <= 100; progress++) {
    calls.onProgress(call, { progress, total: 100 });
    timers.advance(10);
  }
  assertEquals(told.map(({ progress }) => progress), [1, 50, 100]);
  call[Symbol.dispose]();
  calls.onProgress(call, { progress: 101 });
  assertEquals([told.length, timers.waiting], [3, 0]);
});

Deno.test("many calls together are told of at most forty times a second", () => {
  using timers = new FakeTimers();
  const { told, calls, begin } = setUp();
  const ids = Array.from({ length: 100 }, (_, index) => `${index}`);
  using running = new DisposableStack();
  const begun = ids.map((id) => {
    const call = running.use(begin(id));
    calls.follow(id);
    return call;
  });
  for (let round = 1; round <= 100; round++) {
    for (const call of begun) calls.onProgress(call, { progress: round });
    timers.advance(100);
  }
  // The first of each call is told at once.
  assertEquals(told.length, 100 + 10 * 40);
});

// proves: ext-progress-bound
Deno.test("512 calls that have not begun are remembered, and the oldest is forgotten", () => {
  using timers = new FakeTimers();
  const { told, calls, begin } = setUp();
  using running = begin("running");
  calls.follow("running");
  for (let index = 0; index <= 512; index++) calls.follow(`${index}`, 1_000);
  using forgotten = begin("0");
  using first = begin("1");
  using last = begin("512");
  for (const call of [forgotten, last, running]) calls.onProgress(call, { progress: 1, message: "text" });
  assertEquals(told.map(({ req_id, has_message }) => [req_id, has_message]), [["512", true], [
    "running",
    true,
  ]]);
  timers.advance(1_000);
  assertEquals([forgotten, first, last].map(({ clock }) => clock.signal.aborted), [false, true, true]);
});

// proves: ext-progress-follow
Deno.test("a call that is followed late tells its latest progress, and its next", () => {
  using timers = new FakeTimers();
  const { told, calls, begin } = setUp();
  const call = begin("a");
  calls.onProgress(call, { progress: 1, message: "text" });
  assertEquals(calls.follow("a", 5), { progress: 1, message: "text" });
  assertEquals(told, []);
  calls.onProgress(call, { progress: 2 });
  assertEquals(told, [{ req_id: "a", progress: 2 }]);
  calls.onProgress(call, { progress: 3 });
  calls.endAgent();
  calls.onProgress(call, { progress: 4 });
  call[Symbol.dispose]();
  assertEquals([told.length, timers.waiting], [1, 0]);
});
