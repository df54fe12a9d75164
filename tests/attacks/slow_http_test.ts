/** Attacker: a stranger who speaks HTTP slowly. They begin requests, bodies and websockets, and do not end them. */
import { createServer } from "node:http";
import { assert, assertEquals } from "@std/assert";
import { type ListenOptions, SmcpServer, type SmcpServerOptions } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import {
  exchange,
  frame,
  openPolling,
  openWebSocket,
  POLLING,
  RawConnection,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "./_raw_http.ts";
import { eventually } from "../fixtures/within.ts";
import { withConstants } from "../../src/server/options/constants.ts";

/** How long a slow client waits between two bytes. */
const DRIBBLE_MS = 20;
/** Well below every other deadline, so that a test sees which one has ended the connection. */
const SHORT_MS = 300;
/** A deadline that ended a connection later than this was not the short one: all others have 5 seconds and more. */
const LATE_MS = 4_000;
const KEEP_ALIVE = { Connection: "keep-alive" } as const;

/** Writes `text` at once, and then one byte after the other until the other side has closed. */
async function dribble(connection: RawConnection, text: string): Promise<void> {
  connection.write(text);
  const timer = setInterval(() => connection.write("x"), DRIBBLE_MS);
  try {
    await connection.untilClosed();
  } finally {
    clearInterval(timer);
  }
}

/** How long `work` takes. */
async function timeOf(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now();
  await work();
  return performance.now() - startMs;
}

const FEW: ListenOptions = { port: 0, ...withConstants({ headTimeoutMs: SHORT_MS }) };

for (
  const [what, text] of Object.entries({
    "says nothing": "",
    "does not end its head": "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ",
    "does not end the head of a websocket":
      `GET ${WEBSOCKET} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nX: `,
  })
) {
  Deno.test(`A TCP connection that ${what} is closed after the time of a head`, async () => {
    await using server = await SmcpServer.listen(FEW);
    await using connection = new RawConnection(server.port);
    connection.write(text);
    assert(await timeOf(() => connection.untilClosed()) < LATE_MS);
  });
}

Deno.test("The head of a request has one deadline, however its bytes come, after another request as well", async () => {
  await using server = await SmcpServer.listen(FEW);
  await using first = new RawConnection(server.port);
  const head = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ";
  assert(await timeOf(() => dribble(first, head)) < LATE_MS);
  await using second = new RawConnection(server.port);
  const request = toText(server.port, { target: "/healthz", headers: KEEP_ALIVE });
  second.write(request);
  await second.until("answer", (text) => text.includes("Server: ok"));
  second.write(request);
  await second.until("second answer", (text) => text.split("Server: ok").length > 2);
  assert(await timeOf(() => dribble(second, head)) < LATE_MS);
});

for (
  const [what, request] of Object.entries({
    "a health check": { method: "POST", target: "/healthz" },
    "another path": { method: "POST", target: "/nothing" },
    "a handshake": { target: POLLING },
  })
) {
  Deno.test(`A slow body of ${what} ends its TCP connection when the answer is sent`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using connection = new RawConnection(server.port);
    const headers = { ...KEEP_ALIVE, "Content-Length": "60000" };
    const text = toText(server.port, { ...request, headers });
    assert(await timeOf(() => dribble(connection, text)) < LATE_MS);
    assert(connection.received.startsWith("HTTP/1.1 "));
  });
}

Deno.test("A client that is still sending its body can read the answer that came before", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using connection = new RawConnection(server.port);
  connection.socket.pause();
  const headers = { ...KEEP_ALIVE, "Content-Length": "60000" };
  const head = toText(server.port, { method: "POST", target: "/healthz", headers });
  // In the time of an exchange the answer is sent, and a closed socket would reset the connection.
  for (const part of [head, "x", "x"]) {
    connection.write(part);
    await exchange(server.port, { target: "/healthz" });
  }
  connection.socket.resume();
  await connection.untilClosed();
  assert(connection.received.startsWith("HTTP/1.1 200"), connection.received);
});

const FAST_CONNECT = withConstants({ connectTimeoutMs: SHORT_MS });

/** A Server on the HTTP server of a host program, which closes with it. */
async function openAttached(options: SmcpServerOptions): Promise<Opened> {
  const http = createServer();
  const server = SmcpServer.attach(http, options);
  await new Promise<void>((resolve) => http.listen({ host: "127.0.0.1", port: 0 }, () => resolve()));
  return {
    port: server.port,
    async [Symbol.asyncDispose]() {
      await server.close();
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

interface Opened extends AsyncDisposable {
  readonly port: number;
}

const servers: Readonly<Record<string, (options: SmcpServerOptions) => Promise<Opened>>> = {
  "a Server of its own": (options) => SmcpServer.listen({ ...options, port: 0 }),
  "an attached Server": openAttached,
};

for (const [where, open] of Object.entries(servers)) {
  Deno.test(`A slow body of an unknown session ends its TCP connection when the answer is sent, at ${where}`, async () => {
    await using server = await open({ allowAnonymous: true });
    await using connection = new RawConnection(server.port);
    const headers = { ...KEEP_ALIVE, "Content-Length": "60000" };
    const target = `${POLLING}&sid=unknown`;
    const text = toText(server.port, { method: "POST", target, headers });
    assert(await timeOf(() => dribble(connection, text)) < LATE_MS);
    assert(connection.received.startsWith("HTTP/1.1 400"));
  });

  Deno.test(`A slow body of a session ends with the time until CONNECT, at ${where}`, async () => {
    await using server = await open({ ...FAST_CONNECT, allowAnonymous: true });
    const target = `${POLLING}&sid=${await openPolling(server.port)}`;
    await using connection = new RawConnection(server.port);
    const headers = { ...KEEP_ALIVE, "Content-Length": "60000" };
    const text = toText(server.port, { method: "POST", target, headers });
    assert(await timeOf(() => dribble(connection, text)) < LATE_MS);
    assertEquals((await exchange(server.port, { target })).status, 400);
  });

  Deno.test(`A websocket whose CONNECT comes slowly ends with the time until CONNECT, at ${where}`, async () => {
    await using server = await open({ ...FAST_CONNECT, allowAnonymous: true });
    await using connection = await openWebSocket(server.port);
    const packet = `40/smcp,{"text":"${"x".repeat(100)}"}`;
    connection.write(frame(packet).subarray(0, 30));
    assert(await timeOf(() => dribble(connection, "")) < LATE_MS);
  });

  Deno.test(`An upgrade without an end is closed with its session, at ${where}`, async () => {
    await using server = await open({ ...FAST_CONNECT, allowAnonymous: true });
    const target = `${WEBSOCKET}&sid=${await openPolling(server.port)}`;
    await using connection = new RawConnection(server.port);
    connection.write(toText(server.port, { target, headers: UPGRADE_HEADERS }));
    assert(await timeOf(() => connection.untilClosed()) < LATE_MS);
    assert(connection.received.includes("101 "));
  });

  Deno.test(`A websocket that asks for polling is closed after the time until CONNECT, at ${where}`, async () => {
    await using server = await open({ ...FAST_CONNECT, allowAnonymous: true });
    await using connection = new RawConnection(server.port);
    connection.write(toText(server.port, { target: POLLING, headers: UPGRADE_HEADERS }));
    assert(await timeOf(() => connection.untilClosed()) < LATE_MS);
  });

  Deno.test(`A client that closes its half of a websocket is closed, at ${where}`, async () => {
    await using server = await open({ allowAnonymous: true });
    await using connection = await openWebSocket(server.port);
    connection.socket.end();
    assert(await timeOf(() => connection.untilClosed()) < LATE_MS);
  });
}

Deno.test("A Server full of slow clients admits others", async () => {
  await using server = await SmcpServer.listen({
    port: 0,
    maxPendingConnectionsPerAddress: 4,
    maxSockets: 16,
  });
  const slow = Array.from({ length: 16 }, () => new RawConnection(server.port));
  for (const { socket } of slow) socket.write("GET / HTTP/1.1\r\nX: ");
  const connect = () => RawPeer.connect(server.url).catch(() => undefined);
  const peer = await eventually(connect, (peer) => peer !== undefined, "a place for a newcomer");
  await peer?.[Symbol.asyncDispose]();
  for (const connection of slow) await connection[Symbol.asyncDispose]();
});
