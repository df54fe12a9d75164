// What the port answers in Engine.IO's own protocol, byte for byte where clients of other languages read it.

import { assert, assertEquals, assertMatch } from "@std/assert";
import { gunzipSync } from "node:zlib";
import { SmcpServer } from "../../server.ts";
import {
  exchange,
  frame,
  joinByPolling,
  openPolling,
  openWebSocket,
  POLLING,
  post,
  type RawAnswer,
  RawConnection,
  type RawRequest,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "../attacks/_raw_http.ts";
import { within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const VERSION = "a2c_version=0.2.0";
/** The frame of a ping of Engine.IO. */
const PING = "\x81\x012";

/** The body without the marks of its chunks. */
function bodyOf({ head, body }: RawAnswer): string {
  if (!/transfer-encoding: chunked/i.test(head)) return body;
  let whole = "";
  for (let rest = body; rest !== "";) {
    const [line = "", size = "0"] = /^([0-9a-f]+)\r\n/.exec(rest) ?? [];
    const end = line.length + parseInt(size, 16);
    whole += rest.slice(line.length, end);
    if (line === "" || size === "0") break;
    rest = rest.slice(end + 2);
  }
  return whole;
}

function headerOf({ head }: RawAnswer, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
}

Deno.test("a request that Engine.IO cannot read is answered 400 with its code and message", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const [unknown, session, method, request, version] = [
    { code: 0, message: "Transport unknown" },
    { code: 1, message: "Session ID unknown" },
    { code: 2, message: "Bad handshake method" },
    { code: 3, message: "Bad request" },
    { code: 5, message: "Unsupported protocol version" },
  ];
  const polled = `${POLLING}&sid=${await openPolling(server.port)}`;
  const cases: readonly [RawRequest, unknown][] = [
    [{ target: `/socket.io/?EIO=4&transport=bogus&${VERSION}` }, unknown],
    [{ target: `/socket.io/?EIO=4&${VERSION}` }, unknown],
    [{ target: `${POLLING}&sid=nobody` }, session],
    [post(`${POLLING}&sid=nobody`, "3"), session],
    [post(POLLING, "40"), method],
    [{ method: "PUT", target: POLLING }, method],
    [{ method: "DELETE", target: POLLING }, method],
    [{ target: WEBSOCKET }, request],
    [{ target: polled.replace("polling", "websocket") }, request],
    [{ target: `/socket.io/?EIO=3&transport=polling&${VERSION}` }, version],
    [{ target: `/socket.io/?transport=polling&${VERSION}` }, version],
  ];
  for (const [asked, expected] of cases) {
    const answer = await exchange(server.port, asked);
    assertEquals(answer.status, 400, JSON.stringify(asked));
    assertEquals(headerOf(answer, "content-type"), "application/json");
    assertEquals(JSON.parse(bodyOf(answer)), expected);
  }
});

Deno.test("an upgrade that Engine.IO cannot read is answered over HTTP before any frame", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const cases = [
    {
      target: `${WEBSOCKET}&sid=nobody`,
      headers: UPGRADE_HEADERS,
      expected: /^HTTP\/1\.1 400 .*Session ID unknown$/s,
    },
    {
      target: WEBSOCKET,
      headers: { ...UPGRADE_HEADERS, "Sec-WebSocket-Key": "short" },
      expected: /^HTTP\/1\.1 400 .*Sec-WebSocket-Key/s,
    },
  ];
  for (const { target, headers, expected } of cases) {
    await using connection = new RawConnection(server.port);
    connection.write(toText(server.port, { target, headers }));
    await connection.untilClosed();
    assertMatch(connection.received, expected);
  }
});

Deno.test("a polling session begins, sends, receives and ends with the packets and headers of Engine.IO 4", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const ask = (request: RawRequest) => exchange(server.port, request);
  const opened = await ask({ target: POLLING });
  assertEquals(headerOf(opened, "content-type"), "text/plain; charset=UTF-8");
  assertEquals(headerOf(opened, "cache-control"), "no-store");
  const { sid, ...handshake } = JSON.parse(opened.body.slice(1));
  assertEquals(opened.body[0], "0");
  assertMatch(sid, /^[\w-]{20}$/);
  assertEquals(handshake, {
    upgrades: ["websocket"],
    pingInterval: 25_000,
    pingTimeout: 20_000,
    maxPayload: 16 * 1024 * 1024,
  });
  const target = `${POLLING}&sid=${sid}`;
  const sent = await ask(post(target, "40/smcp,", { "Content-Type": "text/plain;charset=UTF-8" }));
  assertEquals([sent.status, sent.body, headerOf(sent, "content-type")], [200, "ok", "text/html"]);
  assertMatch((await ask({ target })).body, /^40\/smcp,\{"sid":"[\w-]{20}"\}$/);
  // A close packet ends the session.
  assertEquals((await ask(post(target, "1"))).body, "ok");
  assertEquals(JSON.parse(bodyOf(await ask({ target }))), { code: 1, message: "Session ID unknown" });
});

Deno.test("a polling session ends at a packet that is none, at a second GET at the same time, and at bytes", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const ask = (request: RawRequest) => exchange(server.port, request);
  const open = async () => `${POLLING}&sid=${await openPolling(server.port)}`;
  const unknown = { code: 1, message: "Session ID unknown" };

  const garbled = await open();
  assertEquals((await ask(post(garbled, "x"))).body, "ok");
  assertEquals(JSON.parse(bodyOf(await ask({ target: garbled }))), unknown);

  const overlapped = await open();
  await using first = new RawConnection(server.port);
  first.write(toText(server.port, { target: overlapped }));
  // The Server has read the first when it has answered a later request of the same connection's peer.
  await ask({ target: "/" });
  const statuses = await Promise.all([ask({ target: overlapped }), ask({ target: overlapped })]);
  assert(statuses.some(({ status }) => status === 400));
  await first.untilClosed();
  assertEquals(JSON.parse(bodyOf(await ask({ target: overlapped }))), unknown);

  const binary = await ask(post(await open(), "40/smcp,", { "Content-Type": "application/octet-stream" }));
  assertEquals(binary.status, 400);
});

Deno.test("a preflight of an allowed page is answered 204 with what it asked for, and each answer names its origin", async () => {
  await using server = await SmcpServer.listen({ port: 0, allowedOrigins: ["https://page.example"] });
  const origin = { Origin: "https://page.example" };
  const asked = {
    ...origin,
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": "content-type",
  };
  const preflight = await exchange(server.port, { method: "OPTIONS", target: POLLING, headers: asked });
  assertEquals(preflight.status, 204);
  assertEquals(headerOf(preflight, "access-control-allow-origin"), "https://page.example");
  assertEquals(headerOf(preflight, "access-control-allow-headers"), "content-type");
  assertMatch(headerOf(preflight, "access-control-allow-methods") ?? "", /POST/);
  assertEquals(headerOf(preflight, "vary"), "Origin, Access-Control-Request-Headers");
  const opened = await exchange(server.port, { target: POLLING, headers: origin });
  assertEquals(headerOf(opened, "access-control-allow-origin"), "https://page.example");
  assertEquals(headerOf(opened, "vary"), "Origin");
});

Deno.test("a long polling answer is compressed for a client that reads gzip, a short one is not", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = `${POLLING}&sid=${await openPolling(server.port)}`;
  const headers = { "Accept-Encoding": "gzip" };
  const poll = () => exchange(server.port, { target, headers });
  await exchange(server.port, post(target, "40/smcp,"));
  assertEquals(headerOf(await poll(), "content-encoding"), undefined);
  const join = { role: "computer", name: "n".repeat(128), office_id: "o".repeat(128) };
  await exchange(server.port, post(target, `42/smcp,0["server:join_office",${JSON.stringify(join)}]`));
  assertEquals((await poll()).body, "43/smcp,0[true,null]");
  const rooms = Array.from(
    { length: 16 },
    (_, id) =>
      `42/smcp,${id}["server:list_room",${
        JSON.stringify({ agent: "a", req_id: `r${id}`, office_id: join.office_id })
      }]`,
  );
  await exchange(server.port, post(target, rooms.join("\x1e")));
  const answer = await poll();
  assertEquals(headerOf(answer, "content-encoding"), "gzip");
  const text = gunzipSync(Uint8Array.from(bodyOf(answer), (unit) => unit.charCodeAt(0))).toString();
  assertMatch(text, /^43\/smcp,0\[\{"sessions":/);
});

Deno.test("a session moves from polling to a websocket after a probe, and its poll ends with a noop", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  const target = `${POLLING}&sid=${sid}`;
  await exchange(server.port, post(target, "40/smcp,"));
  assertMatch((await exchange(server.port, { target })).body, /^40\/smcp,/);
  const waiting = exchange(server.port, { target });
  await using upgraded = new RawConnection(server.port);
  upgraded.write(toText(server.port, { target: `${WEBSOCKET}&sid=${sid}`, headers: UPGRADE_HEADERS }));
  await upgraded.until("websocket", (text) => text.includes("101 "));
  upgraded.write(frame("2probe"));
  await upgraded.until("the answer to the probe", (text) => text.includes("3probe"));
  assertEquals((await within(waiting, "the end of the poll")).body, "6");
  upgraded.write(frame("5"));
  upgraded.write(frame('42/smcp,7["server:leave_office",{"office_id":"lab"}]'));
  await upgraded.until("an answer over the websocket", (text) => text.includes("43/smcp,7["));
  assertEquals((await exchange(server.port, { target })).status, 400);
});

Deno.test("the Server pings a session again once it has answered", async () => {
  await using server = await SmcpServer.listen({ port: 0, pingIntervalMs: 50 });
  await using alive = await openWebSocket(server.port);
  alive.write(frame("40/smcp,"));
  await alive.until("a ping", (text) => text.includes(PING));
  alive.write(frame("3"));
  await alive.until("a further ping", (text) => text.split(PING).length === 3);
});

Deno.test("the Server ends a session that does not answer its ping", async () => {
  await using server = await SmcpServer.listen({ port: 0, pingIntervalMs: 50, pingTimeoutMs: 50 });
  await using silent = await openWebSocket(server.port);
  silent.write(frame("40/smcp,"));
  await silent.untilClosed();
  assertEquals(silent.received.split(PING).length - 1, 1);
});

Deno.test(
  "requests reach a Computer in their order, once each, while it moves from polling to a websocket",
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using agent = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
    await using computer = await RawPeer.connect(server.url, { transports: ["polling", "websocket"] });
    const count = 200;
    const received: number[] = [];
    computer.serve("client:tool_call", (body) => {
      received.push(Number((body as { req_id: string }).req_id));
      return [{ content: [], isError: false }];
    });
    await computer.request("server:join_office", { role: "computer", name: "laptop", office_id: "lab" });
    const { engine } = computer.socket.io;
    const call = { agent: "ada", computer: "laptop", tool_name: "echo", params: {}, timeout: 60 };
    // A few at a time, before and behind the upgrade.
    for (let id = 0; id < count || engine.transport.name !== "websocket";) {
      const asked = Array.from(
        { length: 10 },
        () => agent.request("client:tool_call", { ...call, req_id: String(id++) }),
      );
      await Promise.all(asked);
    }
    assertEquals(received, received.map((_, index) => index));
  },
);

Deno.test("a Server that shuts down tells a member that polls, and then the end in an answer of its own", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = await joinByPolling(server.port);
  const drained = server.drain({ timeoutMs: 10_000 });
  const answers: string[] = [];
  while (answers.at(-1) !== "1") answers.push((await exchange(server.port, { target })).body);
  await within(drained, "the end of the Server");
  assertEquals(answers.length, 2);
  assertMatch(answers[0] ?? "", /^42\/smcp,\["notify:connection_closing",\{[^{}]*\}\]$/);
});

Deno.test("a body that is too large is answered 413 with the limit, and its member goes on", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: 100_000 });
  const target = await joinByPolling(server.port);
  const answer = await exchange(server.port, post(target, "4".repeat(100_001)));
  assertEquals([answer.status, JSON.parse(answer.body).details], [413, { size: 100_001, limit: 100_000 }]);
  assertEquals((await exchange(server.port, post(target, '42/smcp,1["server:leave_office",{}]'))).body, "ok");
  assertMatch((await exchange(server.port, { target })).body, /43\/smcp,1\[/);
});

Deno.test("a client may ask again over the same connection as soon as it has read an answer", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = `${POLLING}&sid=${await openPolling(server.port)}`;
  await exchange(server.port, post(target, "40/smcp,"));
  await using connection = new RawConnection(server.port);
  const headers = { Connection: "keep-alive" };
  for (let count = 1; count <= 50; count++) {
    const event = `42/smcp,${count}["server:leave_office",{"office_id":"lab"}]`;
    connection.write(toText(server.port, { ...post(target, event), headers }));
    await connection.until(
      `the answer to request ${count}`,
      (text) => text.split("\r\n\r\nok").length > count,
    );
  }
});

Deno.test("an answer is compressed only for a client that accepts gzip", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const cases: readonly (readonly [string, boolean])[] = [
    ["gzip", true],
    ["br, GZIP;q=0.5", true],
    ["gzip;q=0 , identity", false],
    ["gzip;q=0.0", false],
    ["not-gzip", false],
    ["identity", false],
  ];
  for (const [accepted, expected] of cases) {
    const target = `${POLLING}&sid=${await openPolling(server.port)}`;
    await exchange(server.port, post(target, "40/smcp,"));
    await exchange(server.port, { target });
    const rooms = Array.from(
      { length: 12 },
      (_, id) => `42/smcp,${id}["server:list_room",{"office_id":"lab"}]`,
    );
    await exchange(server.port, post(target, rooms.join("\x1e")));
    const answer = await exchange(server.port, { target, headers: { "Accept-Encoding": accepted } });
    assertEquals(headerOf(answer, "content-encoding") === "gzip", expected, accepted);
  }
});
