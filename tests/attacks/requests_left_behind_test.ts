/** Attacker: an Agent of an office. It asks for a day, goes, comes back and asks again, and leaves the Server the rest. */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { withConstants } from "../../src/server/options/constants.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const DAY_SECONDS = 86_400;

/** A request that nobody will answer for a day. */
function call(reqId: string) {
  return { agent: "ada", req_id: reqId, computer: "laptop", timeout: DAY_SECONDS };
}

/** Takes every call, answers none, and remembers how it could. */
function takeCalls(computer: RawPeer): Map<string, (answer: unknown) => void> {
  const acks = new Map<string, (answer: unknown) => void>();
  computer.socket.on("client:tool_call", (body: { req_id: string }, ack: (answer: unknown) => void) => {
    acks.set(body.req_id, ack);
  });
  return acks;
}

Deno.test("What an Agent asked ends with its connection, and the Computer is told to stop each of it", async () => {
  const options = { port: 0, maxOpenRequests: 200, ...withConstants({ returnMs: 50 }) };
  await using server = await SmcpServer.listen(options);
  await using computer = await RawPeer.join(server.url, laptop);
  const acks = takeCalls(computer);
  for (let round = 0; round < 3; round++) {
    const agent = await RawPeer.join(server.url, ada);
    const ids = Array.from({ length: 200 }, (_, i) => `${round}-${i}`);
    for (const id of ids) agent.socket.emit("client:tool_call", call(id), () => {});
    await agent.settled();
    await computer.settled();
    assertEquals(acks.size, 200 * (round + 1));
    await agent.cut();
    for (const id of ids) {
      assertEquals(await computer.next("notify:tool_call_cancel"), { agent: "ada", req_id: id });
    }
  }
  // Answers to requests that are no more disturb nobody.
  for (const ack of acks.values()) ack({ content: [] });
  await computer.settled();
  await using agent = await RawPeer.join(server.url, ada);
  computer.serve("client:get_tools", () => [{ tools: [] }]);
  assertEquals(await agent.request("client:get_tools", call("x")), [{ tools: [] }]);
});

Deno.test("An Agent that leaves the office hears no answer from it any more, and what it asked counts no longer", async () => {
  await using server = await SmcpServer.listen({ port: 0, maxOpenRequests: 5 });
  await using computer = await RawPeer.join(server.url, laptop);
  await using agent = await RawPeer.join(server.url, ada);
  const acks = takeCalls(computer);
  for (let round = 0; round < 3; round++) {
    const answers: unknown[] = [];
    for (let i = 0; i < 4; i++) {
      agent.socket.emit("client:tool_call", call(`${round}-${i}`), (answer: unknown) => answers.push(answer));
    }
    await agent.settled();
    await computer.settled();
    assertEquals(acks.size, 4 * (round + 1));
    assertEquals(await agent.request("server:leave_office", { office_id: "lab" }), [true, null]);
    assertEquals(await computer.next("notify:tool_call_cancel"), { agent: "ada", req_id: `${round}-0` });
    for (let i = 1; i < 4; i++) await computer.next("notify:tool_call_cancel");
    for (const ack of acks.values()) ack({ content: [{ type: "text", text: "of the office" }] });
    await computer.settled();
    assertEquals(await agent.request("server:join_office", ada), [true, null]);
    assertEquals(answers, []);
  }
});

Deno.test("Refusals beyond a rate are counted in the log and not written, whoever earns them", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  const agent = await RawPeer.join(server.url, ada);
  const startMs = performance.now();
  for (let i = 0; i < 2_000; i++) agent.socket.emit("client:x", { ...call(`${i}`), computer: "nobody" });
  await agent.settled();
  await agent[Symbol.asyncDispose]();
  await server.close();
  const refusals = logger.lines.filter(({ fields }) => fields["code"] !== undefined);
  const allowed = 20 + 2 * (performance.now() - startMs) / 1_000;
  assert(refusals.length > 0 && refusals.length <= allowed, `${refusals.length} lines`);
  const leftOut = logger.lines.map(({ fields }) => Number(fields["lines_left_out"] ?? 0));
  // One more, from asking whether all is settled.
  assertEquals(refusals.length + leftOut.reduce((sum, count) => sum + count), 2_001);
});
