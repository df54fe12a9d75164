/** Attacker: a member of an office. It sends little and makes the Server send much. */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer } from "../integration/_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const LONG = "x".repeat(1_000_000);
/** No refusal is longer, whatever it refuses. */
const MAX_REFUSAL_BYTES = 2_000;

Deno.test("The name of an event is bounded, and nobody is told of a longer one", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  await using agent = await RawPeer.join(server.url, ada);
  for (const event of [`server:update_${LONG}`, `client:${LONG}`, LONG]) {
    const answer = await computer.request(event, { agent: "x", req_id: "r1", computer: "laptop" });
    const [{ code, details }] = answer as [{ code: number; details: { field: string } }];
    assertEquals([code, details.field], [400, "event"]);
    assert(JSON.stringify(answer).length < MAX_REFUSAL_BYTES);
  }
  assertEquals(await agent.settled(), []);
});

Deno.test("No refusal repeats a long text", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  const request = { agent: "ada", req_id: "r1", computer: "laptop", office_id: "lab" };
  for (
    const event of ["client:tool_call", "client:get_tools", "server:tool_call_cancel", "server:list_room"]
  ) {
    for (const field of ["agent", "req_id", "computer", "office_id"]) {
      const answer = await agent.request(event, { ...request, [field]: LONG });
      assert(JSON.stringify(answer).length < MAX_REFUSAL_BYTES, `${event} with a long ${field}`);
    }
  }
  for (const [field, text] of [["name", LONG], ["office_id", LONG]] as const) {
    const answer = await agent.request("server:join_office", { ...ada, [field]: text });
    assert(JSON.stringify(answer).length < MAX_REFUSAL_BYTES, `a long ${field}`);
  }
});

Deno.test("A message that grows by being written again is refused", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: 100_000 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:x", () => ["here"]);
  const answered = new Promise((resolve) => agent.socket.io.engine.on("data", resolve));
  // Each of these five characters becomes 22; the first number makes the Server write the message again.
  const numbers = `1e999,${Array.from({ length: 15_000 }, () => "1e20").join(",")}`;
  agent.writeRaw(
    `2/smcp,70["client:x",{"agent":"ada","req_id":"r1","computer":"laptop","numbers":[${numbers}]}]`,
  );
  const answer = String(await answered);
  assert(answer.startsWith('3/smcp,70[{"code":413,'), answer.slice(0, 200));
  const small = { agent: "ada", req_id: "r1", computer: "laptop" };
  assertEquals(await agent.request("client:x", small), ["here"]);
});
