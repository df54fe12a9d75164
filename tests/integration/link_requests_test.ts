import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Link, type LinkListener } from "../../src/link/link.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { Diary, openLink } from "./_link_diary.ts";
import { ConnectionClosedError, mayHaveRun, RequestTimeoutError } from "../../src/link/errors.ts";
import { within } from "../fixtures/within.ts";

const membership = { role: "agent", name: "ada", office_id: "lab" } as const;

Deno.test("a request resolves to all arguments of its ack", async () => {
  await using server = await BareServer.listen({
    handlers: { "server:x": (body, ack) => ack(body, null, "more") },
  });
  const { link } = await openLink(server);
  await using _ = link;
  assertEquals(await link.request("server:x", { a: 1 }, { timeoutMs: 5_000 }), [{ a: 1 }, null, "more"]);
  assertEquals(link.isConnected, true);
});

Deno.test("the handshake carries version, credentials, headers and a session", async () => {
  await using server = await BareServer.listen();
  const { link } = await openLink(server, { auth: { token: "t" }, headers: { "x-api-key": "k" } });
  await using _ = link;
  const { handshake } = await server.connection(1);
  assertEquals([handshake.query["a2c_version"], handshake.auth["token"], handshake.headers["x-api-key"]], [
    "0.2.0",
    "t",
    "k",
  ]);
  assertEquals(typeof handshake.auth["session"], "string");
});

Deno.test("a request that nobody answers rejects after its time", async () => {
  await using server = await BareServer.listen();
  const { link } = await openLink(server);
  await using _ = link;
  await assertRejects(() => link.request("client:x", {}, { timeoutMs: 50 }), RequestTimeoutError, "50 ms");
});

Deno.test("a request right after a sleep that has ended the connection is sent on the next one", async () => {
  await using server = await BareServer.listen({ handlers: { "client:x": (_body, ack) => ack("here") } });
  const { link } = await openLink(server);
  await using _ = link;
  const { now } = Date;
  using _clock = { [Symbol.dispose]: () => void (Date.now = now) };
  Date.now = () => now() + 3_600_000;
  const answer = link.request("client:x", {}, { timeoutMs: 600_000 });
  assertEquals(await within(answer, "the answer"), ["here"]);
});

Deno.test("what was asked in an office rejects when that is left, since the Server says no more", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "server:leave_office": acceptJoin,
      "client:x": () => asked.resolve(),
      "client:y": (_body, ack) => ack("here"),
    },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  const refused = assertRejects(() => link.request("client:x", {}, { timeoutMs: 60_000 }), SmcpError, "lab");
  await within(asked.promise, "the request");
  await link.leave();
  assertEquals((await refused).code, 4103);
  await link.join(membership);
  assertEquals(await link.request("client:y", {}, { timeoutMs: 60_000 }), ["here"]);
});

Deno.test("a request that is aborted rejects with the signal's reason", async () => {
  const controller = new AbortController();
  const reason = new TypeError("changed my mind");
  await using server = await BareServer.listen({
    handlers: { "client:x": () => controller.abort(reason) },
  });
  const { link } = await openLink(server);
  await using _ = link;
  const options = { timeoutMs: 60_000, signal: controller.signal };
  assertEquals(await assertRejects(() => link.request("client:x", {}, options)), reason);
  assertEquals(await assertRejects(() => link.request("client:x", {}, options)), reason);
});

Deno.test("a message over the Server's limit fails here, and the connection stays", async () => {
  await using server = await BareServer.listen({
    maxHttpBufferSize: 10_000,
    handlers: { "client:x": (_body, ack) => ack("small") },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  const big = { text: "ä".repeat(6_000) };
  const error = await assertRejects(() => link.request("client:x", big, { timeoutMs: 5_000 }), SmcpError);
  assertEquals([error.code, error.details?.["limit"]], [413, 10_000]);
  assertEquals(assertThrows(() => link.emit("client:x", big), SmcpError).code, 413);
  assertEquals(await link.request("client:x", {}, { timeoutMs: 5_000 }), ["small"]);
  assertEquals(diary.lost, []);
});

Deno.test("an answer over the Server's limit can be replaced by a smaller one", async () => {
  await using server = await BareServer.listen({ maxHttpBufferSize: 10_000 });
  const { link, diary } = await openLink(server);
  await using _ = link;
  const asked = (await server.connection(1)).timeout(5_000).emitWithAck("client:x", { a: 1 });
  const { event, body, reply } = await within(diary.firstEvent.promise, "the event");
  assertEquals([event, body], ["client:x", { a: 1 }]);
  const error = assertThrows(() => reply?.({ text: "x".repeat(20_000) }), SmcpError);
  assertEquals(error.code, 413);
  reply?.({ code: 413 });
  assertEquals(await asked, { code: 413 });
});

Deno.test("an event that asks for no answer has no reply", async () => {
  await using server = await BareServer.listen();
  const { link, diary } = await openLink(server);
  await using _ = link;
  (await server.connection(1)).emit("notify:x", { a: 1 });
  assertEquals((await diary.firstEvent.promise).reply, undefined);
});

Deno.test("a request in flight rejects at once when the connection is lost, and is not sent twice", async () => {
  let requests = 0;
  await using server = await BareServer.listen({
    handlers: {
      "client:x"() {
        requests++;
        void server.cut(1);
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await assertRejects(
    () => link.request("client:x", {}, { timeoutMs: 60_000 }),
    ConnectionClosedError,
    "lost",
  );
  await within(diary.returned.promise, "the return of the link");
  assertEquals([requests, diary.lost.length], [1, 1]);
});

Deno.test("a request that cannot be written as JSON rejects, and the end of its connection harms nobody", async () => {
  await using server = await BareServer.listen({ handlers: { "client:x": (_body, ack) => ack("fine") } });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await assertRejects(
    () => link.request("client:x", { id: 10n }, { timeoutMs: 60_000 }),
    TypeError,
    "BigInt",
  );
  await server.cut(1);
  await within(diary.returned.promise, "the return of the link");
  assertEquals(await link.request("client:x", {}, { timeoutMs: 60_000 }), ["fine"]);
});

Deno.test("a request made while the connection is lost waits and goes out on the next one", async () => {
  await using server = await BareServer.listen({ handlers: { "client:x": (_body, ack) => ack("late") } });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await server.cut(1);
  await within(diary.firstLoss.promise, "the loss of the connection");
  assertEquals(link.isConnected, false);
  assertEquals(await link.request("client:x", {}, { timeoutMs: 10_000 }), ["late"]);
});

Deno.test("a request that waits for the connection is not sent once the office is left", async () => {
  let requests = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "client:x": () => void requests++,
      "client:y": (_body, ack) => ack("here"),
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  await within(diary.firstLoss.promise, "the loss of the connection");
  const waiting = assertRejects(() => link.request("client:x", {}, { timeoutMs: 60_000 }), SmcpError, "lab");
  await link.leave();
  assertEquals((await waiting).code, 4103);
  await within(diary.returned.promise, "the return of the link");
  assertEquals(await link.request("client:y", {}, { timeoutMs: 60_000 }), ["here"]);
  assertEquals(requests, 0);
});

Deno.test("a request that found no connection in its time has reached nobody", async () => {
  await using server = await BareServer.listen({ handlers: {} });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await server.close();
  await within(diary.firstLoss.promise, "the loss of the connection");
  const late = await assertRejects(
    () => link.request("client:x", {}, { timeoutMs: 1 }),
    RequestTimeoutError,
    "no connection in 1 ms",
  );
  assertEquals([late.isUnsent, mayHaveRun(late)], [true, false]);
});

Deno.test("closing twice is fine, ends what is in flight, and lets nothing more out", async () => {
  const asked = Promise.withResolvers<void>();
  await using server = await BareServer.listen({ handlers: { "client:x": () => asked.resolve() } });
  const { link, diary } = await openLink(server);
  const inFlight = assertRejects(
    () => link.request("client:x", {}, { timeoutMs: 60_000 }),
    ConnectionClosedError,
  );
  await within(asked.promise, "the request");
  await Promise.all([link.close(), link.close()]);
  assertEquals([(await inFlight).isPermanent, mayHaveRun(await inFlight)], [false, true]);
  const later = await assertRejects(
    () => link.request("client:x", {}, { timeoutMs: 60_000 }),
    ConnectionClosedError,
    "was closed",
  );
  assertEquals([later.isPermanent, mayHaveRun(later)], [true, false]);
  await assertRejects(() => link.join(membership), ConnectionClosedError);
  assertEquals(diary.lost, []);
});

Deno.test("closing sends first what was emitted before", async () => {
  const received = Promise.withResolvers<unknown>();
  await using server = await BareServer.listen({
    handlers: { "server:x": (body) => received.resolve(body) },
  });
  const { link } = await openLink(server);
  link.emit("server:x", { text: "x".repeat(100_000) });
  await link.close();
  await within(received.promise, "what was emitted");
});

Deno.test("a listener that throws does not end the link", async () => {
  await using server = await BareServer.listen({ handlers: { "server:x": (_body, ack) => ack("fine") } });
  const fail = () => {
    throw new TypeError("listener");
  };
  const listener: LinkListener = { onEvent: fail, onLost: fail, onReturned: fail, onFailed: fail };
  await using link = await Link.open({ url: server.url }, { listener });
  (await server.connection(1)).emit("notify:x", {});
  assertEquals(await link.request("server:x", {}, { timeoutMs: 5_000 }), ["fine"]);
  await server.cut(1);
  await server.connection(2);
  assertEquals(await link.request("server:x", {}, { timeoutMs: 5_000 }), ["fine"]);
});

Deno.test("a URL that is none is the caller's mistake", async () => {
  await assertRejects(() => Link.open({ url: "nowhere" }, { listener: new Diary() }), TypeError);
});
