/**
 * The Server on the Deno that Deno Deploy documents: 2.5.0, no flags of ours, files that cannot be written, the port in
 * `PORT`, SIGINT and five seconds later the end.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { openPolling } from "../attacks/_raw_http.ts";
import { RawPeer } from "../integration/_socket.ts";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { findTool, type RunningServer, startServer } from "./_tools.ts";

const deno = findTool("deno 2.5.0", ["deno/node_modules/deno/deno"]);
const { ignore } = deno;
const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const call = { agent: "ada", req_id: "r1", computer: "laptop", tool_name: "echo", params: {}, timeout: 60 };
const result = { content: [], isError: false };

function start(...args: readonly string[]): Promise<RunningServer> {
  return startServer(args, {
    deno: deno.command,
    permissions: ["-A", "--deny-write", "--cached-only"],
    env: { DENO_DEPLOYMENT_ID: "d1", DENO_NO_UPDATE_CHECK: "1" },
  });
}

for (const transport of ["websocket", "polling"] as const) {
  Deno.test({
    name: `On Deno 2.5.0 the Server relays over ${transport}`,
    ignore,
    async fn() {
      await using server = await start();
      await using agent = await RawPeer.join(server.url, ada, { transports: [transport] });
      await using computer = await RawPeer.join(server.url, laptop, { transports: [transport] });
      computer.serve("client:tool_call", () => [result]);
      assertEquals(await agent.request("client:tool_call", call), [result]);
      assertEquals(agent.socket.io.engine.transport.name, transport);
    },
  });
}

Deno.test({
  name: "On Deno 2.5.0 our Agent and Computer go from polling to websocket",
  ignore,
  async fn() {
    await using server = await start();
    await using upgrading = await RawPeer.connect(server.url, { transports: ["polling", "websocket"] });
    const { engine } = upgrading.socket.io;
    const upgraded = new Promise<void>((resolve) => engine.once("upgrade", () => resolve()));
    if (engine.transport.name !== "websocket") await within(upgraded, "the upgrade");
    await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
    await computer.join({ url: server.url, office: "lab" });
    await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
    assertEquals(await agent.computer("laptop").getTools(), []);
  },
});

Deno.test({
  name: "On Deno 2.5.0 a refused handshake is answered: polling in HTTP, websocket with a Close frame",
  ignore,
  async fn() {
    await using server = await start();
    const answer = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling&a2c_version=9.0.0`);
    assertEquals(answer.status, 400);
    assertEquals((await answer.json()).code, 4008);
    const url = `ws://127.0.0.1:${server.port}/socket.io/?EIO=4&transport=websocket&a2c_version=9.0.0`;
    const socket = new WebSocket(url);
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener("close", resolve));
    const { code, reason } = await within(closed, "the Close frame");
    assertEquals([code, reason], [1008, "Protocol version mismatch"]);
    assert((await openPolling(server.port)).length > 0);
  },
});

Deno.test({
  name: "On Deno 2.5.0 SIGINT drains the Server: requests in flight finish, then it ends with 0",
  ignore,
  async fn() {
    await using server = await start();
    await using agent = await RawPeer.join(server.url, ada);
    await using computer = await RawPeer.join(server.url, laptop);
    const answering = Promise.withResolvers<unknown[]>();
    computer.serve("client:tool_call", () => answering.promise);
    const asked = computer.nextRequest("client:tool_call");
    const answer = agent.request("client:tool_call", call);
    await asked;
    server.program.kill("SIGINT");
    assertEquals(Object(await agent.next("notify:connection_closing")).reconnect, true);
    assertEquals((await fetchStatus(`${server.url}/readyz`)).status, 503);
    answering.resolve([result]);
    assertEquals(await answer, [result]);
    assertEquals((await server.program.end()).code, 0);
  },
});

Deno.test({
  name:
    "On Deno 2.5.0 the Server ends before it would be killed, five seconds after SIGINT, whatever is in flight",
  ignore,
  async fn() {
    await using server = await start();
    await using agent = await RawPeer.join(server.url, ada);
    await using computer = await RawPeer.join(server.url, laptop);
    const asked = computer.nextRequest("client:tool_call");
    const answer = agent.request("client:tool_call", call);
    await asked;
    server.program.kill("SIGINT");
    assertEquals(Object((await answer)[0]).code, 503);
    const { code, stderr } = await server.program.end();
    assertEquals(code, 0);
    // What is left of 4 s when the drain begins.
    assertMatch(stderr, /timeout_ms=(?:3\d{3}|4000)\b/);
    assertStringIncludes(stderr, "drained failed=1");
  },
});

async function fetchStatus(url: string): Promise<{ readonly status: number }> {
  const answer = await fetch(url);
  await answer.body?.cancel();
  return { status: answer.status };
}

Deno.test({
  name:
    "On Deno 2.5.0 instances with Redis are one Server, of websocket alone, and their members go over when one ends",
  ignore: ignore || !hasRedis,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using redis = await RedisServer.start();
    const options = ["--redis", redis.url, "--transports", "websocket", "--token", "s3cret"];
    await using first = await start(...options);
    await using second = await start(...options);
    // The balancer of the platform: what connects next comes to the Server that is named here.
    await using wire = new TcpProxy(first.port);
    const place = { url: wire.url, office: "lab", auth: { token: "s3cret" } };
    await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
    await computer.join(place);
    await using agent = await Agent.connect({ ...place, url: second.url, name: "ada" });
    assertEquals(await agent.computer("laptop").getTools(), []);
    const { port } = second;
    first.program.kill("SIGINT");
    wire.restore(port);
    assertEquals((await first.program.end()).code, 0);
    const look = () => agent.computer("laptop").getTools().then((tools) => tools.length, () => -1);
    await eventually(look, (count) => count === 0, "the return of the Computer at the other Server");
    assert(!first.program.stderr.text.includes("one instance"), first.program.stderr.text);
  },
});

Deno.test({
  name: "On Deno Deploy the Server warns once that offices live in one instance",
  ignore,
  async fn() {
    await using server = await start("--token", "s3cret");
    server.program.kill("SIGINT");
    const { stderr } = await server.program.end();
    assertEquals(stderr.match(/WARN/g)?.length, 1, stderr);
    assertMatch(stderr, /offices live in one instance/);
  },
});
