import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { openLink } from "./_link_diary.ts";
import { within } from "../fixtures/within.ts";
import {
  ConnectionClosedError,
  JoinRefusedError,
  LeaveRefusedError,
  RequestTimeoutError,
} from "../../src/link/errors.ts";

const membership = { role: "agent", name: "ada", office_id: "lab" } as const;

Deno.test("a member joins again after a loss, with the same session", async () => {
  const joins: unknown[] = [];
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(body, ack) {
        joins.push(body);
        ack(true, null);
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  await within(diary.returned.promise, "the return of the link");
  assertEquals(joins, [membership, membership]);
  const sessions = server.connections.map(({ handshake }) => handshake.auth["session"]);
  assertEquals(sessions[0], sessions[1]);
});

Deno.test("a refused join rejects at once, in the Server's words", async () => {
  await using server = await BareServer.listen({
    handlers: { "server:join_office": (_body, ack) => ack(false, "office is closed") },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await assertRejects(() => link.join(membership), JoinRefusedError, "office is closed");
  assertEquals(link.membership, undefined);
});

Deno.test("a first join that is refused because the seat is taken is refused at once", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        joins++;
        ack(false, "Room already has an agent");
      },
    },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await assertRejects(() => link.join(membership), JoinRefusedError, "already has an agent");
  assertEquals(joins, 1);
});

for (
  const [why, refusal] of [
    ["the seat is taken", "Room already has an agent"],
    ["of a limit", 'Cannot join office "lab": too many offices on this Server, the limit is 1 (429)'],
  ] as const
) {
  Deno.test(`a join after a loss that is refused because ${why} is tried again`, async () => {
    let joins = 0;
    await using server = await BareServer.listen({
      handlers: {
        "server:join_office": (_body, ack) =>
          ++joins === 2 || joins === 3 ? ack(false, refusal) : ack(true, null),
      },
    });
    const { link, diary } = await openLink(server);
    await using _ = link;
    await link.join(membership);
    await server.cut(1);
    await within(diary.returned.promise, "the return of the link");
    assertEquals(joins, 4);
  });
}

Deno.test("a join that is not answered ends in time", async () => {
  await using server = await BareServer.listen({ handlers: { "server:join_office": () => {} } });
  const { link } = await openLink(server);
  await using _ = link;
  await assertRejects(() => link.join(membership, { timeoutMs: 50 }), RequestTimeoutError, "lab");
});

Deno.test("a join refused because the seat is taken is final once patience is over", async () => {
  await using server = await BareServer.listen({
    handlers: { "server:join_office": (_body, ack) => ack({ code: 4101, message: "Room Full" }) },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await assertRejects(() => link.join(membership, { patienceMs: 300 }), JoinRefusedError, "Room Full");
});

Deno.test("a join that waits for a taken seat ends when it is aborted, and when the link is closed", async () => {
  const refused = Promise.withResolvers<void>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        ack(false, "Room already has an agent");
        refused.resolve();
      },
    },
  });
  const { link } = await openLink(server);
  await using _ = link;
  const controller = new AbortController();
  const reason = new TypeError("enough");
  const aborted = assertRejects(() =>
    link.join(membership, { signal: controller.signal, patienceMs: 60_000 })
  );
  await within(refused.promise, "the refusal");
  controller.abort(reason);
  assertEquals(await aborted, reason);
  const closed = assertRejects(
    () => link.join(membership, { signal: new AbortController().signal, patienceMs: 60_000 }),
    ConnectionClosedError,
  );
  await link.close();
  await closed;
});

Deno.test("a join goes on when the connection is lost before its answer", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        if (++joins === 1) void server.cut(1);
        else ack(true, null);
      },
    },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  assertEquals(server.connections.length, 2);
});

Deno.test("a member that may not come back fails for good, and so do its requests", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": (_body, ack) => ++joins === 1 ? ack(true, null) : ack(false, "banned"),
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  assertStringIncludes((await diary.failed.promise).message, "banned");
  await assertRejects(() => link.request("client:x", {}, { timeoutMs: 5_000 }), JoinRefusedError, "banned");
});

Deno.test("a member that left is not brought back", async () => {
  const events: string[] = [];
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        events.push("join");
        ack(true, null);
      },
      "server:leave_office"(body, ack) {
        events.push(`leave ${JSON.stringify(body)}`);
        ack();
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await link.leave();
  await link.leave();
  await server.cut(1);
  await within(diary.returned.promise, "the return of the link");
  assertEquals(events, ["join", `leave {"office_id":"lab"}`]);
});

Deno.test("a member that leaves while the connection is lost has left", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        joins++;
        ack(true, null);
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  await within(diary.firstLoss.promise, "the loss of the connection");
  await link.leave();
  await within(diary.returned.promise, "the return of the link");
  assertEquals(joins, 1);
});

Deno.test("a refused leave rejects in the Server's words", async () => {
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office": acceptJoin,
      "server:leave_office": (_body, ack) => ack({ code: 403, message: "Not yours" }),
    },
  });
  const { link } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await assertRejects(() => link.leave(), LeaveRefusedError, "Not yours");
});

Deno.test("a member that is cut off while it joins again goes on trying", async () => {
  let joins = 0;
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        if (++joins === 2) void server.cut(2);
        else ack(true, null);
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  await within(diary.returned.promise, "the return of the link");
  assertEquals([joins, server.connections.length, diary.lost.length], [3, 3, 1]);
});

Deno.test("a member that leaves while it is joining again is taken out", async () => {
  let joins = 0;
  const rejoining = Promise.withResolvers<() => void>();
  const left = Promise.withResolvers<unknown>();
  await using server = await BareServer.listen({
    handlers: {
      "server:join_office"(_body, ack) {
        if (++joins === 1) ack(true, null);
        else rejoining.resolve(() => ack(true, null));
      },
      "server:leave_office"(body, ack) {
        left.resolve(body);
        ack(true, null);
      },
    },
  });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  const accept = await within(rejoining.promise, "the second join");
  await link.leave();
  accept();
  assertEquals(await left.promise, { office_id: "lab" });
  await within(diary.returned.promise, "the return of the link");
  assertEquals(link.membership, undefined);
});

Deno.test("notifications reach the owner on the next connection, too", async () => {
  await using server = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  const { link, diary } = await openLink(server);
  await using _ = link;
  await link.join(membership);
  await server.cut(1);
  await within(diary.returned.promise, "the return of the link");
  (await server.connection(2)).emit("notify:x", { a: 1 });
  await within(diary.firstEvent.promise, "the event");
  assertEquals(diary.events.map(({ event, body }) => [event, body]), [["notify:x", { a: 1 }]]);
});
