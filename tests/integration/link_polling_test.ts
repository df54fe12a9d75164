/** A WebSocket that does not open: the connection stays with polling, and its owner is told. */
import { assertEquals, assertMatch } from "@std/assert";
import { openConnection } from "../../src/link/connect.ts";
import { startDoor } from "../fixtures/door.ts";
import { FakeTimers } from "../fixtures/fake_timers.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { within } from "../fixtures/within.ts";

/** Connects, and joins by polling; resolves to why there is no WebSocket. */
async function joinByPolling(url: string, whileOpening: () => Promise<void>): Promise<string> {
  const told = Promise.withResolvers<string>();
  const connection = await openConnection({ url }, {
    onEvent: () => {},
    signal: new AbortController().signal,
    timeoutMs: 15_000,
    onNoWebSocket: told.resolve,
  });
  await whileOpening();
  const reason = await within(told.promise, "the reason");
  const member = { role: "agent", name: "ada", office_id: reason };
  assertEquals(await connection.request("server:join_office", member, 60_000), [true, null]);
  await connection.close();
  return reason;
}

Deno.test("a WebSocket that is refused leaves polling, and the reason is told", async () => {
  await using server = startDoor("server.ts", ["--port", "0"]);
  const target = await server.listening();
  await using front = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    if (request.headers.has("upgrade")) return new Response(null, { status: 403 });
    const { pathname, search } = new URL(request.url);
    const body = request.method === "POST" ? await request.text() : null;
    return await fetch(new URL(pathname + search, target), { method: request.method, body });
  });
  const url = `http://127.0.0.1:${front.addr.port}`;
  assertMatch(await joinByPolling(url, () => Promise.resolve()), /HTTP 403/);
});

Deno.test("a WebSocket that is never answered leaves polling after 10 seconds, and the reason is told", async () => {
  await using server = startDoor("server.ts", ["--port", "0"]);
  await using wire = new TcpProxy(Number(new URL(await server.listening()).port));
  const swallowed = wire.loseAnswerTo("pgrade: websocket");
  using clock = new FakeTimers();
  const reason = await joinByPolling(wire.url, async () => {
    await swallowed;
    clock.advance(10_000);
    clock[Symbol.dispose]();
  });
  assertMatch(reason, /no answer in 10 s/);
});
