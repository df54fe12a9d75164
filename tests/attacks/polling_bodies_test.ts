/** Attacker: an admitted member that polls. It posts millions of packets in one body, which are all read at once. */
import { assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { exchange, openPolling, POLLING } from "./_raw_http.ts";

async function openMember(port: number): Promise<string> {
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  await exchange(port, { target, method: "POST", body: "40/smcp," });
  assertEquals((await exchange(port, { target })).body.includes("40/smcp,{"), true);
  return target;
}

Deno.test("A body of more packets than a client ever sends at once ends the connection, unread", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = await openMember(server.port);
  const event = '42/smcp,1["x",{}]';
  await exchange(server.port, { target, method: "POST", body: Array(20_000).fill(event).join("\x1e") });
  const { status, body } = await exchange(server.port, { target });
  assertEquals([status, body.includes("Session ID unknown")], [400, true]);
});

Deno.test("A body of as many packets as a member may have requests is read", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = await openMember(server.port);
  const events = Array.from({ length: 1_024 }, (_, id) => `42/smcp,${id}["x",{}]`);
  await exchange(server.port, { target, method: "POST", body: events.join("\x1e") });
  const { status, body } = await exchange(server.port, { target });
  assertEquals([status, body.includes("43/smcp,0[")], [200, true]);
});
