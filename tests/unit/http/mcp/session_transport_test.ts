import { assertEquals, assertMatch } from "@std/assert";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { whenDone } from "../../../../src/http/mcp/answers.ts";
import { SessionTransport } from "../../../../src/http/mcp/session_transport.ts";

const BOTH = { json: true, events: true };
const JSON_ALONE = { json: true, events: false };
const EVENTS_ALONE = { json: false, events: true };
const JSON_TYPE = "application/json";
const EVENTS_TYPE = "text/event-stream";
const HELLO = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const PROGRESS = { jsonrpc: "2.0" as const, method: "notifications/progress", params: { progress: 1 } };

const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
const pong = (id: number) => ({ jsonrpc: "2.0" as const, id, result: {} });
const event = (message: object) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;

interface Asked {
  readonly method?: string;
  readonly forms?: typeof BOTH | undefined;
  readonly headers?: HeadersInit;
  readonly gone?: AbortSignal;
  readonly until?: AbortSignal;
}

/** A session whose server answers `initialize` and what a test tells it to. */
class Session {
  readonly transport = new SessionTransport("s1");
  readonly seen: JSONRPCMessage[] = [];

  static async begin(): Promise<Session> {
    const session = new Session();
    session.transport.onmessage = (message) => void session.seen.push(message);
    const hello = session.ask(HELLO);
    await session.transport.send(pong(0));
    assertEquals((await hello).session, "s1");
    return session;
  }

  async ask(body: unknown, asked: Asked = {}) {
    const { method = "POST", headers = {}, gone = new AbortController().signal, until } = asked;
    const request = new Request("http://a/mcp", { method, headers, signal: gone });
    const forms = "forms" in asked ? asked.forms : BOTH;
    using ending = new DisposableStack();
    const admitted = { request, body, sizeBytes: 0, forms, until, ending };
    const response = whenDone(await this.transport.handle(admitted), () => undefined, { until });
    const { status, headers: told } = response;
    const [type, session] = [told.get("content-type"), told.get("mcp-session-id")];
    return { status, type, session, text: () => response.text() };
  }

  async tell(...messages: readonly (readonly [JSONRPCMessage, relatedRequestId?: number])[]): Promise<void> {
    for (const [message, relatedRequestId] of messages) {
      await this.transport.send(message, relatedRequestId === undefined ? {} : { relatedRequestId });
    }
  }
}

/** What is sent, the forms that the client takes, and the answer. */
const ANSWERS = {
  "a result alone is JSON": [[[pong(1)]], BOTH, JSON_TYPE, JSON.stringify(pong(1))],
  "a result after progress is an event": [
    [[PROGRESS, 1], [pong(1)]],
    BOTH,
    EVENTS_TYPE,
    event(PROGRESS) + event(pong(1)),
  ],
  "a client of JSON alone gets no progress": [
    [[PROGRESS, 1], [pong(1)]],
    JSON_ALONE,
    JSON_TYPE,
    JSON.stringify(pong(1)),
  ],
  "a client of events alone gets events": [[[pong(1)]], EVENTS_ALONE, EVENTS_TYPE, event(pong(1))],
} as const;

for (const [name, [messages, forms, type, text]] of Object.entries(ANSWERS)) {
  Deno.test(`SessionTransport: ${name}`, async () => {
    const session = await Session.begin();
    const asking = session.ask(ping(1), { forms });
    await session.tell(...messages);
    const answer = await asking;
    assertEquals([answer.status, answer.type, answer.session], [200, type, "s1"]);
    assertEquals(await answer.text(), text);
  });
}

Deno.test("SessionTransport answers a batch by a list, or by events as they come", async () => {
  const session = await Session.begin();
  const batch = [ping(1), { jsonrpc: "2.0", method: "notifications/x" }, ping(2)];
  const list = session.ask(batch, { forms: JSON_ALONE });
  await session.tell([pong(2)], [pong(1)]);
  assertEquals(JSON.parse(await (await list).text()), [pong(2), pong(1)]);
  const events = session.ask(batch);
  await session.tell([pong(2)], [pong(1)]);
  assertEquals(await (await events).text(), event(pong(2)) + event(pong(1)));
  assertEquals((await session.ask(batch.slice(1, 2))).status, 202);
});

Deno.test("SessionTransport has one stream for what nobody has asked for", async () => {
  const session = await Session.begin();
  const stream = await session.ask(undefined, { method: "GET", forms: EVENTS_ALONE });
  assertEquals((await session.ask(undefined, { method: "GET", forms: EVENTS_ALONE })).status, 409);
  await session.tell([PROGRESS]);
  session.transport.beat();
  assertEquals((await session.ask(undefined, { method: "DELETE" })).status, 200);
  assertEquals(await stream.text(), `${event(PROGRESS)}: keepalive\n\n`);
  assertEquals((await session.ask(ping(1))).status, 404);
});

Deno.test("SessionTransport begins an answer that takes long by a sign of life", async () => {
  const session = await Session.begin();
  const asking = session.ask(ping(1));
  session.transport.beat();
  session.transport.beat();
  await session.tell([pong(1)]);
  assertEquals(await (await asking).text(), `: keepalive\n\n${event(pong(1))}`);
});

for (const who of ["gone", "until"] as const) {
  Deno.test(`SessionTransport ends an answer that its client does not wait for: ${who}`, async () => {
    const session = await Session.begin();
    const ending = new AbortController();
    const asking = session.ask(ping(1), { [who]: ending.signal });
    ending.abort();
    assertEquals(await (await asking).text(), "");
    await session.tell([pong(1)]);
  });
}

Deno.test("SessionTransport refuses what is no message, and a session that is not begun once", async () => {
  const fresh = new Session();
  assertMatch(await (await fresh.ask(ping(1))).text(), /initialize/);
  const session = await Session.begin();
  const many = Array.from({ length: 101 }, (_, id) => ping(id));
  const bodies: readonly unknown[] = [HELLO, [HELLO, ping(1)], many, {}, "x", null, [1]];
  for (const body of bodies) assertEquals((await session.ask(body)).status, 400);
  const headers = { "mcp-protocol-version": "1999-01-01" };
  assertEquals((await session.ask(ping(1), { headers })).status, 400);
  assertEquals((await session.ask(ping(1), { forms: undefined })).status, 406);
  assertEquals(session.seen.map((message) => "method" in message && message.method), ["initialize"]);
});

Deno.test("SessionTransport ends the answer of a request that is cancelled", async () => {
  const session = await Session.begin();
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  for (const [forms, status] of [[BOTH, 200], [JSON_ALONE, 404]] as const) {
    const asked = session.ask(ping(1), { forms });
    assertEquals((await session.ask(cancel)).status, 202);
    assertEquals((await asked).status, status);
  }
});

Deno.test("SessionTransport refuses the id of a request that has no answer yet", async () => {
  const session = await Session.begin();
  const first = session.ask(ping(1));
  assertEquals((await session.ask(ping(1))).status, 400);
  assertEquals((await session.ask([ping(2), ping(2)])).status, 400);
  await session.tell([pong(1)]);
  assertEquals((await first).status, 200);
});

Deno.test("SessionTransport answers a client of JSON alone by an error when its session ends", async () => {
  const session = await Session.begin();
  const asked = session.ask(ping(1), { forms: JSON_ALONE });
  await session.ask(undefined, { method: "DELETE" });
  const { status, type, text } = await asked;
  assertEquals([status, type], [404, JSON_TYPE]);
  assertMatch(await text(), /session .* has ended/);
});

Deno.test("SessionTransport begins no session by what it refuses", async () => {
  for (const [body, forms] of [[HELLO, undefined], [[HELLO, ping(1)], BOTH]] as const) {
    const transport = new SessionTransport("s1");
    const request = new Request("http://a/mcp", { method: "POST" });
    const ending = { defer: () => {} };
    const admitted = { request, body, sizeBytes: 0, forms, until: undefined, ending };
    assertEquals((await transport.handle(admitted)).ok, false);
    assertEquals(transport.sessionId, undefined);
  }
});
