import { assertEquals, assertThrows } from "@std/assert";
import { createServer } from "node:http";
import { Server, type Socket } from "socket.io";
import { Account, Budget } from "../../../src/server/engine/budget.ts";
import { EngineOutbox } from "../../../src/server/engine/outbox.ts";
import { TimingWheel } from "../../../src/async/timing_wheel.ts";
import { SocketWire } from "../../../src/server/socket_wire.ts";
import { RawPeer } from "../../integration/_socket.ts";

/** A genuine Socket.IO socket with its client: what is tested here leans on how Socket.IO works inside. */
async function openPair() {
  const http = createServer();
  const io = new Server(http);
  const { promise, resolve } = Promise.withResolvers<Socket>();
  io.of("/smcp").on("connection", resolve);
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  const address = http.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const peer = await RawPeer.connect(`http://127.0.0.1:${port}`);
  return {
    peer,
    socket: await promise,
    async [Symbol.asyncDispose]() {
      await peer[Symbol.asyncDispose]();
      await io.close();
    },
  };
}

const budget = new Budget(1024 * 1024);
/** A session whose outbox lets everything pass, since this Socket.IO has an engine of its own. */
const noSession = {
  account: new Account(budget),
  outbox: new EngineOutbox(
    { maxPayloadBytes: 1024, budget, timeouts: new TimingWheel(), stallMs: 1_000 },
    () => {},
  ),
  close() {},
};

/** How many acks Socket.IO keeps for a socket. */
function keptAcks(socket: Socket): unknown {
  const acks: unknown = Reflect.get(socket, "acks");
  return acks instanceof Map ? acks.size : "no map";
}

Deno.test("forgetAck() frees the ack of a request without an answer", async () => {
  await using pair = await openPair();
  const wire = new SocketWire(pair.socket, noSession);
  const { ackId } = wire.ask("client:x", {}, () => {});
  wire.ask("client:x", {}, () => {});
  assertEquals(keptAcks(pair.socket), 2);
  wire.forgetAck(ackId);
  wire.forgetAck(ackId);
  assertEquals(keptAcks(pair.socket), 1);
});

Deno.test("emit() throws a RangeError for a body that is nested too deep", async () => {
  await using pair = await openPair();
  let body: unknown = [];
  for (let depth = 0; depth < 200_000; depth++) body = [body];
  assertThrows(() => new SocketWire(pair.socket, noSession).emit("client:x", body), RangeError);
});

Deno.test("the room of an office is not the room of a socket", async () => {
  await using pair = await openPair();
  const wire = new SocketWire(pair.socket, noSession);
  wire.enterRoom(wire.sid);
  assertEquals([...pair.socket.rooms], [wire.sid, `office:${wire.sid}`]);
  wire.leaveRoom(wire.sid);
  assertEquals([...pair.socket.rooms], [wire.sid]);
});
