import { assertEquals } from "@std/assert";
import { boundPollingAnswers } from "../../../../src/server/sockets/polling.ts";

/** Engine.IO's side of it: a flush hands its queue over and begins a new one. */
class EngineStandIn {
  readyState = "open";
  transport = { name: "polling" };
  writeBuffer: unknown[] = [];
  readonly #listeners = new Map<string, (packets: unknown[]) => void>();

  on(event: string, listener: (packets: unknown[]) => void): void {
    this.#listeners.set(event, listener);
  }

  once(event: string, listener: () => void): void {
    this.#listeners.set(event, listener);
  }

  off(event: string): void {
    this.#listeners.delete(event);
  }

  upgrade(): void {
    this.#listeners.get("upgrade")?.([]);
  }

  flush(): readonly unknown[] {
    const packets = this.writeBuffer;
    this.#listeners.get("flush")?.(packets);
    this.writeBuffer = [];
    this.#listeners.get("drain")?.(packets);
    return packets;
  }
}

const packets = Array.from({ length: 20 }, (_, i) => i);

Deno.test("boundPollingAnswers() puts what is left before what comes later", () => {
  const engine = new EngineStandIn();
  boundPollingAnswers(engine);
  engine.writeBuffer.push(...packets);
  assertEquals(engine.flush(), packets.slice(0, 16));
  engine.writeBuffer.push("later");
  assertEquals(engine.flush(), [16, 17, 18, 19, "later"]);
});

Deno.test("boundPollingAnswers() leaves websockets alone, and what is closing", () => {
  const closing = new EngineStandIn();
  boundPollingAnswers(closing);
  closing.readyState = "closing";
  const upgraded = new EngineStandIn();
  boundPollingAnswers(upgraded);
  upgraded.upgrade();
  for (const engine of [closing, upgraded]) {
    engine.writeBuffer.push(...packets);
    assertEquals(engine.flush(), packets);
  }
});
