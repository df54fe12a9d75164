import { assertEquals, assertRejects } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import {
  AuthenticationError,
  JoinRefusedError,
  ProtocolVersionError,
  ServerUnreachableError,
} from "../../src/link/errors.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { ClosedPort, TcpProxy } from "../fixtures/tcp_proxy.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

Deno.test("an Agent survives a Server that is started again on the same port", async () => {
  const first = await SmcpServer.listen({ port: 0 });
  // It keeps the port for the second Server: a free one may go to another test.
  await using wire = new TcpProxy(first.port);
  await using agent = await Agent.connect({ url: wire.url, office: "lab", name: "ada" });
  const events = agent.events({ types: ["disconnected", "reconnected", "enterOffice"] });
  await first.close();
  assertEquals((await events.next()).value?.type, "disconnected");
  const waiting = agent.listOffice({ timeoutMs: 60_000 });
  await using second = await SmcpServer.listen({ port: 0 });
  wire.restore(second.port);
  assertEquals((await events.next()).value?.type, "reconnected");
  assertEquals((await waiting).map(({ name }) => name), ["ada"]);
  using _computer = await ScriptedComputer.join(second.url);
  assertEquals((await events.next()).value?.type, "enterOffice");
});

Deno.test(
  "an Agent of a web page that is left frees its seat, and returns with the page",
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    using computer = await ScriptedComputer.join(server.url);
    const logger = new LogBook();
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada", logger });
    const events = agent.events({ types: ["disconnected", "reconnected"] });
    for (const _visit of [1, 2]) {
      const left = computer.next("notify:leave_office");
      // What a browser says when it keeps a page and its connection, or ends them.
      globalThis.dispatchEvent(new Event("pagehide"));
      await within(left, "the Agent to leave");
      assertEquals((await within(events.next(), "the loss")).value?.type, "disconnected");
      assertEquals((await within(events.next(), "the return")).value?.type, "reconnected");
    }
    const losses = logger.lines.filter(({ message }) => message === "connection lost");
    assertEquals(losses.map(({ level }) => level), ["debug", "debug"]);
  },
);

Deno.test(
  "a second Agent is refused, and one that comes back takes the place of its own ghost",
  async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    const office = { url: server.url, office: "lab", name: "ada" };
    await using _agent = await Agent.connect({ ...office, auth: { session: "s1" } });
    await assertRejects(
      () => Agent.connect({ ...office, name: "bob" }),
      JoinRefusedError,
      "already has an agent",
    );
    await using returned = await Agent.connect({ ...office, auth: { session: "s1" } });
    assertEquals((await returned.listOffice()).length, 1);
  },
);

Deno.test("an Agent whose seat is taken when it comes back says so, and returns when it is free", async () => {
  // Of a WebSocket, the Server learns at once that it is gone.
  await using server = await SmcpServer.listen({ port: 0, transports: ["websocket"] });
  await using wire = new TcpProxy(server.port);
  const options = { office: "lab", joinPatienceMs: Infinity };
  await using agent = await Agent.connect({ ...options, url: wire.url, name: "ada" });
  const returned = agent.events({ types: ["reconnected"] }).next();
  wire.interrupt();
  await using rival = await Agent.connect({
    ...options,
    url: server.url,
    name: "bob",
    seatPatienceMs: 60_000,
  });
  wire.restore();
  await eventually(
    () => agent.problem,
    (problem) => problem?.message.includes("already has an agent") === true,
    "the reason",
  );
  await rival.close();
  await within(returned, "the return");
  assertEquals(agent.problem, undefined);
});

Deno.test("an Agent shows its token", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  const office = { url: server.url, office: "lab", name: "ada" };
  await using agent = await Agent.connect({ ...office, token: "s3cret" });
  assertEquals((await agent.listOffice()).length, 1);
  await assertRejects(() => Agent.connect({ ...office, token: "guess" }), AuthenticationError, "wrong token");
  await assertRejects(
    () => Agent.connect({ ...office, headers: { "x-api-key": "guess" } }),
    AuthenticationError,
  );
});

Deno.test("an Agent that meets a Server of another version says which", async () => {
  await using server = await SmcpServer.listen({ port: 0, acceptedVersions: ["0.4"] });
  const error = await assertRejects(
    () => Agent.connect({ url: server.url, office: "lab", name: "ada", protocolVersion: "0.2" }),
    ProtocolVersionError,
  );
  assertEquals(error.refusal.min_supported, "0.4.0");
});

Deno.test("an Agent gives up a Server that is not there after its time", async () => {
  await using port = await ClosedPort.open();
  await assertRejects(
    () => Agent.connect({ url: port.url, office: "lab", name: "ada", timeoutMs: 100 }),
    ServerUnreachableError,
  );
});

Deno.test("an Agent stops connecting when it is told to", async () => {
  await using port = await ClosedPort.open();
  const signal = AbortSignal.timeout(100);
  await assertRejects(
    () => Agent.connect({ url: port.url, office: "lab", name: "ada", timeoutMs: Infinity, signal }),
    DOMException,
  );
});
