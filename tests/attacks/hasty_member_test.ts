/** Attacker: a member of an office. It asks for things and disconnects in the same message, before they are done. */
import { assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { exchange, openPolling, POLLING } from "./_raw_http.ts";

/** Between the packets of one polling body. */
const SEPARATOR = "\x1e";
const DISCONNECT = "41/smcp,";

function event(...args: readonly unknown[]): string {
  return `42/smcp,${JSON.stringify(args)}`;
}

/** Connects to the namespace, and then sends all packets in one HTTP body. */
async function sendAtOnce(port: number, packets: readonly string[]): Promise<void> {
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  await exchange(port, { method: "POST", target, body: "40/smcp,{}" });
  const { body } = await exchange(port, { target });
  assertEquals(body.startsWith("40/smcp,"), true, body);
  await exchange(port, { method: "POST", target, body: packets.join(SEPARATOR) });
}

Deno.test("What a member sends in one message with its disconnect comes before it, and leaves no trace in the office", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  await using computer = await RawPeer.join(server.url, {
    role: "computer",
    name: "laptop",
    office_id: "lab",
  });
  const hasty = { role: "agent", name: "hasty", office_id: "lab" };
  await sendAtOnce(server.port, [
    event("server:join_office", hasty),
    event("client:tool_call", { agent: "hasty", req_id: "1", computer: "laptop", timeout: 86_400 }),
    DISCONNECT,
  ]);
  // The seat of the Agent is free.
  await using ada = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  const arrivals = (await computer.settled()).filter(([event]) => event.startsWith("notify:"));
  const left = { office_id: "lab", agent: "hasty" };
  assertEquals(arrivals, [
    ["notify:enter_office", left],
    ["notify:leave_office", left],
    ["notify:enter_office", { office_id: "lab", agent: "ada" }],
  ]);
  const [room] = await ada.request("server:list_room", { agent: "ada", req_id: "1", office_id: "lab" });
  const { sessions } = room as { readonly sessions: readonly { readonly name: string }[] };
  assertEquals(sessions.map(({ name }) => name).toSorted(), ["ada", "laptop"]);
  const lines = logger.lines.filter(({ fields }) => fields["name"] === "hasty").map(({ message }) => message);
  assertEquals(lines, ["joined office", "disconnected", "left office"]);
});
