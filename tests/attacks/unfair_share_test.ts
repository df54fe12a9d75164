/** Attacker: a member that takes what is there for others. It floods the Computers and the readers of its office. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { RawMember } from "./_raw_member.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const observer = { auth: { observer: true } };
const FLOOD = 1_000;

const request = (reqId: string) => ({ agent: "eve", req_id: reqId, computer: "laptop", timeout: 86_400 });

function codeOf(answer: unknown): unknown {
  return (answer as { readonly code?: unknown } | undefined)?.code;
}

Deno.test("Observers that ask a Computer as much as they can leave it to the Agent", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:tool_call", () => [{ content: [], isError: false }]);
  await using agent = await RawPeer.join(server.url, ada);
  const observers: RawPeer[] = [];
  try {
    for (let i = 0; i < 3; i++) {
      const peer = await RawPeer.join(server.url, { ...ada, name: `eve-${i}` }, observer);
      observers.push(peer);
      for (let k = 0; k < FLOOD; k++) {
        peer.socket.emit("client:get_tools", request(`${i}-${k}`), () => {});
      }
    }
    for (const peer of observers) {
      const [refusal] = await peer.request("client:get_tools", request("more"));
      assertEquals(codeOf(refusal), 400);
    }
    const [result] = await agent.request("client:tool_call", { ...request("call"), agent: "ada" });
    assertEquals(result, { content: [], isError: false });
  } finally {
    for (const peer of observers) await peer[Symbol.asyncDispose]();
  }
});

Deno.test("An observer's requests are small, and ask for an answer", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  await using eve = await RawPeer.join(server.url, { ...ada, name: "eve" }, observer);
  const large = { ...request("large"), text: "x".repeat(100_000) };
  assertEquals(codeOf((await eve.request("client:get_tools", large))[0]), 400);
  eve.socket.emit("client:get_tools", request("unanswered"));
  await eve.settled();
  await eve.request("server:leave_office", { office_id: "lab" });
  await using agent = await RawPeer.join(server.url, ada);
  agent.socket.emit("client:last", request("last"));
  await computer.next("client:last");
  const asked = computer.arrivals.map(([event]) => event).filter((event) => event.startsWith("client:"));
  assertEquals(asked, ["client:last"]);
});

/** Sends one event again and again; resolves to how many were refused. */
async function flood(peer: RawPeer, event: string, body: unknown): Promise<number> {
  let refused = 0;
  for (let i = 0; i < 8; i++) {
    for (let k = 0; k < FLOOD; k++) {
      peer.socket.emit(event, body, (ack: unknown) => {
        if (codeOf(ack) === 400) refused++;
      });
    }
    await peer.settled();
  }
  return refused;
}

Deno.test("A Computer that reads slowly is not thrown out by the cancels of an Agent: the Agent is refused", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger });
  using _slow = await RawMember.join(server, laptop);
  await using agent = await RawPeer.join(server.url, ada);
  // Until the Computer's requests are refused.
  const text = "x".repeat(1_000_000);
  let answer: unknown;
  for (let i = 0; i < 40 && codeOf(answer) !== 413; i++) {
    agent.socket.emit("client:x", { ...request("filler"), text });
    [answer] = await Promise.race([
      agent.request("client:y", { ...request("probe"), computer: "laptop", text }),
      agent.settled().then(() => []),
    ]);
  }
  assertEquals(codeOf(answer), 413);
  const cancel = { agent: "ada", req_id: "x".repeat(1_000) };
  assert(await flood(agent, "server:tool_call_cancel", cancel) > 4 * FLOOD);
  assertEquals(logger.lines.filter(({ message }) => message.startsWith("dropped")), []);
});

Deno.test("An Agent that reads slowly is not thrown out by a Computer's updates: the Computer is refused", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _slow = await RawMember.join(server, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  assert(await flood(computer, "server:update_desktop", { computer: "laptop" }) > 4 * FLOOD);
});

Deno.test("Coming and going without an end is refused as well", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.connect(server.url);
  const comeAndGo = async () => {
    const joining = computer.request("server:join_office", laptop);
    await computer.request("server:leave_office", { office_id: "lab" });
    return await joining;
  };
  let refusal: unknown[] | undefined;
  // Many at once: what is limited is a number in a second, which a busy machine would not reach step by step.
  for (let i = 0; i < FLOOD && refusal === undefined; i++) {
    const answers = await Promise.all(Array.from({ length: 20 }, comeAndGo));
    refusal = answers.find(([isJoined]) => isJoined !== true);
  }
  assertStringIncludes(String(refusal?.[1]), "too many notifications");
});
