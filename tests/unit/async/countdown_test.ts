import { assertEquals } from "@std/assert";
import { Countdown } from "../../../src/async/countdown.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";

Deno.test("a countdown runs its function once, when its time is over", () => {
  using timers = new FakeTimers();
  let ends = 0;
  using _countdown = new Countdown(100, () => ends++);
  timers.advance(99);
  assertEquals(ends, 0);
  timers.advance(1_000);
  assertEquals(ends, 1);
});

Deno.test("a countdown that is paused stands still until it is resumed or restarted", () => {
  using timers = new FakeTimers();
  let ends = 0;
  using countdown = new Countdown(100, () => ends++);
  countdown.pause();
  countdown.pause();
  timers.advance(1_000);
  assertEquals([ends, timers.waiting], [0, 0]);
  countdown.resume();
  countdown.resume();
  assertEquals(timers.waiting, 1);
  countdown.restart(50);
  timers.advance(50);
  assertEquals([ends, timers.waiting], [1, 0]);
});

Deno.test("a countdown that was disposed of never runs again", () => {
  using timers = new FakeTimers();
  let ends = 0;
  const countdown = new Countdown(100, () => ends++);
  countdown[Symbol.dispose]();
  countdown.resume();
  countdown.restart(10);
  timers.advance(1_000);
  assertEquals(ends, 0);
});
