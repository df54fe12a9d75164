import { assertEquals, assertInstanceOf, assertRejects, assertThrows } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { parseConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/problem.ts";
import { readResolved } from "../../src/config/values.ts";
import { Fleet } from "../../src/mcp/supervision/fleet.ts";
import { DEFAULT_LIMITS } from "../../src/config/limits.ts";
import { silentLogger } from "../../src/log.ts";
import { AuthenticationError, ConnectionClosedError, ServerUnreachableError } from "../../src/link/errors.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ClosedPort, TcpProxy } from "../fixtures/tcp_proxy.ts";
import { deafListener } from "../fixtures/deaf_listener.ts";

const empty = { servers: {} };

async function members(agent: Agent): Promise<string[]> {
  return (await agent.listOffice()).map(({ name }) => name).toSorted();
}

Deno.test("a Computer needs a name that can be one and a config that can be read", () => {
  for (const name of ["", "a\nb", "x".repeat(129)]) {
    assertThrows(() => Computer.open({ name, config: empty }), TypeError, "Cannot open Computer");
  }
  assertThrows(() => Computer.open({ name: "laptop", config: {} }), ConfigError);
});

Deno.test("a Computer joins, leaves and joins another office, its MCP servers running all the while", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = Computer.open({ name: "laptop", config: scriptedServers({ s: {} }) });
  await using agent = await Agent.connect({ url: server.url, office: "attic", name: "ada" });
  await computer.join({ url: server.url, office: "lab" });
  assertEquals(await members(agent), ["ada"]);
  await computer.leave();
  await computer.leave();
  await computer.join({ url: server.url, office: "attic" });
  assertEquals(await members(agent), ["ada", "laptop"]);
  await computer.ready();
  assertEquals(computer.servers.get("s")?.status, "running");
});

Deno.test("a Computer that is in an office, or on its way there, joins no other one", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using computer = Computer.open({ name: "laptop", config: empty });
  const joining = computer.join({ url: server.url, office: "lab" });
  await assertRejects(
    () => computer.join({ url: server.url, office: "attic" }),
    TypeError,
    "another connect or join",
  );
  await joining;
  await assertRejects(
    () => computer.join({ url: server.url, office: "attic" }),
    TypeError,
    "leave office",
  );
});

Deno.test("a Computer that is closed joins nothing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const computer = Computer.open({ name: "laptop", config: empty });
  await computer.close();
  await assertRejects(() => computer.join({ url: server.url, office: "lab" }), TypeError, "closed");
});

Deno.test("closing a Computer ends its search for a Server", async () => {
  await using port = await ClosedPort.open();
  const computer = Computer.open({ name: "laptop", config: empty });
  const joining = assertRejects(
    () => computer.join({ url: port.url, office: "lab" }),
    ConnectionClosedError,
    "the Computer was closed",
  );
  await computer.close();
  await joining;
});

// A refused handshake leaves a timer behind in engine.io-client.
Deno.test({
  name: "a Computer whose connection failed for good is nowhere, and free to join again",
  async fn() {
    let isOpen = true;
    await using server = await SmcpServer.listen({
      port: 0,
      auth: { authenticate: () => isOpen ? { principal: "p" } : { refused: "expired" } },
    });
    await using wire = new TcpProxy(server.port);
    await using computer = Computer.open({ name: "laptop", config: empty });
    const { promise: failed, resolve } = Promise.withResolvers<Error>();
    await computer.join({ url: wire.url, office: "lab", onFailed: resolve });
    isOpen = false;
    wire.cut();
    assertInstanceOf(await failed, AuthenticationError);
    assertEquals(computer.connection, undefined);
    isOpen = true;
    await computer.join({ url: wire.url, office: "lab" });
    assertEquals(computer.connection?.office, "lab");
  },
});

Deno.test("a join that fails leaves the Computer free to join again", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  await using computer = Computer.open({ name: "laptop", config: empty });
  const { url } = server;
  await assertRejects(() => computer.join({ url, office: "lab", token: "wrong" }), AuthenticationError);
  await assertRejects(
    () => computer.join({ url: "http://127.0.0.1:1", office: "lab", timeoutMs: 1 }),
    ServerUnreachableError,
  );
  await computer.join({ url, office: "lab", token: "s3cret" });
});

Deno.test("a Computer tells of no change before the Server has it in an office", async () => {
  const log = new LogBook();
  await using server = await SmcpServer.listen({ port: 0, logger: log });
  await using computer = Computer.open({ name: "laptop", config: empty });
  await computer.connect({ url: server.url });
  await computer.reconfigure(scriptedServers({ s: {} }));
  await computer.ready();
  await computer.join({ url: server.url, office: "lab" });
  assertEquals(log.of("warn"), []);
});

Deno.test("a fleet follows its configurations: it adds, finds and removes servers by name", async () => {
  const listener = {
    onRunning() {},
    onStateChange() {},
    ...deafListener,
  };
  const { servers: [a, b] } = parseConfig(scriptedServers({ a: {}, b: { exitAtStart: true } }));
  if (a === undefined || b === undefined) throw new TypeError("no config");
  await using fleet = new Fleet({
    limits: DEFAULT_LIMITS,
    log: silentLogger,
    listen: () => listener,
    resolve: (config) => Promise.resolve(readResolved(config.name, config)),
  });
  assertEquals(fleet.follow([a, b]).added, ["a", "b"]);
  await Promise.all(fleet.servers.map((server) => server.settled()));
  assertEquals(fleet.servers.map(({ name, state }) => [name, state.status]), [["a", "running"], [
    "b",
    "retrying",
  ]]);
  const removed = fleet.get("a");
  assertEquals(fleet.follow([b]), { added: [], removed: ["a"], replaced: [], adopted: [] });
  await fleet.quiet();
  assertEquals([fleet.get("a"), removed?.state.status], [undefined, "stopped"]);
});
