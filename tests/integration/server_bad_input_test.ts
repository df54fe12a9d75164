import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { ada, EchoOffice, laptop, request } from "./_echo_office.ts";
import { RawPeer, RecordingLogger } from "./_socket.ts";

function codeAndField([answer]: readonly unknown[]): unknown[] {
  const { code, details } = answer as { code: number; details?: { field?: string } };
  return [code, details?.field];
}

Deno.test("Events that the Server does not know are answered 400 with field event", async () => {
  await using office = await EchoOffice.open();
  const unknown = [
    "foo",
    "server:foo",
    "server:update_",
    "client:",
    "notify:update_desktop",
    "error",
    "",
    "x".repeat(9999),
  ];
  for (const event of unknown) {
    assertEquals(
      codeAndField(await office.agent.request(event, request)),
      [400, "event"],
      event.slice(0, 30),
    );
  }
  await office.assertAlive();
  assertEquals(await office.computer.settled(), []);
});

Deno.test("An event whose name is a number is answered 400", async () => {
  await using office = await EchoOffice.open();
  const answered = new Promise((resolve) => office.agent.socket.io.engine.on("data", resolve));
  office.agent.writeRaw('2/smcp,77[5,{"agent":"a"}]');
  assert(String(await answered).startsWith('3/smcp,77[{"code":400'));
  await office.assertAlive();
});

const malformed: Readonly<Record<string, string>> = {
  "no JSON": "2/smcp,{",
  "an unknown packet type": "9/smcp,[]",
  "an event that is no list": '2/smcp,{"a":1}',
  "an event without a name": "2/smcp,[]",
  "an event with a reserved name": '2/smcp,["disconnect"]',
  "a second CONNECT": "0/smcp,{}",
  "an ack that is no list": "3/smcp,0{}",
  "attachments that never come": '51-/smcp,["x",{"_placeholder":true,"num":0}]',
  "a packet for another namespace": '2/other,["x"]',
};
for (const [what, packet] of Object.entries(malformed)) {
  Deno.test(`A malformed packet ends its own connection and no other: ${what}`, async () => {
    await using office = await EchoOffice.open();
    const bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
    bad.writeRaw(packet);
    // Whatever follows attachments that never come is one packet too many.
    if (packet.startsWith("5")) bad.writeRaw('2/smcp,["x"]');
    await bad.disconnected;
    assertEquals(await office.agent.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
    assertEquals(await office.agent.next("notify:enter_office"), { office_id: "lab", computer: "bad" });
    assertEquals(await office.agent.next("notify:leave_office"), { office_id: "lab", computer: "bad" });
    await office.assertAlive();
    await bad[Symbol.asyncDispose]();
  });
}

Deno.test("An ack that nobody waits for is ignored", async () => {
  await using office = await EchoOffice.open();
  office.computer.writeRaw("3/smcp,99999[1]");
  office.computer.writeRaw("3/smcp,[1]");
  await office.computer.settled();
  await office.assertAlive();
});

Deno.test("Hundreds of thousands of arguments end their own connection and not the process", async () => {
  await using office = await EchoOffice.open();
  const many = ",0".repeat(900_000);
  const bad = await RawPeer.join(office.server.url, { ...laptop, name: "bad" });
  bad.writeRaw(`2/smcp,["client:echo"${many}]`);
  await bad.disconnected;
  await office.assertAlive();
  // The same in an ack, which Socket.IO hands out the same way.
  await using worse = await RawPeer.join(office.server.url, { ...laptop, name: "worse" });
  worse.socket.io.engine.on("data", (packet: unknown) => {
    const id = /^2\/smcp,(\d+)\["client:echo"/.exec(String(packet))?.[1];
    if (id !== undefined) worse.writeRaw(`3/smcp,${id}[0${many}]`);
  });
  const answer = await office.agent.request("client:echo", { ...request, computer: "worse" });
  assertEquals(codeAndField(answer).at(0), 404);
  await office.assertAlive();
  await bad[Symbol.asyncDispose]();
});

const DEPTH = 100_000;
const nested = "[".repeat(DEPTH) + "]".repeat(DEPTH);

Deno.test("A request nested too deep to be written again is answered 400", async () => {
  await using office = await EchoOffice.open();
  const answered = new Promise((resolve) => office.agent.socket.io.engine.on("data", resolve));
  office.agent.writeRaw(
    `2/smcp,78["client:echo",{"agent":"a","req_id":"1","computer":"laptop","x":${nested}}]`,
  );
  assert(String(await answered).startsWith('3/smcp,78[{"code":400,"message":"Cannot relay'));
  await office.assertAlive();
});

Deno.test("A request nested too deep is answered 400, also where a later member of the same name overrides it", async () => {
  await using office = await EchoOffice.open();
  const nested = "[".repeat(2_000) + "]".repeat(2_000);
  const answered = new Promise((resolve) => office.agent.socket.io.engine.on("data", resolve));
  office.agent.writeRaw(
    `2/smcp,78["client:echo",{"agent":"a","req_id":"1","computer":"laptop","x":${nested},"x":1}]`,
  );
  assert(String(await answered).startsWith('3/smcp,78[{"code":400,"message":"Cannot relay'));
  await office.assertAlive();
});

Deno.test("An answer nested too deep becomes a 413 that names the Computer, and no error of the Server", async () => {
  await using office = await EchoOffice.open();
  await using deep = await RawPeer.join(office.server.url, { ...laptop, name: "deep" });
  deep.socket.io.engine.on("data", (packet: unknown) => {
    const id = /^2\/smcp,(\d+)\["client:echo"/.exec(String(packet))?.[1];
    if (id !== undefined) deep.writeRaw(`3/smcp,${id}[${nested}]`);
  });
  const [answer] = await office.agent.request("client:echo", { ...request, computer: "deep" });
  assertObjectMatch(Object(answer), { code: 413, details: { computer_name: "deep" } });
  assert(office.logger.lines.some(({ level, fields }) => level === "warn" && fields["req_id"] === "r1"));
  assert(office.logger.lines.every(({ level }) => level !== "error"));
  await office.assertAlive();
});

Deno.test("Names from Object's prototype are names like any other", async () => {
  await using office = await EchoOffice.open();
  for (const name of ["__proto__", "constructor", "toString"]) {
    await using peer = await RawPeer.join(office.server.url, { role: "computer", name, office_id: name });
    await using caller = await RawPeer.join(office.server.url, { role: "agent", name, office_id: name });
    peer.serve("client:echo", (body) => [body]);
    const body = { agent: name, req_id: "1", computer: name };
    assertEquals(await caller.request("client:echo", body), [body]);
    const event = `server:${name}`;
    assertEquals(codeAndField(await caller.request(event, body)), [400, "event"]);
  }
});

// proves: guide-error-no-secrets
Deno.test("A failure of the host program's code becomes (false, text), and the cause only a log line", async () => {
  const logger = new RecordingLogger();
  logger.info = () => {
    throw new TypeError("redis://user:secret@10.0.0.7 refused");
  };
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using peer = await RawPeer.connect(server.url);
  assertEquals(await peer.request("server:join_office", ada), [false, "Internal error (500)"]);
  assert(
    logger.lines.some(({ level, fields }) => level === "error" && String(fields["error"]).includes("secret")),
  );
});
