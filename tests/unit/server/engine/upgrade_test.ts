import { assertEquals } from "@std/assert";
import { frame, PING_FRAME, PONG_FRAME } from "../../../attacks/_raw_http.ts";
import { EnginePort, PING_INTERVAL_MS, settled, TICK_MS } from "./_engine_port.ts";

const NOOP_MS = 100;
const UPGRADE_MS = 10_000;
/** Frames of the Server. */
const CLOSE_FRAME = "\x88\x00";

Deno.test("after a probe each poll ends with a noop 100 ms later at most, and the rest goes over the WebSocket in order", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { session } = polled;
  await using upgraded = await polled.probe();
  for (let count = 0; count < 2; count++) {
    const { answer } = await polled.wait();
    port.clock.advance(NOOP_MS + TICK_MS);
    assertEquals((await answer).body, "6");
  }
  session.write("a");
  assertEquals((await polled.ask()).body, "4a");
  session.write("b");
  upgraded.write(frame("5"));
  upgraded.write(frame("4x"));
  await settled(() => polled.messages.length > 0, "a message over the WebSocket");
  session.write("c");
  await upgraded.until("what waited", (text) => text.endsWith("\x81\x024b\x81\x024c"));
  assertEquals([session.transport.name, session.probe, (await polled.ask()).status], [
    "websocket",
    undefined,
    400,
  ]);
  await settled(() => port.engine.budget.usedBytes === 0, "the messages to be written");
});

Deno.test("a poll that waits at the end of an upgrade is answered a noop", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  await using upgraded = await polled.probe();
  const { answer } = await polled.wait();
  upgraded.write(frame("5"));
  assertEquals((await answer).body, "6");
  polled.session.write("a");
  await upgraded.until("a message", (text) => text.endsWith("4a"));
});

Deno.test("an upgrade that takes longer than 10 s ends, and the session goes on with polling", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  await using upgraded = await polled.probe();
  port.clock.advance(UPGRADE_MS - TICK_MS);
  assertEquals(polled.session.probe === undefined, false);
  port.clock.advance(2 * TICK_MS);
  await upgraded.until("a close frame", (text) => text.endsWith(CLOSE_FRAME));
  upgraded.write(frame("5"));
  upgraded.write(frame("", { opcode: 8 }));
  await upgraded.untilClosed();
  await settled(() => polled.session.probe === undefined, "the end of the upgrade");
  const { answer } = await polled.wait();
  port.clock.advance(1_000);
  polled.session.write("a");
  assertEquals((await answer).body, "4a");
});

Deno.test("a packet that is no part of an upgrade ends it, and so does a second probe", async () => {
  await using port = await EnginePort.open();
  for (const sent of [frame("2probe"), frame("4a"), frame("x"), frame("2"), frame("a", { opcode: 2 })]) {
    const polled = await port.openPolling();
    await using upgraded = await polled.probe();
    upgraded.write(sent);
    await upgraded.until("a close frame", (text) => text.endsWith(CLOSE_FRAME));
    assertEquals([polled.session.readyState, polled.messages], ["open", []]);
  }
});

Deno.test("a WebSocket that is lost during an upgrade leaves the session with polling, for another upgrade", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  await (await polled.probe())[Symbol.asyncDispose]();
  await settled(() => polled.session.probe === undefined, "the end of the upgrade");
  await using upgraded = await polled.probe();
  upgraded.write(frame("5"));
  await settled(() => polled.session.transport.name === "websocket", "the upgrade");
});

Deno.test("a session that closes during an upgrade sends what waits and its end over the new WebSocket", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  await using upgraded = await polled.probe();
  polled.session.write("a");
  polled.session.close("forced server close");
  upgraded.write(frame("5"));
  await upgraded.until("the end", (text) => text.endsWith(`\x81\x024a${CLOSE_FRAME}`));
  upgraded.write(frame("", { opcode: 8 }));
  await upgraded.untilClosed();
  assertEquals(await polled.ended, "forced server close");
  await port.untilEmpty();
});

Deno.test("a session that ends during an upgrade takes the WebSocket with it", async () => {
  await using port = await EnginePort.open();
  for (const end of ["fail", "terminate"] as const) {
    const polled = await port.openPolling();
    await using upgraded = await polled.probe();
    if (end === "fail") polled.session.fail("ping timeout");
    else polled.session.terminate();
    await upgraded.untilClosed();
    // At once: a close frame would wait for an answer.
    assertEquals(upgraded.received.endsWith(CLOSE_FRAME), false);
    await port.untilEmpty();
  }
});

Deno.test("a session that has moved to a WebSocket is pinged one interval later, whatever it was asked before", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { answer } = await polled.wait();
  port.clock.advance(PING_INTERVAL_MS + TICK_MS);
  assertEquals((await answer).body, "2");
  await using upgraded = await polled.probe();
  upgraded.write(frame("5"));
  await settled(() => polled.session.transport.name === "websocket", "the upgrade");
  port.clock.advance(PING_INTERVAL_MS - TICK_MS);
  upgraded.write(PING_FRAME);
  await upgraded.until("a pong", (text) => text.endsWith(PONG_FRAME));
  port.clock.advance(2 * TICK_MS);
  await upgraded.until("a ping", (text) => text.endsWith("\x81\x012"));
  assertEquals(polled.session.readyState, "open");
});
