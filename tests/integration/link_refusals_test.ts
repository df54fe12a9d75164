import { assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Link } from "../../src/link/link.ts";
import { ClosedPort, TcpProxy } from "../fixtures/tcp_proxy.ts";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { Diary, openLink } from "./_link_diary.ts";
import {
  AuthenticationError,
  ConnectionClosedError,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
} from "../../src/link/errors.ts";
import { within } from "../fixtures/within.ts";

const membership = { role: "agent", name: "ada", office_id: "lab" } as const;

Deno.test(
  "a request made while the connection is lost rejects after its time, or when it is aborted",
  async () => {
    const server = await BareServer.listen();
    const { link, diary } = await openLink(server);
    await using _ = link;
    await server.close();
    await within(diary.firstLoss.promise, "the loss of the connection");
    await assertRejects(
      () => link.request("client:x", {}, { timeoutMs: 20 }),
      RequestTimeoutError,
      "no connection",
    );
    const signal = AbortSignal.timeout(20);
    const error = await assertRejects(() => link.request("client:x", {}, { timeoutMs: 60_000, signal }));
    assertInstanceOf(error, DOMException);
    link.emit("server:x", {}); // dropped: it would tell of the past
  },
);

Deno.test("a member comes back to a Server that was started again on the same port", async () => {
  const first = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  // It keeps the port for the second Server: a free one may go to another test.
  await using wire = new TcpProxy(first.port);
  const { link, diary } = await openLink(wire);
  await using _ = link;
  await link.join(membership);
  await first.close();
  await within(diary.firstLoss.promise, "the loss of the connection");
  await using second = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  wire.restore(second.port);
  await within(diary.returned.promise, "the return of the link");
  assertEquals(second.connections.length, 1);
  assertEquals(link.membership, membership);
});

Deno.test("closing ends the attempts to come back", async () => {
  const server = await BareServer.listen();
  const { link, diary } = await openLink(server);
  await server.close();
  await within(diary.firstLoss.promise, "the loss of the connection");
  await link.close();
  await assertRejects(() => link.request("client:x", {}, { timeoutMs: 60_000 }), ConnectionClosedError);
});

Deno.test("a refused version is final and says what the Server speaks", async () => {
  let requests = 0;
  await using server = await BareServer.listen({
    intercept(_request, response) {
      requests++;
      response.writeHead(400, { "content-type": "application/json", "x-a2c-error-code": "4008" });
      response.end(JSON.stringify({
        code: 4008,
        message: "Protocol version mismatch",
        server_version: "0.4.0",
        client_version: "0.2.0",
        min_supported: "0.4.0",
        max_supported: "0.4.999",
      }));
      return true;
    },
  });
  const error = await assertRejects(() => openLink(server), ProtocolVersionError, "0.4.0");
  assertEquals([error.refusal.code, error.refusal.max_supported, requests], [4008, "0.4.999", 1]);
});

Deno.test("a version that the Server cannot read is final, too", async () => {
  await using server = await BareServer.listen({
    intercept(_request, response) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(`{"code":400,"message":"Invalid a2c_version: too new"}`);
      return true;
    },
  });
  await assertRejects(() => openLink(server), ProtocolVersionError, "too new");
});

Deno.test("an HTTP error of another kind is worth another try", async () => {
  let requests = 0;
  await using server = await BareServer.listen({
    intercept(_request, response) {
      if (++requests > 1) return false;
      response.writeHead(502);
      response.end("Bad gateway");
      return true;
    },
  });
  const { link } = await openLink(server);
  await link.close();
});

Deno.test("refused credentials are final, in the Server's words", async () => {
  await using server = await BareServer.listen({ admit: () => new TypeError("wrong token") });
  await assertRejects(() => openLink(server), AuthenticationError, "wrong token");
  assertEquals(server.connections.length, 0);
});

Deno.test("credentials that are refused later end a link that was fine", async () => {
  let connections = 0;
  await using server = await BareServer.listen({
    admit: () => ++connections === 1 ? undefined : new TypeError("token expired"),
  });
  const { link, diary } = await openLink(server);
  await server.cut(1);
  assertInstanceOf(await diary.failed.promise, AuthenticationError);
  await assertRejects(() => link.request("client:x", {}, { timeoutMs: 5_000 }), AuthenticationError);
  await link.close();
});

Deno.test("a link that the Server dismisses for good sends nothing more, and says so", async () => {
  await using server = await BareServer.listen();
  const { link, diary } = await openLink(server);
  await using _ = link;
  const socket = await server.connection(1);
  socket.emit("notify:connection_closing", { code: "other", message: "Moved", reconnect: false });
  socket.disconnect();
  await diary.failed.promise;
  const later = await assertRejects(
    () => link.request("client:x", {}, { timeoutMs: 5_000 }),
    ConnectionClosedError,
    "Moved",
  );
  assertEquals([later.isPermanent, later.isUnsent], [true, true]);
});

Deno.test("a Server that is not there is given up after the deadline", async () => {
  await using port = await ClosedPort.open();
  const { url } = port;
  const listener = new Diary();
  await assertRejects(() => Link.open({ url }, { listener, timeoutMs: 100 }), ServerUnreachableError, url);
});

Deno.test("a Server that never lets anybody in is given up after the deadline", async () => {
  await using server = await BareServer.listen({ admit: () => new Promise(() => {}) });
  const listener = new Diary();
  await assertRejects(
    () => Link.open({ url: server.url }, { listener, timeoutMs: 200 }),
    ServerUnreachableError,
    "timeout",
  );
});

Deno.test("connecting ends when it is aborted", async () => {
  await using server = await BareServer.listen({ admit: () => new Promise(() => {}) });
  const listener = new Diary();
  const reason = new TypeError("never mind");
  const controller = new AbortController();
  const opening = Link.open({ url: server.url }, { listener, signal: controller.signal });
  controller.abort(reason);
  assertEquals(await assertRejects(() => opening), reason);
  assertEquals(
    await assertRejects(() => Link.open({ url: server.url }, { listener, signal: controller.signal })),
    reason,
  );
});
