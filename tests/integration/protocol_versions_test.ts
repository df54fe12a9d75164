import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { JoinRefusedError, ProtocolVersionError } from "../../src/link/errors.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { within } from "../fixtures/within.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

const office = "lab";
const nothing = { name: "laptop", config: { servers: {} } };

async function listVersions(agent: Agent): Promise<Record<string, string | undefined>> {
  const members = await agent.listOffice();
  return Object.fromEntries(members.map(({ name, a2c_version }) => [name, a2c_version]));
}

Deno.test("an Agent and a Computer open an office at 0.2 by default", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
  await using computer = Computer.open(nothing);
  await computer.join({ url: server.url, office });
  assertEquals(await listVersions(agent), { ada: "0.2.0", laptop: "0.2.0" });
  assertEquals([agent.protocolVersion, computer.protocolVersion], ["0.2", "0.2"]);
});

Deno.test(
  "an Agent without a version follows the Computers of its office, and a fixed one does not",
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    await using computer = Computer.open({ ...nothing, protocolVersion: "0.4" });
    await computer.join({ url: server.url, office });
    const refusal = await assertRejects(
      () => Agent.connect({ url: server.url, office, name: "eve", protocolVersion: "0.3" }),
      JoinRefusedError,
    );
    assertEquals(refusal.officeProtocol, "0.4");
    assertStringIncludes(refusal.message, "--protocol 0.4");

    await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
    assertEquals(agent.protocolVersion, "0.4");
    assertEquals(await listVersions(agent), { ada: "0.4.0", laptop: "0.4.0" });
  },
);

Deno.test(
  "an Agent follows a Server that refuses 0.2, to the highest version that it accepts",
  async () => {
    await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.3", "0.4"] });
    await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
    assertEquals(agent.protocolVersion, "0.4");
  },
);

Deno.test("an Agent that a Server brought to 0.4 still follows an office at 0.3", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.3", "0.4"] });
  using _computer = await ScriptedComputer.join(server.url, { version: "0.3.0" });
  await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
  assertEquals(await listVersions(agent), { ada: "0.3.1", laptop: "0.3.0" });
});

Deno.test("a Server that accepts no version of this package is final", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.9"] });
  const connecting = () => Agent.connect({ url: server.url, office, name: "ada", timeoutMs: Infinity });
  const error = await assertRejects(connecting, ProtocolVersionError);
  assertEquals(error.refusal.client_version, "0.2.0");
});

Deno.test(
  "an Agent that comes back follows an office that has changed its version meanwhile",
  async () => {
    const first = await SmcpServer.listen({ port: 0 });
    // It keeps the port for the second Server: a free one may go to another test.
    await using wire = new TcpProxy(first.port);
    await using agent = await Agent.connect({ url: wire.url, office, name: "ada" });
    const events = agent.events({ types: ["disconnected", "reconnected", "failed"] });
    await first.close();
    assertEquals((await events.next()).value?.type, "disconnected");
    await using second = await SmcpServer.listen({ port: 0 });
    using _computer = await ScriptedComputer.join(second.url, { version: "0.4.0" });
    wire.restore(second.port);
    const next = await within(events.next(), "the return of the Agent");
    assertEquals(next.value?.type, "reconnected");
    assertEquals(agent.protocolVersion, "0.4");
  },
);

Deno.test("an Agent that joins another office follows it without news of a loss", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, { office: "new", version: "0.4.0" });
  await using agent = await Agent.connect({ url: server.url, office, name: "ada" });
  const news: string[] = [];
  for (const type of ["disconnected", "reconnected"] as const) agent.on(type, () => void news.push(type));
  await agent.leave();
  await agent.join("new");
  assertEquals([agent.protocolVersion, agent.office], ["0.4", "new"]);
  assertEquals(news, []);
});

Deno.test("an Agent that leaves while it changes its version joins no more", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using computer = await ScriptedComputer.join(server.url, { office: "new", version: "0.4.0" });
  const logger = new LogBook();
  await using agent = await Agent.connect({ url: server.url, office, name: "ada", logger });
  await agent.leave();
  const refusal = assertRejects(() => agent.join("new"), SmcpError);
  await logger.until(({ message }) => message === "changing the protocol version");
  await agent.leave();
  assertEquals([(await refusal).code, agent.office], [4103, undefined]);
  const listed = await computer.send("server:list_room", { agent: "", req_id: "1", office_id: "new" });
  assertEquals((listed as { sessions: { name: string }[] }).sessions.map(({ name }) => name), ["laptop"]);
  await agent.join("new");
  assertEquals([agent.protocolVersion, agent.office], ["0.4", "new"]);
});

Deno.test(
  "a Computer takes the version of its config, keeps it, and is told which one an office holds",
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    const lines: string[] = [];
    const log = (message: string) => void lines.push(message);
    const logger = { debug: log, info: log, warn: log, error: log };
    const config = { protocol_version: "0.3", servers: {} };
    await using computer = Computer.open({ name: "laptop", config, logger });
    assertEquals(computer.protocolVersion, "0.3");
    await computer.reconfigure({ servers: {}, protocol_version: "0.4" });
    assertEquals(computer.protocolVersion, "0.3");
    assertEquals(lines.filter((line) => line.includes("protocol_version")).length, 1);

    await using _agent = await Agent.connect({
      url: server.url,
      office,
      name: "ada",
      protocolVersion: "0.2",
    });
    const refusal = await assertRejects(() => computer.join({ url: server.url, office }), JoinRefusedError);
    assertEquals(refusal.officeProtocol, "0.2");
    assertStringIncludes(refusal.message, 'office "lab" uses 0.2');
    assertStringIncludes(
      refusal.message,
      "(--protocol 0.2), or restart the other members with --protocol 0.3",
    );
  },
);

Deno.test("a version that this package does not speak is refused as an option", async () => {
  const options = { ...nothing, ...JSON.parse('{"protocolVersion":"0.5"}') };
  assertThrows(() => Computer.open(options), TypeError, '"0.4"');
  const connecting = () =>
    Agent.connect({
      url: "http://127.0.0.1:1",
      office,
      name: "ada",
      ...JSON.parse('{"protocolVersion":0.3}'),
    });
  await assertRejects(connecting, TypeError, "0.3");
});

Deno.test("an Agent may name an MCP server as the configuration does", async () => {
  const server = (bundle_id: string) => ({ ...kioskOnStdio(), name: "My kiosk", bundle_id });
  const config = { servers: [server("first")] };
  await using smcp = await SmcpServer.listen({ port: 0 });
  await using computer = Computer.open({ name: "laptop", config, protocolVersion: "0.4" });
  await computer.join({ url: smcp.url, office });
  await using agent = await Agent.connect({ url: smcp.url, office, name: "ada" });
  const laptop = agent.computer("laptop");
  await computer.ready();
  const { resources } = await laptop.getResources("My kiosk");
  assertEquals(resources, (await laptop.getResources("first")).resources);
  const unknown = await assertRejects(() => laptop.getResources("other"), SmcpError);
  assertEquals([unknown.code, unknown.details?.["mcp_server"]], [4014, "other"]);
});
