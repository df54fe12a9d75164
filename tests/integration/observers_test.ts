import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { JoinRefusedError } from "../../src/link/errors.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { acceptJoin, BareServer } from "./_bare_server.ts";
import { RawPeer } from "./_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const eve = { role: "agent", name: "eve", office_id: "lab" } as const;
const request = { agent: "eve", req_id: "r1", computer: "laptop" };

function observe(url: string): Promise<RawPeer> {
  return RawPeer.join(url, eve, { auth: { observer: true } });
}

function codeOf([answer]: readonly unknown[]): unknown {
  return (answer as { code?: number }).code;
}

Deno.test("An observer joins beside the Agent, before it or after it, and nobody hears of it", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  const before = await observe(server.url);
  await using agent = await RawPeer.join(server.url, ada);
  await using after = await observe(server.url);
  assertEquals(await before.next("notify:enter_office"), { office_id: "lab", agent: "ada" });
  await before[Symbol.asyncDispose]();
  for (const peer of [agent, after]) {
    const [answer] = await peer.request("server:list_room", { req_id: "r2", office_id: "lab" });
    const { sessions } = answer as { sessions: { name: string }[] };
    assertEquals(sessions.map(({ name }) => name), ["laptop", "ada"]);
  }
  assertEquals(await agent.settled(), []);
  assertEquals(await computer.settled(), [["notify:enter_office", { office_id: "lab", agent: "ada" }]]);
});

Deno.test("An observer hears the office", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using observer = await observe(server.url);
  const computer = await RawPeer.join(server.url, laptop);
  assertEquals(await observer.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
  computer.socket.emit("server:update_tool_list", { computer: "laptop" });
  assertEquals(await observer.next("notify:update_tool_list"), { computer: "laptop" });
  agent.socket.emit("server:tool_call_cancel", { agent: "ada", req_id: "r9" });
  assertEquals(await observer.next("notify:tool_call_cancel"), { agent: "ada", req_id: "r9" });
  await computer[Symbol.asyncDispose]();
  assertEquals(await observer.next("notify:leave_office"), { office_id: "lab", computer: "laptop" });
});

Deno.test("An observer may read, and everything else is refused with 403", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  await using observer = await observe(server.url);
  for (
    const event of [
      "client:get_tools",
      "client:get_blob",
      "client:get_skills",
      "client:get_completion",
      "client:get_prompts",
      "client:get_mcp_servers",
      "client:get_resource_updates",
      "client:read_resource",
    ]
  ) {
    computer.serve(event, () => ["read"]);
    assertEquals(await observer.request(event, request), ["read"]);
  }
  for (
    const event of [
      "client:tool_call",
      "client:subscribe_resource",
      "client:put_blob",
      "client:x",
      "client:get",
      // They have the Computer write files, and an MCP server work.
      "client:get_dpe",
      "client:get_prompt",
      // Of newer peers: nobody knows what they do.
      "client:get_everything",
      "client:get_",
      "client:GET_TOOLS",
      "client:get_tools ",
      "client:follow_call",
    ]
  ) {
    computer.serve(event, () => ["done"]);
    assertEquals(codeOf(await observer.request(event, request)), 403, event);
  }
  assertEquals(codeOf(await observer.request("server:tool_call_cancel", request)), 403);
  assertEquals(codeOf(await observer.request("server:update_config", { computer: "laptop" })), 403);
  assertEquals(await observer.request("server:leave_office", { office_id: "lab" }), [true, null]);
  assertEquals(codeOf(await observer.request("client:get_tools", request)), 4103);
});

Deno.test("A Computer that says it is an observer is a Computer", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using _computer = await RawPeer.join(server.url, laptop, { auth: { observer: true } });
  assertEquals(await agent.next("notify:enter_office"), { office_id: "lab", computer: "laptop" });
});

Deno.test("Agent.connect() with observer looks on while another Agent works", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:get_tools", () => [{ tools: [], req_id: "x" }]);
  const place = { url: server.url, office: "lab" };
  await using observer = await Agent.connect({ ...place, name: "eve", observer: true });
  await using _agent = await Agent.connect({ ...place, name: "ada" });
  assertEquals(await observer.computer("laptop").getTools(), []);
  const refused = await assertRejects(() => observer.computer("laptop").callTool("x", {}), SmcpError);
  assertEquals(refused.code, 403);
  assertEquals((await observer.listOffice()).map(({ name }) => name), ["laptop", "ada"]);
});

Deno.test("On a Server that knows no observers, one takes the Agent's seat as before", async () => {
  const auths: unknown[] = [];
  await using server = await BareServer.listen({ handlers: { "server:join_office": acceptJoin } });
  await using _observer = await Agent.connect({
    url: server.url,
    office: "lab",
    name: "eve",
    observer: true,
  });
  for (const { handshake } of server.connections) auths.push(handshake.auth["observer"]);
  assertEquals(auths, [true]);
});

Deno.test(
  "A taken seat is refused at once, and who has it is told to those of the same credentials",
  async () => {
    await using server = await SmcpServer.listen({
      port: 0,
      auth: staticTokens({ tokens: ["alice-token", "mallory-token"] }),
    });
    const place = { url: server.url, office: "lab" };
    await using _agent = await Agent.connect({ ...place, name: "ada", token: "alice-token" });
    const startMs = performance.now();
    const own = await assertRejects(
      () => Agent.connect({ ...place, name: "bob", token: "alice-token" }),
      JoinRefusedError,
      "already has an agent",
    );
    const foreign = await assertRejects(
      () => Agent.connect({ ...place, name: "bob", token: "mallory-token" }),
      JoinRefusedError,
      "already has an agent",
    );
    assertEquals(performance.now() - startMs < 10_000, true, "the seat was waited for");
    assertEquals([own, foreign].map(({ message }) => message.includes('"ada"')), [true, false]);
    assertEquals([own, foreign].map(({ message }) => message.includes("since 20")), [true, false]);
  },
);
