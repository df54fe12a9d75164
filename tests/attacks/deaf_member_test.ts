/** Attacker: an admitted member that does not read. It lets the Server keep what others send to it. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { RawMember } from "./_raw_member.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const KIB = 1024;
/** So much has to wait for a member before a message of any size is refused. */
const MAX_PAYLOAD_BYTES = 1024 * KIB;
/** More than any kernel takes from the Server on a loopback connection that nobody reads. */
const FLOOD_MESSAGES = 150;
const message = { agent: "ada", req_id: "r1", computer: "laptop", text: "x".repeat(200 * KIB) };

/** A Server with small messages, so that little is much. */
async function openOffice(pings: { readonly pingIntervalMs?: number; readonly pingTimeoutMs?: number } = {}) {
  const logger = new RecordingLogger();
  const server = await SmcpServer.listen({ port: 0, logger, maxPayloadBytes: MAX_PAYLOAD_BYTES, ...pings });
  return {
    server,
    /** The line that says why a connection was dropped. */
    dropped: () => logger.lines.find(({ message }) => message.startsWith("dropped a connection")),
    [Symbol.asyncDispose]: () => server.close(),
  };
}

Deno.test("Requests to a Computer that does not read are refused 413, with and without an ack, and others go on", async () => {
  // On a busy machine the flood takes long, and the Server shall not drop the member meanwhile.
  await using office = await openOffice({ pingIntervalMs: 600_000, pingTimeoutMs: 600_000 });
  await using agent = await RawPeer.join(office.server.url, ada);
  await using phone = await RawPeer.join(office.server.url, { ...laptop, name: "phone" });
  phone.serve("client:x", () => ["here"]);
  using _deaf = await RawMember.join(office.server, laptop);
  for (let i = 0; i < FLOOD_MESSAGES; i++) agent.socket.emit("client:x", message);
  const [answer] = await agent.request("client:x", message);
  const { code, details } = answer as {
    code: number;
    details: { size: number; limit: number; computer_name: string };
  };
  assertEquals([code, details.limit, details.computer_name], [413, MAX_PAYLOAD_BYTES, "laptop"]);
  assert(details.size > details.limit && details.size <= 2 * MAX_PAYLOAD_BYTES, `${details.size} bytes wait`);
  assertEquals(await agent.request("client:x", { ...message, computer: "phone" }), ["here"]);
});

Deno.test("A member that does not read its notifications loses its connection", async () => {
  await using office = await openOffice();
  await using computer = await RawPeer.join(office.server.url, laptop);
  using deaf = await RawMember.join(office.server, ada);
  assertEquals(await computer.next("notify:enter_office"), { office_id: "lab", agent: "ada" });
  const event = `server:update_${"x".repeat(100)}`;
  // One sender is not allowed so many.
  for (let batch = 0; batch < 1_000 && office.dropped() === undefined; batch++) {
    await using sender = await RawPeer.join(office.server.url, { ...laptop, name: `sender-${batch}` });
    for (let i = 0; i < 1_000; i++) sender.socket.emit(event, { computer: "sender" });
    await sender.settled();
  }
  assertStringIncludes(office.dropped()?.message ?? "", "too slowly");
  await deaf.untilClosed();
});

Deno.test("A member that asks and does not read its answers loses its connection", async () => {
  await using office = await openOffice();
  await using computer = await RawPeer.join(office.server.url, laptop);
  computer.serve("client:x", () => ["x".repeat(200 * KIB)]);
  using deaf = await RawMember.join(office.server, ada);
  const gone = computer.next("notify:leave_office");
  let isGone = false;
  gone.then(() => isGone = true);
  const request = JSON.stringify({ agent: "ada", req_id: "r1", computer: "laptop" });
  for (let batch = 0; batch < 1_000 && !isGone; batch++) {
    for (let id = 0; id < 100; id++) await deaf.send(`42/smcp,${id}["client:x",${request}]`).catch(() => {});
    await computer.settled();
  }
  assertEquals(await gone, { office_id: "lab", agent: "ada" });
});

Deno.test("Pongs that answer no ping are no sign of life", async () => {
  await using office = await openOffice({ pingIntervalMs: 300, pingTimeoutMs: 5_000 });
  using deaf = await RawMember.join(office.server, laptop);
  {
    // Not the member of the other tests: its client gives up when the pings of a busy Server come late.
    using agent = await RawMember.join(office.server, ada);
    const request = `42/smcp,["client:x",${JSON.stringify(message)}]`;
    for (let i = 0; i < FLOOD_MESSAGES; i++) await agent.send("3", request);
    await agent.send("3", '42/smcp,1["server:leave_office",{"office_id":"lab"}]');
    await agent.readUntil("43/smcp,1[");
  }
  // Each used to put off the next ping.
  const pong = () => deaf.send("3").then(() => "open", () => "closed");
  await eventually(pong, (state) => state === "closed", "the end of the connection");
  await using _successor = await RawPeer.join(office.server.url, laptop);
  // On a busy machine the check of what it reads may come a moment before that of the ping.
  assert([undefined, "dropped a connection: it reads nothing"].includes(office.dropped()?.message));
});

Deno.test("A member that polls no more keeps no more waiting than any other", async () => {
  await using office = await openOffice();
  await using agent = await RawPeer.join(office.server.url, ada);
  const query = `${office.server.url}/socket.io/?EIO=4&transport=polling&a2c_version=0.2.0`;
  const { sid } = JSON.parse((await (await fetch(query)).text()).slice(1));
  const post = async (body: string) =>
    await (await fetch(`${query}&sid=${sid}`, { method: "POST", body })).text();
  const poll = async () => await (await fetch(`${query}&sid=${sid}`)).text();
  await post("40/smcp,{}");
  await poll();
  await post(`42/smcp,0["server:join_office",${JSON.stringify(laptop)}]`);
  assertStringIncludes(await poll(), "43/smcp,0[true");
  for (let i = 0; i < 5; i++) agent.socket.emit("client:x", message);
  const [answer] = await agent.request("client:x", message);
  assertEquals((answer as { code: number }).code, 413);
  await poll();
  // What one answer has no room for still waits, and still counts.
  const small = { ...message, text: "x".repeat(16 * KIB) };
  const refused: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 40; i++) {
      agent.socket.emit("client:x", small, (answer: { code: number }) => refused.push(answer.code));
    }
    await agent.settled();
    await poll();
  }
  // There is room for less than 58, and three answers take 16 each.
  assert(refused.length >= 120 - 58 - 3 * 16, `${refused.length} of 120 refused`);
  assertEquals(new Set(refused), new Set([413]));
});
