import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { io } from "socket.io-client";
import { Agent, SmcpError } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { SmcpServer } from "../../server.ts";
import { RawMember } from "../attacks/_raw_member.ts";
import type { RunningDoor } from "../fixtures/door.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import { hasRedis, RedisServer } from "../fixtures/redis_server.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const call = { agent: "ada", req_id: "r1", computer: "laptop", tool_name: "echo", params: {}, timeout: 60 };

interface Started extends AsyncDisposable {
  readonly program: RunningDoor;
  readonly url: string;
  readonly port: number;
}

/** Starts `server.ts`. */
async function start(...args: readonly string[]): Promise<Started> {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const program = startHosted("server.ts", [...args, ...port]);
  const url = await program.listening();
  return {
    program,
    url,
    port: Number(new URL(url).port),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

async function statusOf(
  url: string,
): Promise<{ readonly status: number; readonly retryAfter: string | null }> {
  const answer = await fetch(url);
  await answer.body?.cancel();
  return { status: answer.status, retryAfter: answer.headers.get("retry-after") };
}

Deno.test("a Server that shuts down finishes requests in flight, and takes no new session or request", async () => {
  await using server = await start("--drain-timeout", "30s");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const answering = Promise.withResolvers<unknown[]>();
  computer.serve("client:tool_call", () => answering.promise);
  computer.serve("client:x", () => ["no"]);
  assertEquals((await statusOf(`${server.url}/readyz`)).status, 200);
  const asked = computer.nextRequest("client:tool_call");
  const answer = agent.request("client:tool_call", call);
  await asked;
  server.program.kill("SIGTERM");
  const farewell = Object(await agent.next("notify:connection_closing"));
  assertEquals([farewell.code, farewell.reconnect], ["server_closing", true]);
  assertEquals((await statusOf(`${server.url}/readyz`)).status, 503);
  assertEquals((await statusOf(`${server.url}/healthz`)).status, 200);
  const polling = `${server.url}/socket.io/?EIO=4&transport=polling&a2c_version=0.2.0`;
  for (const url of [polling, `${polling}&sid=of-another-server`]) {
    assertEquals(await statusOf(url), { status: 503, retryAfter: "1" }, url);
  }
  let refusal: unknown;
  do [refusal] = await agent.request("client:x", { ...call, req_id: "r2" }); while (refusal === "no");
  assertEquals([Object(refusal).code, Object(refusal).details], [503, undefined]);
  answering.resolve([{ content: [], isError: false }]);
  assertEquals(await answer, [{ content: [], isError: false }]);
  await within(agent.disconnected, "the end of the connection");
  assertEquals((await server.program.end()).code, 0);
});

for (const transport of ["websocket", "polling"] as const) {
  Deno.test(`a client of Socket.IO comes back by itself after a restart of the Server (${transport})`, async () => {
    await using server = await SmcpServer.listen({ port: 0 });
    const socket = io(`${server.url}/smcp`, {
      transports: [transport],
      query: { a2c_version: "0.4.0" },
      reconnection: false,
      forceNew: true,
    });
    try {
      const ended = Promise.withResolvers<string>();
      socket.on("disconnect", ended.resolve);
      const connected = Promise.withResolvers<void>();
      socket.on("connect", connected.resolve);
      await within(connected.promise, "the connection");
      await server.drain();
      // After "io server disconnect", a client stays away.
      assertEquals(await within(ended.promise, "the end of the connection"), "transport close");
    } finally {
      socket.disconnect();
    }
  });
}

Deno.test("a Server that shuts down fails what is not answered in time with 503, and ends with 0", async () => {
  await using server = await start("--drain-timeout", "700ms", "--log-format", "text");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const asked = computer.nextRequest("client:tool_call");
  const answer = agent.request("client:tool_call", call);
  await asked;
  server.program.kill("SIGINT");
  const [failed] = await answer;
  assertEquals([Object(failed).code, Object(failed).isError], [503, true]);
  assertEquals(Object(failed).details, { computer_name: "laptop", may_have_run: true });
  assertStringIncludes(Object(failed).message, "may have run");
  const { code, stderr } = await server.program.end();
  assertEquals(code, 0);
  assertMatch(stderr, /draining connections=2 in_flight=1 timeout_ms=\d+$/m);
  assertStringIncludes(stderr, "drained failed=1");
});

for (const ends of ["Agent", "Computer"] as const) {
  Deno.test({
    name: `the process of the ${ends} that shuts down fails a call between two processes with 503`,
    ignore: !hasRedis,
    async fn() {
      await using redis = await RedisServer.start();
      const options = ["--redis", redis.url, "--drain-timeout", "700ms"];
      await using agentSide = await start(...options);
      await using computerSide = await start(...options);
      await using agent = await RawPeer.join(agentSide.url, ada);
      // Its process learns from the other one that the Computer is there.
      const entered = agent.next("notify:enter_office");
      await using computer = await RawPeer.join(computerSide.url, laptop);
      await entered;
      const asked = computer.nextRequest("client:tool_call");
      const answer = agent.request("client:tool_call", call);
      await asked;
      (ends === "Agent" ? agentSide : computerSide).program.kill("SIGTERM");
      const [failed] = await within(answer, "the failed call");
      assertEquals([Object(failed).code, Object(failed).details?.may_have_run], [503, true]);
    },
  });
}

Deno.test("SIGHUP lets a Server finish requests in flight, however often it comes", async () => {
  await using server = await start("--drain-timeout", "30s");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const answering = Promise.withResolvers<unknown[]>();
  computer.serve("client:tool_call", () => answering.promise);
  const asked = computer.nextRequest("client:tool_call");
  const answer = agent.request("client:tool_call", call);
  await asked;
  server.program.kill("SIGHUP");
  await agent.next("notify:connection_closing");
  server.program.kill("SIGHUP");
  answering.resolve([{ content: [], isError: false }]);
  assertEquals(await answer, [{ content: [], isError: false }]);
  assertEquals((await server.program.end()).code, 0);
});

Deno.test("a Server that shuts down does not wait for members that read nothing", async () => {
  await using server = await start("--drain-timeout", "500ms");
  await using agent = await RawPeer.join(server.url, ada);
  using _deaf = await RawMember.join({ port: server.port }, laptop);
  for (let i = 0; i < 50; i++) agent.socket.emit("client:x", { ...call, text: "x".repeat(200 * 1024) });
  await agent.settled();
  server.program.kill("SIGTERM");
  assertEquals((await server.program.end()).code, 0);
});

Deno.test("a Server that shuts down does not wait for a member that keeps asking", async () => {
  await using server = await start("--drain-timeout", "1h");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:x", () => ["here"]);
  const outcomes = new Set<unknown>();
  const ask = async () => {
    const [answer] = await agent.request("client:x", call);
    outcomes.add(answer === "here" ? answer : Object(answer).code);
  };
  const asking = (async () => {
    while (agent.socket.connected) await ask();
  })().catch(() => {});
  await eventually(() => outcomes.has("here"), (isServed) => isServed, "the first answer");
  server.program.kill("SIGTERM");
  assertEquals((await server.program.end()).code, 0);
  await asking;
  // The connection may have been closed between two requests.
  assertEquals(outcomes.difference(new Set(["here", 503])), new Set());
});

Deno.test("drain() may be called twice, and close() ends it at once", async () => {
  const server = await SmcpServer.listen({ port: 0 });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const asked = computer.nextRequest("client:tool_call");
  agent.request("client:tool_call", call).catch(() => {});
  await asked;
  const drains = [server.drain({ timeoutMs: 3_600_000 }), server.drain()];
  await agent.next("notify:connection_closing");
  await server.close();
  await within(Promise.all(drains), "the end of the drain");
  await server.drain();
});

Deno.test("a second signal ends a Server that shuts down at once", async () => {
  await using server = await start("--drain-timeout", "1h");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const asked = computer.nextRequest("client:tool_call");
  agent.request("client:tool_call", call).catch(() => {});
  await asked;
  server.program.kill("SIGTERM");
  await agent.next("notify:connection_closing");
  // One that comes at once is taken for a repetition.
  const repeat = setInterval(() => {
    try {
      server.program.kill("SIGTERM");
    } catch {
      // It has ended.
    }
  }, 100);
  try {
    assertEquals((await server.program.end()).code, 130);
  } finally {
    clearInterval(repeat);
  }
});

Deno.test("a signal that a launcher passes on to a Server that has got it as well is one signal", async () => {
  await using server = await start("--drain-timeout", "1h");
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const [isAsked, mayAnswer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  computer.serve("client:tool_call", async () => {
    isAsked.resolve();
    await mayAnswer.promise;
    return ["done"];
  });
  const answered = agent.request("client:tool_call", call);
  await within(isAsked.promise, "the request");
  server.program.kill("SIGTERM");
  server.program.kill("SIGTERM");
  await agent.next("notify:connection_closing");
  mayAnswer.resolve();
  assertEquals(await answered, ["done"]);
  assertEquals((await server.program.end()).code, 0);
});

Deno.test("a restart of the Server under load loses no call of our Agent and Computer", async () => {
  const first = await start();
  await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
  await computer.join({ url: first.url, office: "lab" });
  await using agent = await Agent.connect({ url: first.url, office: "lab", name: "ada" });
  const laptop = agent.computer("laptop");
  const isBack = new Promise((resolve) => void agent.on("reconnected", resolve));
  let isEnough = false;
  let calls = 0;
  const caller = async () => {
    // After its return, the Agent may be in the office before the Computer.
    while (!isEnough) if (await laptop.getTools().then(() => true, isNotFound)) calls++;
  };
  const callers = Array.from({ length: 16 }, caller);
  first.program.kill("SIGTERM");
  assertEquals((await first.program.end()).code, 0);
  const callsBefore = calls;
  await using _second = await start("--port", String(first.port));
  await within(isBack, "the return of the Agent");
  await eventually(() => calls, (calls) => calls > callsBefore + 100, "calls after the restart");
  isEnough = true;
  await within(Promise.all(callers), "the callers");
});

/** `false` for a Computer that is not in the office; rejects for any other failure. */
function isNotFound(error: unknown): Promise<boolean> {
  return error instanceof SmcpError && error.code === 404 ? Promise.resolve(false) : Promise.reject(error);
}
