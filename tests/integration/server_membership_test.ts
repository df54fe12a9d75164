import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "./_socket.ts";

const JOIN = "server:join_office";
const LEAVE = "server:leave_office";
const LIST = "server:list_room";

const agent = (name: string, office: string) => ({ role: "agent" as const, name, office_id: office });
const computer = (name: string, office: string) => ({ role: "computer" as const, name, office_id: office });

// proves: data-enter-office-req, data-enter-notification
Deno.test("server:join_office acks (true, null) and tells the office with exactly one of computer and agent", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.connect(server.url);
  await using laptop = await RawPeer.connect(server.url);
  assertEquals(await ada.request(JOIN, agent("ada", "lab")), [true, null]);
  assertEquals(await laptop.request(JOIN, computer("laptop", "lab")), [true, null]);
  assertEquals(await ada.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
  assertEquals(await laptop.settled(), []);
  await using _phone = await RawPeer.join(server.url, computer("phone", "lab"));
  assertEquals(await laptop.next("notify:enter_office"), { office_id: "lab", computer: "phone" });
});

Deno.test("server:join_office tells Computers of an Agent that comes", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  await using _ada = await RawPeer.join(server.url, agent("ada", "lab"));
  assertEquals(await laptop.next("notify:enter_office"), { office_id: "lab", agent: "ada" });
});

Deno.test("server:join_office refuses malformed requests with (false, text) and changes nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await RawPeer.connect(server.url);
  const malformed: unknown[] = [
    null,
    "lab",
    7,
    [],
    {},
    { role: "boss", name: "n", office_id: "lab" },
    { role: "agent", office_id: "lab" },
    { role: "agent", name: 5, office_id: "lab" },
    { role: "agent", name: "", office_id: "lab" },
    { role: "agent", name: "a\nb", office_id: "lab" },
    { role: "agent", name: "n", office_id: "x".repeat(129) },
  ];
  for (const body of malformed) {
    const [accepted, text, ...rest] = await peer.request(JOIN, body);
    assertEquals([accepted, typeof text, rest], [false, "string", []]);
  }
  assertEquals((await peer.request(JOIN)).at(0), false);
  assertEquals((await peer.request(JOIN, agent("n", "lab"), agent("n", "lab"))).at(0), false);
  assertMatch(
    JSON.stringify(await peer.request(LEAVE, { office_id: "lab" })),
    /^\[false,".*not in an office \(4103\)"\]$/,
  );
});

Deno.test("server:join_office refuses a second Agent and a second Computer of the name", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using _ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  await using late = await RawPeer.connect(server.url);
  assertMatch(String((await late.request(JOIN, agent("bob", "lab")))[1]), /already has an agent/);
  assertMatch(String((await late.request(JOIN, computer("laptop", "lab")))[1]), /already exists/);
  assertEquals(await laptop.settled(), []);
  // A refused join does not listen in.
  await laptop.request("server:update_desktop", { computer: "laptop" });
  assertEquals(await late.settled(), []);
  // The name is free in another role and in another office.
  assertEquals(await late.request(JOIN, computer("ada", "lab")), [true, null]);
  assertEquals(await late.request(JOIN, computer("laptop", "den")), [true, null]);
});

Deno.test("server:join_office of the same office again is a silent success", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  await ada.next("notify:enter_office");
  assertEquals(await laptop.request(JOIN, computer("laptop", "lab")), [true, null]);
  assertEquals((await ada.settled()).length, 1);
});

Deno.test("server:join_office of a second office: a Computer leaves the first, an Agent is refused", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  assertEquals(await laptop.request(JOIN, computer("laptop", "den")), [true, null]);
  assertEquals(await ada.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
  const [accepted, text] = await ada.request(JOIN, agent("ada", "den"));
  assertEquals(accepted, false);
  assertMatch(String(text), /is in office "lab"/);
  assertEquals((await ada.request(LIST, { agent: "ada", req_id: "1", office_id: "lab" })).length, 1);
});

// proves: data-leave-office-req, data-leave-notification
Deno.test("server:leave_office acks (true, null), tells the office, and frees the name", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  assertEquals((await laptop.request(LEAVE, { office_id: "den" }))[0], false);
  assertEquals((await laptop.request(LEAVE, {}))[0], false);
  assertEquals(await laptop.request(LEAVE, { office_id: "lab" }), [true, null]);
  assertEquals(await ada.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
  assertEquals((await laptop.request(LEAVE, { office_id: "lab" }))[0], false);
  await using _second = await RawPeer.join(server.url, computer("laptop", "lab"));
  await ada.request(LEAVE, { office_id: "lab" });
  assertEquals(await laptop.settled(), []);
});

Deno.test("A lost connection is a leave", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  const ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await ada.cut();
  assertEquals(await laptop.next("notify:leave_office"), { office_id: "lab", agent: "ada" });
  await using _bob = await RawPeer.join(server.url, agent("bob", "lab"));
});

// proves: data-list-room-req, data-session-info, data-list-room-ret
Deno.test("server:list_room lists both roles to both roles", async () => {
  await using server = await SmcpServer.listen({ port: 0, allowUnversioned: true });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"), { version: null });
  await using _other = await RawPeer.join(server.url, computer("laptop", "den"));
  for (const peer of [ada, laptop]) {
    assertEquals(await peer.request(LIST, { agent: "ada", req_id: "r1", office_id: "lab" }), [{
      sessions: [
        { sid: ada.id, name: "ada", role: "agent", office_id: "lab", a2c_version: "0.2.0" },
        { sid: laptop.id, name: "laptop", role: "computer", office_id: "lab" },
      ],
      req_id: "r1",
    }]);
  }
});

Deno.test("server:list_room refuses in the order 400, 4103, 403", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await RawPeer.connect(server.url);
  const ask = async (body: unknown) => {
    const [answer] = await peer.request(LIST, body);
    return answer as { code: number; message: string; details?: unknown; error: unknown };
  };
  assertEquals((await ask({ agent: "a", office_id: "lab" })).details, { field: "req_id" });
  const { code, message, error } = await ask({ agent: "a", req_id: "1", office_id: "lab" });
  assertEquals({ code, error }, { code: 4103, error: { code, message } });
  await peer.request(JOIN, agent("ada", "den"));
  assertEquals((await ask({ agent: "a", req_id: "1", office_id: "lab" })).code, 403);
});

Deno.test("An office id that equals a socket id reaches nobody but that office", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using victim = await RawPeer.join(server.url, computer("victim", "lab"));
  await using sly = await RawPeer.join(server.url, computer("sly", victim.id));
  await using friend = await RawPeer.join(server.url, agent("friend", victim.id));
  await sly.request("server:update_config", { computer: "sly" });
  assertEquals(await friend.next("notify:update_config"), { computer: "sly" });
  assertEquals(await victim.settled(), []);
});

Deno.test("One office holds one MAJOR.MINOR, and peers without a version join any", async () => {
  await using server = await SmcpServer.listen({ port: 0, allowUnversioned: true });
  await using _old = await RawPeer.join(server.url, computer("old", "lab"), { version: null });
  await using _ada = await RawPeer.join(server.url, agent("ada", "lab"), { version: "0.2.7" });
  await using newer = await RawPeer.connect(server.url, { version: "0.4.0" });
  const [accepted, text] = await newer.request(JOIN, computer("newer", "lab"));
  assertEquals(accepted, false);
  assertMatch(String(text), /4008/);
  assertEquals(await newer.request(JOIN, computer("newer", "den")), [true, null]);
  await using _peer = await RawPeer.join(server.url, computer("peer", "lab"), { version: "0.2.0" });
});

Deno.test("A peer gets errors without the id of its request, from 0.3 on in the codes that it knows", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const body = { agent: "ada", req_id: "1", computer: "laptop" };
  const members = async (version: string) => {
    await using ada = await RawPeer.connect(server.url, { version });
    const [answer] = await ada.request("client:get_tools", body);
    const { code, req_id, error } = answer as { code: number; req_id?: string; error: { code: number } };
    return [code, req_id, error.code];
  };
  assertEquals(await members("0.2.0"), [4103, undefined, 4103]);
  assertEquals(await members("0.4.0"), [404, undefined, 4103]);
});

Deno.test("What a connection sends before its join is answered is handled after it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  laptop.serve("client:get_tools", () => [{ tools: [], req_id: "1" }]);
  await using ada = await RawPeer.connect(server.url);
  const joined = ada.request(JOIN, agent("ada", "lab"));
  const tools = ada.request("client:get_tools", { agent: "ada", req_id: "1", computer: "laptop" });
  assertEquals(await joined, [true, null]);
  assertEquals(await tools, [{ tools: [], req_id: "1" }]);
});

const back = { auth: { session: "b0c4" } };

Deno.test("A new connection of the same session, role and principal replaces the old one at once", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"));
  await using ghost = await RawPeer.join(server.url, computer("laptop", "lab"), back);
  ghost.socket.on("client:get_tools", () => {});
  const asked = ghost.nextRequest("client:get_tools");
  const inFlight = ada.request("client:get_tools", { agent: "ada", req_id: "1", computer: "laptop" });
  await asked;
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"), back);
  assertEquals(await ghost.disconnected, "io server disconnect");
  assertMatch(JSON.stringify(await inFlight), /^\[\{"code":404,/);
  assertEquals(await ada.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
  const { sessions } = (await ada.request(LIST, { agent: "a", req_id: "2", office_id: "lab" }))[0] as {
    sessions: { sid: string }[];
  };
  assertEquals(sessions.map(({ sid }) => sid), [ada.id, laptop.id]);
  assertNotEquals(ghost.id, laptop.id);
});

Deno.test("The end of a replaced connection does not remove its successor", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const ghost = await RawPeer.join(server.url, agent("ada", "lab"), back);
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"), back);
  await ghost.disconnected;
  await ghost[Symbol.asyncDispose]();
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"));
  assertEquals(await ada.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
  assertEquals(await laptop.settled(), []);
});

Deno.test("A session replaces no connection of another role, and no value of another shape is a session", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using ada = await RawPeer.join(server.url, agent("ada", "lab"), back);
  await using laptop = await RawPeer.join(server.url, computer("laptop", "lab"), back);
  await using bob = await RawPeer.connect(server.url, { auth: { session: ["b0c4"] } });
  assertMatch(String((await bob.request(JOIN, agent("bob", "lab")))[1]), /already has an agent/);
  await Promise.all([ada.settled(), laptop.settled()]);
});
