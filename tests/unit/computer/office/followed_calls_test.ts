import { assertEquals } from "@std/assert";
import { FollowedCalls, type ProgressUpdate } from "../../../../src/computer/office/followed_calls.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";

function setUp() {
  const told: ProgressUpdate[] = [];
  return { told, calls: new FollowedCalls((update) => void told.push(update)) };
}

// proves: ext-progress-rate
Deno.test("a call is told of at most twice a second, at once and with its latest value", () => {
  using timers = new FakeTimers();
  const { told, calls } = setUp();
  calls.follow("a");
  calls.onBegun("a");
  for (let progress = 1; progress <= 100; progress++) {
    calls.onProgress("a", { progress, total: 100 });
    timers.advance(10);
  }
  assertEquals(told.map(({ progress }) => progress), [1, 50, 100]);
  calls.onEnded("a");
  calls.onProgress("a", { progress: 101 });
  assertEquals([told.length, timers.waiting], [3, 0]);
});

Deno.test("many calls together are told of at most forty times a second", () => {
  using timers = new FakeTimers();
  const { told, calls } = setUp();
  const ids = Array.from({ length: 100 }, (_, index) => `${index}`);
  for (const id of ids) {
    calls.onBegun(id);
    calls.follow(id);
  }
  for (let round = 1; round <= 100; round++) {
    for (const id of ids) calls.onProgress(id, { progress: round });
    timers.advance(100);
  }
  // The first of each call is told at once.
  assertEquals(told.length, 100 + 10 * 40);
});

// proves: ext-progress-bound
Deno.test("512 calls that have not begun are remembered, and the oldest is forgotten", () => {
  using _timers = new FakeTimers();
  const { told, calls } = setUp();
  calls.onBegun("running");
  calls.follow("running");
  for (let index = 0; index <= 512; index++) calls.follow(`${index}`, 1_000);
  assertEquals(["0", "1", "512"].map((id) => calls.onBegun(id)), [undefined, 1_000, 1_000]);
  for (const id of ["0", "512", "running"]) calls.onProgress(id, { progress: 1, message: "text" });
  assertEquals(told.map(({ req_id, has_message }) => [req_id, has_message]), [["512", true], [
    "running",
    true,
  ]]);
});

// proves: ext-progress-follow
Deno.test("a call that is followed late tells its latest progress, and its next", () => {
  using timers = new FakeTimers();
  const { told, calls } = setUp();
  calls.onBegun("a");
  calls.onProgress("a", { progress: 1, message: "text" });
  assertEquals(calls.follow("a", 5), { progress: 1, message: "text" });
  assertEquals(told, []);
  calls.onProgress("a", { progress: 2 });
  assertEquals(told, [{ req_id: "a", progress: 2 }]);
  calls.onProgress("a", { progress: 3 });
  calls.endAgent();
  calls.onProgress("a", { progress: 4 });
  assertEquals([told.length, timers.waiting], [1, 0]);
});
