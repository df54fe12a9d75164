import { assertEquals } from "@std/assert";
import { EventEmitter } from "node:events";
import { MemoryBudget } from "../../../src/server/memory_budget.ts";
import { Outbox } from "../../../src/server/outbox.ts";
import { TimingWheel } from "../../../src/server/timing_wheel.ts";

class FakeEngine extends EventEmitter {
  readonly transport: EventEmitter & { readonly name: string } = Object.assign(new EventEmitter(), {
    name: "websocket",
  });

  close(): void {}
}

Deno.test("Outbox takes a pong as a sign of life once for each ping, and not before the ping was handed over", () => {
  const engine = new FakeEngine();
  const timeouts = new TimingWheel();
  new Outbox(engine, {
    sid: "a",
    options: {
      maxPayloadBytes: 1_000_000,
      memory: new MemoryBudget(1_000_000),
      pingIntervalMs: 60_000,
      pingTimeoutMs: 60_000,
      timeouts,
      onEnd: () => {},
    },
  });
  /** What a pong counts as. */
  const typeOfPong = (): string => {
    const packet = { type: "pong" };
    engine.emit("packet", packet);
    return packet.type;
  };
  // A ping from before the construction may still be answered.
  assertEquals([typeOfPong(), typeOfPong()], ["pong", "noop"]);
  const ping = { type: "ping" };
  engine.emit("packetCreate", ping);
  assertEquals(typeOfPong(), "noop");
  engine.emit("flush", [ping]);
  assertEquals([typeOfPong(), typeOfPong()], ["pong", "noop"]);
  engine.emit("close");
  timeouts.clear();
});
