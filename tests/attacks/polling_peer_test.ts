/** Attacker: nobody but a busy office. A peer that polls must not be lost because much waits for it at once. */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";
import { exchange, openPolling, POLLING } from "./_raw_http.ts";
import { eventually } from "../fixtures/within.ts";

const EVENTS = 45;
const RECORD_SEPARATOR = "\x1e";

Deno.test("A polling answer holds at most 16 packets; what waits comes in order, and nothing is lost", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const { port } = server;
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  const poll = async () => (await exchange(port, { target })).body.split(RECORD_SEPARATOR);
  const post = (body: string) => exchange(port, { method: "POST", target, body });
  await post("40/smcp,");
  assert((await poll())[0]?.startsWith("40/smcp,"));
  await post('42/smcp,0["server:join_office",{"role":"computer","name":"laptop","office_id":"lab"}]');
  assertEquals(await poll(), ["43/smcp,0[true,null]"]);
  await using agent = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  for (let i = 0; i < EVENTS; i++) {
    agent.socket.emit("client:x", { agent: "ada", req_id: `r${i}`, computer: "laptop" });
  }
  await agent.settled();
  const payloads: string[][] = [];
  const more = async () => {
    payloads.push(await poll());
    return payloads.flat().filter((packet) => packet.includes("client:x")).length;
  };
  await eventually(more, (count) => count >= EVENTS, `${EVENTS} events`);
  assertEquals(payloads.map((packets) => packets.length > 16), payloads.map(() => false));
  const order = payloads.flat().flatMap((packet) => /"req_id":"(r\d+)"/.exec(packet)?.[1] ?? []);
  assertEquals(order, Array.from({ length: EVENTS }, (_, i) => `r${i}`));
  await post("41/smcp,");
});
