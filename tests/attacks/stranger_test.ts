/** Attacker: a stranger without credentials. It tries to make the Server hold memory, time and places for it. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { type AuthProvider, SmcpServer, staticTokens } from "../../server.ts";
import { untilAborted } from "../../src/async/abortable.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import {
  exchange,
  frame,
  frameHead,
  openPolling,
  openWebSocket,
  POLLING,
  RawConnection,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "./_raw_http.ts";
import { CONSTANTS, withConstants } from "../../src/server/options/constants.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

Deno.test("A binary packet before admission ends its connection before any attachment is read", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using binary = await openWebSocket(server.port);
  binary.write(frame('451-/smcp,["x",{"_placeholder":true,"num":0}]'));
  await binary.untilClosed();
  await using bytes = await openWebSocket(server.port);
  bytes.write(frame(new Uint8Array(10), { opcode: 2 }));
  await bytes.untilClosed();
});

Deno.test("A websocket holds 64 KiB before admission, however they come", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  const opened = [
    await openWebSocket(server.port),
    await openUpgrade(server.port, `${WEBSOCKET}&sid=${sid}`),
  ];
  for (const connection of opened) {
    await using stranger = connection;
    stranger.write(frameHead(16 * MIB));
    stranger.write(new Uint8Array(70 * KIB));
    await stranger.untilClosed();
  }
  await using fragments = await openWebSocket(server.port);
  for (let sent = 0; sent < 70 * KIB; sent += KIB) {
    fragments.write(frame(new Uint8Array(KIB), { opcode: sent === 0 ? 1 : 0, isWhole: false }));
  }
  await fragments.untilClosed();
});

/** A websocket beside a polling session. */
async function openUpgrade(port: number, target: string): Promise<RawConnection> {
  const connection = new RawConnection(port);
  connection.write(toText(port, { target, headers: UPGRADE_HEADERS }));
  await connection.until("websocket", (text) => text.includes("101 "));
  return connection;
}

Deno.test("A polling body before admission has a known length of at most 64 KiB", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  const large = { method: "POST", target, headers: { "Content-Length": String(65 * KIB) }, body: "4" };
  assertEquals((await exchange(port, large)).status, 413);
  const endless = { method: "POST", target, headers: { "Transfer-Encoding": "chunked" }, body: "1\r\n4\r\n" };
  assertEquals((await exchange(port, endless)).status, 413);
});

Deno.test("Credentials of 60,000 characters are read, more members than 1,024 are not", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using _peer = await RawPeer.connect(server.url, { auth: { token: "x".repeat(60_000) } });
  await using stranger = await openWebSocket(server.port);
  stranger.write(frame(`40/smcp,{"a":[${"[],".repeat(2_000)}0]}`));
  await stranger.untilClosed();
});

Deno.test("An admitted member may send as much as the handshake has announced, on either transport", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using websocket = await RawPeer.connect(server.url);
  const text = "x".repeat(2 * MIB);
  const body = { agent: "ada", req_id: "1", computer: "laptop" };
  const answer = await websocket.request("client:x", { ...body, text });
  assertEquals((answer[0] as { code: number }).code, 4103);
  const sid = await openPolling(server.port);
  const target = `${POLLING}&sid=${sid}`;
  const post = (body: string) => exchange(server.port, { method: "POST", target, body });
  const large = JSON.stringify({ ...body, text: text.slice(0, 200 * KIB) });
  assertEquals((await post("40/smcp,")).status, 200);
  await exchange(server.port, { target });
  assertEquals((await post(`42/smcp,1["client:x",${large}]`)).status, 200);
  assert((await exchange(server.port, { target })).body.includes("4103"));
  await post("41/smcp,");
});

Deno.test("The attachments of one packet have the bytes of one message in all", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: 10_000 });
  await using peer = await RawPeer.connect(server.url);
  const body = { a: new Uint8Array(4_000), b: new Uint8Array(4_000), c: new Uint8Array(4_000) };
  peer.socket.emit("client:x", body);
  assertEquals(await peer.disconnected, "transport close");
});

Deno.test("A session without a CONNECT packet ends after the connect time-out", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...withConstants({ connectTimeoutMs: 100 }) });
  await using stranger = await openWebSocket(server.port);
  await stranger.untilClosed();
  const sid = await openPolling(server.port);
  // A poll is answered when the session ends, and the session is not known any longer.
  await exchange(server.port, { target: `${POLLING}&sid=${sid}` });
  assertEquals((await exchange(server.port, { target: `${POLLING}&sid=${sid}` })).status, 400);
});

Deno.test("Handshakes beyond the places of one address are answered 503, and admission frees a place", async () => {
  while (true) {
    const logger = new RecordingLogger();
    await using server = await SmcpServer.listen({ port: 0, maxPendingConnectionsPerAddress: 4, logger });
    const startMs = performance.now();
    const sids = [];
    for (let i = 0; i < 4; i++) sids.push(await openPolling(server.port));
    const excess = await exchange(server.port, { target: POLLING });
    const isRefused = await RawPeer.connect(server.url).then(closePeer, () => true);
    // After that time a stranger loses its place to a newer one: this machine was too slow, so it says nothing.
    if (performance.now() - startMs >= CONSTANTS.replaceableAfterMs.value) continue;
    assertEquals([excess.status, isRefused], [503, true]);
    assertStringIncludes(excess.body, "--max-pending-per-address (maxPendingConnectionsPerAddress)");
    const [sid] = sids;
    await exchange(server.port, { method: "POST", target: `${POLLING}&sid=${sid}`, body: "40/smcp," });
    await exchange(server.port, { target: `${POLLING}&sid=${sid}` });
    await using _peer = await RawPeer.connect(server.url);
    assert(logger.lines.some(({ fields }) => fields["code"] === 503));
    return;
  }
});

Deno.test("A client that does not wait for answers is disconnected", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using stranger = new RawConnection(server.port);
  const request = toText(server.port, { target: POLLING, headers: { Connection: "keep-alive" } });
  stranger.write(request.repeat(1_000));
  await stranger.untilClosed();
  assert((stranger.received.match(/HTTP\/1\.1 200/g)?.length ?? 0) <= 1);
});

Deno.test("A waiting stranger gives its place to a newer connection after a second, so none can keep others out", async () => {
  await using server = await SmcpServer.listen({ port: 0, ...withConstants({ maxPendingConnections: 1 }) });
  await using stranger = await openWebSocket(server.port);
  await assertRejects(() => RawPeer.connect(server.url));
  const connect = () => RawPeer.connect(server.url).catch(() => undefined);
  await using _peer = await eventually(connect, (peer) => peer !== undefined, "a place for a newcomer");
  await stranger.untilClosed();
});

Deno.test("A wrong token is told, and ends the connection: there is one attempt for each", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  await using stranger = await openWebSocket(server.port);
  stranger.write(frame('40/smcp,{"token":"guess"}'));
  await stranger.until("connect error", (text) => text.includes("wrong token"));
  await stranger.untilClosed();
  await using hasty = await openWebSocket(server.port);
  hasty.write(frame('40/smcp,{"token":"guess"}'));
  await hasty.until("connect error", (text) => text.includes("wrong token"));
  hasty.write(frame('40/smcp,{"token":"s3cret"}'));
  await hasty.untilClosed();
  assert(!hasty.received.includes('"sid":"', hasty.received.indexOf("wrong token")));
});

Deno.test("A provider that has not decided is not asked a second time by the same connection", async () => {
  let asked = 0;
  const never = Promise.withResolvers<{ readonly principal: string }>();
  const auth: AuthProvider = {
    authenticate() {
      asked++;
      return never.promise;
    },
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using stranger = await openWebSocket(server.port);
  stranger.write(frame("40/smcp,{}"));
  for (let i = 0; i < 20; i++) stranger.write(frame("40/smcp,{}"));
  await stranger.untilClosed();
  assertEquals(asked, 1);
  never.resolve({ principal: "late" });
});

Deno.test("A provider that does not decide in time refuses, and its signal is aborted", async () => {
  const signals: AbortSignal[] = [];
  const auth: AuthProvider = {
    authenticate(_credentials, context) {
      if (context !== undefined) signals.push(context.signal);
      return new Promise(() => {});
    },
  };
  await using server = await SmcpServer.listen({ port: 0, auth, ...withConstants({ authTimeoutMs: 50 }) });
  const error = await assertRejects(() => RawPeer.connect(server.url), Error);
  assertEquals("data" in error && Object(error.data).code, 503);
  assertEquals(signals.map(({ aborted }) => aborted), [true]);
});

Deno.test("A provider is told when the connection is gone, so that nothing is kept for that", async () => {
  const asked = Promise.withResolvers<AbortSignal>();
  const auth: AuthProvider = {
    authenticate(_credentials, context) {
      if (context !== undefined) asked.resolve(context.signal);
      return new Promise(() => {});
    },
  };
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, auth, logger });
  await using stranger = await openWebSocket(server.port);
  stranger.write(frame("40/smcp,{}"));
  const signal = await within(asked.promise, "the question to the authorizer");
  await stranger[Symbol.asyncDispose]();
  await within(untilAborted(signal), "the abort of the provider's signal");
  assertEquals(logger.lines.filter(({ level }) => level === "error"), []);
});

Deno.test("A transport serves one socket: a second namespace opens none, and DISCONNECT ends it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await openWebSocket(server.port);
  // Clients that ask for the default namespace as well are served in theirs.
  peer.write(frame("40"));
  peer.write(frame("40/smcp,"));
  await peer.until("admission", (text) => text.includes('40/smcp,{"sid"'));
  await peer.until("refusal of the default namespace", (text) => text.includes("44{"));
  peer.write(frame("41/smcp,"));
  await peer.until("closing handshake", (text) => text.endsWith("\x88\x00"));
  peer.write(frame("", { opcode: 8 }));
  await peer.untilClosed();
});

Deno.test("Refusals are logged at a bounded rate", async () => {
  const logger = new RecordingLogger();
  const startMs = performance.now();
  const server = await SmcpServer.listen({ port: 0, logger });
  for (let i = 0; i < 30; i++) await exchange(server.port, { target: "/socket.io/?EIO=4&transport=polling" });
  await server.close();
  const written = logger.lines.filter(({ message }) => message === "refused a handshake").length;
  assert(written >= 20 && written <= 20 + (performance.now() - startMs) / 3_000, `${written} lines`);
  const leftOut = logger.lines.map(({ fields }) => Number(fields["lines_left_out"] ?? 0));
  assertEquals(written + leftOut.reduce((sum, count) => sum + count), 30);
});

async function closePeer(peer: RawPeer): Promise<boolean> {
  await peer[Symbol.asyncDispose]();
  return false;
}
