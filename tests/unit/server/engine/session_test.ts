import { assertEquals } from "@std/assert";
import type { EngineSession } from "../../../../src/server/engine/session.ts";
import {
  concat,
  frame,
  frameHead,
  PING_FRAME,
  PONG_FRAME,
  type RawConnection,
} from "../../../attacks/_raw_http.ts";
import { within } from "../../../fixtures/within.ts";
import {
  endOf,
  EnginePort,
  MAX_PAYLOAD_BYTES,
  PING_INTERVAL_MS,
  PING_TIMEOUT_MS,
  settled,
  TICK_MS,
} from "./_engine_port.ts";

const CLOSE = frame("", { opcode: 8 });

/** Resolves when the Server has read what was written before. */
async function readAll(connection: RawConnection): Promise<void> {
  const pongs = countOf(connection, PONG_FRAME);
  connection.write(PING_FRAME);
  await connection.until("a pong", () => countOf(connection, PONG_FRAME) > pongs);
}

function countOf({ received }: RawConnection, part: string): number {
  return received.split(part).length - 1;
}

function messagesOf(session: EngineSession): unknown[] {
  const messages: unknown[] = [];
  session.on("data", (message) => void messages.push(message));
  return messages;
}

/** Lets a ping be sent, and waits until its client has it. */
async function ping(port: EnginePort, connection: RawConnection): Promise<void> {
  const pings = countOf(connection, "\x81\x012");
  port.clock.advance(PING_INTERVAL_MS + TICK_MS);
  await connection.until("a ping", () => countOf(connection, "\x81\x012") > pings);
}

Deno.test("a session is pinged one interval after its pong, and ends without one", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  const ended = endOf(session);
  for (let count = 0; count < 2; count++) {
    await ping(port, connection);
    connection.write(frame("3"));
    await readAll(connection);
  }
  await ping(port, connection);
  port.clock.advance(PING_TIMEOUT_MS - TICK_MS);
  assertEquals(session.readyState, "open");
  port.clock.advance(2 * TICK_MS);
  assertEquals(await within(ended, "the end"), "ping timeout");
});

Deno.test("a pong without a ping does not postpone the next ping", async () => {
  await using port = await EnginePort.open();
  const { connection } = await port.openWebSocket();
  await using _ = connection;
  port.clock.advance(PING_INTERVAL_MS / 2);
  connection.write(frame("3"));
  await readAll(connection);
  port.clock.advance(PING_INTERVAL_MS / 2 + TICK_MS);
  await connection.until("a ping", (text) => text.includes("\x81\x012"));
});

Deno.test("the first packet behind a ping gives its pong the whole time anew, and later ones do not", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  const ended = endOf(session);
  await ping(port, connection);
  for (let count = 0; count < 2; count++) {
    port.clock.advance(PING_TIMEOUT_MS / 2);
    connection.write(frame("4a"));
    await readAll(connection);
  }
  port.clock.advance(PING_TIMEOUT_MS / 2 - 2 * TICK_MS);
  assertEquals(session.readyState, "open");
  port.clock.advance(3 * TICK_MS);
  assertEquals(await within(ended, "the end"), "ping timeout");
});

Deno.test("a pong that arrives while the event loop stalls is in time", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  await ping(port, connection);
  port.clock.advance(PING_TIMEOUT_MS + TICK_MS);
  // In the same turn of the event loop, as the packets that have waited for it.
  session.onText("3");
  await readAll(connection);
  assertEquals(session.readyState, "open");
});

Deno.test("a session reads nothing more of a chunk behind the frame that ends it", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  const [messages, ended] = [messagesOf(session), endOf(session)];
  connection.write(concat([frame("4a"), frame("x"), frame("4b")]));
  assertEquals(await within(ended, "the end"), "parse error");
  connection.write(CLOSE);
  await connection.untilClosed();
  assertEquals(messages, ["a"]);
});

Deno.test("a listener may end its session in any way while a chunk is read", async () => {
  await using port = await EnginePort.open();
  for (const end of ["close", "terminate"] as const) {
    const { session, connection } = await port.openWebSocket();
    await using _ = connection;
    const messages = messagesOf(session);
    session.on("data", () => session[end]());
    connection.write(concat([frame("4a"), frame("4b"), CLOSE]));
    await connection.untilClosed();
    assertEquals(messages, ["a"]);
    await port.untilEmpty();
  }
});

/** The ways in which a session may end, and the reason that Socket.IO is told. */
const ENDS: readonly [string, (session: EngineSession, connection: RawConnection) => unknown, string][] = [
  ["close()", (session) => session.close("forced server close"), "forced server close"],
  ["fail()", (session) => session.fail("parse error"), "parse error"],
  ["terminate()", (session) => session.terminate(), "forced close"],
  ["a lost connection", (_, { socket }) => socket.destroy(), "transport close"],
];

for (const [name, end, reason] of ENDS) {
  Deno.test(`nothing is left of a session that ends by ${name} while messages wait in both directions`, async () => {
    await using port = await EnginePort.open();
    const { session, connection } = await port.openWebSocket();
    await using _ = connection;
    const ended = endOf(session);
    // The beginning of a message, whose rest never comes.
    connection.write(concat([frameHead(200_000), new Uint8Array(100_000)]));
    await settled(() => port.engine.budget.usedBytes >= 100_000, "the beginning of a message");
    connection.socket.pause();
    for (let count = 0; count < 8; count++) session.write(new Uint8Array(MAX_PAYLOAD_BYTES));
    await settled(() => session.outbox.messages.length < 8, "the first write");
    end(session, connection);
    assertEquals(await within(ended, "the end"), reason);
    connection.socket.resume();
    connection.write(new Uint8Array(100_000));
    connection.write(CLOSE);
    await connection.untilClosed();
    await port.untilEmpty();
    port.clock.advance(2 * (PING_INTERVAL_MS + PING_TIMEOUT_MS));
    assertEquals(port.clock.isArmed, false);
  });
}

Deno.test("a session that closes sends what waits, and then its end", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  session.write("a".repeat(MAX_PAYLOAD_BYTES));
  session.write("z");
  session.close();
  session.write("lost");
  await connection.until("the end", (text) => text.endsWith("\x81\x024z\x88\x00"));
  connection.write(CLOSE);
  await connection.untilClosed();
  await port.untilEmpty();
});

Deno.test("terminate() ends the connection of a session that has failed, whose peer keeps it open", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  session.fail("parse error");
  await connection.until("a close frame", (text) => text.endsWith("\x88\x00"));
  assertEquals([port.engine.size, port.engine.find({ sid: session.id })], [1, undefined]);
  port.engine.terminate();
  await connection.untilClosed();
  assertEquals(port.engine.size, 0);
});

Deno.test("a peer that reads nothing for an interval and a time-out ends", async () => {
  await using port = await EnginePort.open();
  const { session, connection } = await port.openWebSocket();
  await using _ = connection;
  const ended = endOf(session);
  connection.socket.pause();
  for (let count = 0; count < 8; count++) session.write(new Uint8Array(MAX_PAYLOAD_BYTES));
  await settled(() => session.outbox.messages.length < 8, "the first write");
  for (let ms = 0; ms < 3 * (PING_INTERVAL_MS + PING_TIMEOUT_MS); ms += PING_TIMEOUT_MS / 2) {
    session.onText("3");
    port.clock.advance(PING_TIMEOUT_MS / 2);
  }
  assertEquals(await within(ended, "the end"), "forced close");
  await port.untilEmpty();
});

Deno.test("a session that is not admitted gives its place back, whichever way it ends", async () => {
  await using port = await EnginePort.open({ admits: false });
  const { engine } = port;
  const address = "192.0.2.1";
  for (const [, end] of ENDS) {
    const { session, connection } = await port.openWebSocket();
    await using _ = connection;
    assertEquals([engine.hasPlace(address), session.isAdmitted], [false, false]);
    end(session, connection);
    connection.write(CLOSE);
    await connection.untilClosed();
    await port.untilEmpty();
    assertEquals(engine.hasPlace(address), true);
  }
  const { connection } = await port.openWebSocket();
  engine.close();
  await connection.untilClosed();
  assertEquals([engine.size, engine.hasPlace(address)], [0, true]);
});

Deno.test("a WebSocket of a session that is not admitted ends with its first chunk too many", async () => {
  await using port = await EnginePort.open({ admits: false });
  const { session, connection } = await port.openWebSocket();
  const ended = endOf(session);
  connection.write(concat([frameHead(100_000), new Uint8Array(70_000)]));
  assertEquals(await within(ended, "the end"), "forced close");
  await connection.untilClosed();
  await port.untilEmpty();
});
