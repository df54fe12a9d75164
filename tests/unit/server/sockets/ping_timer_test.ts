import { assertEquals, assertThrows } from "@std/assert";
import { PingTimer } from "../../../../src/server/sockets/ping_timer.ts";
import { TimingWheel } from "../../../../src/server/timing_wheel.ts";

/** A connection with the members that Engine.IO has. */
class FakeConnection {
  pingIntervalTimer: unknown = null;
  hasRefreshedPingTimeout = true;
  readonly done: string[] = [];

  sendPacket(type: string): void {
    this.done.push(type);
  }

  resetPingTimeout(): void {
    this.done.push("wait");
  }
}

/** A wheel whose time the test sets. */
function openWheel() {
  let nowMs = 0;
  let fire = () => {};
  const timeouts = new TimingWheel({
    nowMs: () => nowMs,
    startTimer(onTime) {
      fire = onTime;
      return () => {};
    },
  });
  const goTo = (ms: number) => {
    nowMs = ms;
    fire();
  };
  return { timeouts, goTo };
}

Deno.test("PingTimer sends a ping after the interval, and again an interval after each pong", () => {
  const { timeouts, goTo } = openWheel();
  const connection = new FakeConnection();
  const timer = new PingTimer(connection, { timeouts, pingIntervalMs: 1_000 });
  assertEquals(connection.pingIntervalTimer, timer);
  goTo(900);
  assertEquals(connection.done, []);
  goTo(1_000);
  assertEquals(connection.done, ["ping", "wait"]);
  assertEquals(connection.hasRefreshedPingTimeout, false);
  goTo(5_000);
  assertEquals(connection.done.length, 2);
  timer.refresh();
  goTo(6_000);
  assertEquals(connection.done.length, 4);
  timer.stop();
});

Deno.test("PingTimer sends nothing after it was stopped, and postpones the ping when it is refreshed", () => {
  const { timeouts, goTo } = openWheel();
  const connection = new FakeConnection();
  const timer = new PingTimer(connection, { timeouts, pingIntervalMs: 1_000 });
  goTo(500);
  timer.refresh();
  goTo(1_000);
  assertEquals(connection.done, []);
  timer.stop();
  goTo(9_000);
  assertEquals(connection.done, []);
});

Deno.test("PingTimer refuses a connection of another kind", () => {
  const { timeouts } = openWheel();
  assertThrows(() => new PingTimer({}, { timeouts, pingIntervalMs: 1_000 }), TypeError, "another one");
});
