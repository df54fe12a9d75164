/** Attacker: an admitted member. It opens websocket after websocket for its one session, and fills each. */
import { assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer } from "../integration/_socket.ts";
import {
  exchange,
  frame,
  openPolling,
  openWebSocket,
  POLLING,
  RawConnection,
  toText,
  UPGRADE_HEADERS,
  WEBSOCKET,
} from "./_raw_http.ts";

/** Asks for a websocket of a session that exists. */
function upgrade(port: number, target: string): RawConnection {
  const connection = new RawConnection(port);
  connection.write(toText(port, { target, headers: UPGRADE_HEADERS }));
  return connection;
}

async function assertRefused(port: number, target: string): Promise<void> {
  await using second = upgrade(port, target);
  await second.untilClosed();
  assertStringIncludes(second.received, "HTTP/1.1 400 ");
}

Deno.test("A session that has a websocket gets no second one, admitted or not", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using first = await openWebSocket(server.port);
  const sid = /"sid":"([^"]+)"/.exec(first.received)?.[1];
  for (const target of [`${WEBSOCKET}&sid=${sid}`, `${POLLING}&sid=${sid}`]) {
    await assertRefused(server.port, target);
  }
  first.write(frame("40/smcp,"));
  await first.until("admission", (text) => text.includes('40/smcp,{"sid"'));
  for (const target of [`${WEBSOCKET}&sid=${sid}`, `${POLLING}&sid=${sid}`]) {
    await assertRefused(server.port, target);
  }
});

Deno.test("A session that polls gets one websocket at a time, and another one when that has gone", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const sid = await openPolling(server.port);
  await exchange(server.port, { target: `${POLLING}&sid=${sid}`, method: "POST", body: "40/smcp," });
  const target = `${WEBSOCKET}&sid=${sid}`;
  {
    await using first = upgrade(server.port, target);
    await first.until("websocket", (text) => text.includes("101 "));
    await assertRefused(server.port, target);
    first.write(frame("2probe"));
    await first.until("probe", (text) => text.includes("3probe"));
  }
  await using healthy = await RawPeer.connect(server.url);
  await healthy.request("server:leave_office", { office_id: "lab" });
  await using again = upgrade(server.port, target);
  await again.until("websocket", (text) => text.includes("101 "));
});

Deno.test("A client that polls first still upgrades", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await RawPeer.connect(server.url, { transports: ["polling", "websocket"] });
  await eventually(() => peer.socket.io.engine.transport.name, (name) => name === "websocket", "the upgrade");
});
