import { assert, assertEquals, assertRejects } from "@std/assert";
import { Agent, type AgentOptions } from "../../../../src/agent/agent.ts";
import { connectionsOver } from "../../../../src/link/connect.ts";
import {
  AuthenticationError,
  ProtocolVersionError,
  ServerUnreachableError,
} from "../../../../src/link/errors.ts";
import { innerSideOf, insightOf, SmcpServer } from "../../../../src/server/server.ts";
import { staticTokens } from "../../../../src/server/admission/tokens.ts";
import { ScriptedComputer } from "../../../integration/_scripted_computer.ts";
import { within } from "../../../fixtures/within.ts";

/** An Agent in the process of a Server, whose URL nobody could reach by the network. */
function join(server: SmcpServer, more: Partial<AgentOptions> = {}) {
  const open = connectionsOver(innerSideOf(server).openSocket);
  return Agent.connectBy({ url: "https://server.invalid", office: "lab", name: "ada", ...more }, { open });
}

Deno.test("a member in the Server's process calls tools, with answers of any size", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const text = "ö".repeat(300_000);
  using _ = await ScriptedComputer.join(server.url, {
    answers: {
      "client:tool_call": ({ params }) => ({ content: [{ type: "text", text: JSON.stringify(params) }] }),
    },
  });
  await using agent = await join(server);
  for (const args of [{ path: "a" }, { text }]) {
    const { content } = await agent.computer("laptop").callTool("echo", args);
    assertEquals(content, [{ type: "text", text: JSON.stringify(args) }]);
  }
  const [member] = (await insightOf(server).members("lab")).filter(({ role }) => role === "agent");
  assertEquals([member?.transport, member?.address], ["memory", "127.0.0.1"]);
});

Deno.test("a member in the Server's process needs credentials as others do", async () => {
  const auth = staticTokens({ tokens: [{ token: "0".repeat(32), name: "hub" }] });
  await using server = await SmcpServer.listen({ port: 0, auth, transports: ["polling"] });
  await assertRejects(() => join(server), AuthenticationError);
  await using agent = await join(server, { token: "0".repeat(32) });
  assertEquals(agent.office, "lab");
});

Deno.test("a handshake in the Server's process is refused as others are", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.3"] });
  await assertRejects(() => join(server, { protocolVersion: "0.2" }), ProtocolVersionError);
  await server.close();
  // There is no time for a second attempt.
  const once = {
    protocolVersion: "0.3" as const,
    timeoutMs: 60_000,
    reconnectDelayMs: Number.MAX_SAFE_INTEGER,
  };
  const error = await assertRejects(() => join(server, once), ServerUnreachableError, "503");
  assert(!error.isPermanent);
});

Deno.test("a Server that closes ends the connections in its process", async () => {
  const server = await SmcpServer.listen({ port: 0 });
  await using agent = await join(server);
  const lost = Promise.withResolvers<void>();
  using _ = agent.on("disconnected", () => lost.resolve());
  await server.close();
  await within(lost.promise, "the Agent to lose its connection");
});

Deno.test("an Agent that closes leaves no session in the Server's process", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using observer = await ScriptedComputer.join(server.url);
  const left = observer.next("notify:leave_office");
  const agent = await join(server);
  await agent.close();
  assertEquals((await left)["agent"], "ada");
});
