import { assertEquals, assertThrows } from "@std/assert";
import { createServer } from "node:http";
import { Server, type Socket } from "socket.io";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { Connection } from "../../../../src/server/relay/connection.ts";
import { OpenRequests } from "../../../../src/server/relay/pending_requests.ts";
import { RawPeer } from "../../../integration/_socket.ts";
import { computer } from "../offices/_offices.ts";
import { openConnectionContext, quotas, silentSession } from "./_connection.ts";

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
  const shared = openConnectionContext();
  const socket = await promise;
  const identity = { principal: "ada", session: undefined, version: undefined, isObserver: false };
  return {
    socket,
    // This Socket.IO has an engine of its own.
    connection: new Connection(socket, silentSession, { identity, permit: {}, quotas, shared }),
    async [Symbol.asyncDispose]() {
      shared.timeouts.clear();
      await peer[Symbol.asyncDispose]();
      await io.close();
    },
  };
}

/** How many acks Socket.IO keeps for a socket. */
function keptAcks(socket: Socket): unknown {
  const acks: unknown = Reflect.get(socket, "acks");
  return acks instanceof Map ? acks.size : "no map";
}

Deno.test("a request that fails without an answer leaves no ack", async () => {
  await using pair = await openPair();
  const { connection } = pair;
  const sent = new OpenRequests();
  const request = {
    event: "client:x",
    reqId: "1",
    agent: "ada",
    computer: "c",
    officeId: "lab",
    timeoutMs: 60_000,
  };
  for (let count = 0; count < 2; count++) {
    const context = { body: {}, sides: [sent], onSettled() {} };
    connection.ask({ ...request, isObserving: false }, context);
  }
  assertEquals(keptAcks(pair.socket), 2);
  const [first] = sent;
  first?.fail(new Error("late"));
  assertEquals(keptAcks(pair.socket), 1);
  connection.failRequests(() => new SmcpError(503, "The Server shuts down"));
  assertEquals(keptAcks(pair.socket), 0);
});

Deno.test("a body that is nested too deep for Socket.IO is refused with 400", async () => {
  await using pair = await openPair();
  let body: unknown = [];
  for (let depth = 0; depth < 200_000; depth++) body = [body];
  const { code } = assertThrows(() => pair.connection.tell("client:x", body), SmcpError);
  assertEquals(code, 400);
});

Deno.test("the room of an office is not the room of a socket", async () => {
  await using pair = await openPair();
  const { connection } = pair;
  const { sid } = connection;
  connection.enter(computer("laptop", { sid, officeId: sid }));
  assertEquals([...pair.socket.rooms], [sid, `office:${sid}`]);
  connection.exit();
  assertEquals([...pair.socket.rooms], [sid]);
});
