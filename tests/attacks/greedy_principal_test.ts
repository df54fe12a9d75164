/** Attacker: the holder of one token, or one machine. It takes the connections, requests and offices that are there for all */
import {
  assert,
  assertEquals,
  AssertionError,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { type ListenOptions, SmcpServer, staticTokens } from "../../server.ts";
import { openConnection } from "../../src/link/connect.ts";
import { ServerUnreachableError } from "../../src/link/errors.ts";
import { eventually } from "../fixtures/within.ts";
import { type Membership, type PeerOptions, RawPeer, RecordingLogger } from "../integration/_socket.ts";
import { exchange, POLLING } from "./_raw_http.ts";
import { withConstants } from "../../src/server/options/constants.ts";

const GREEDY: PeerOptions = { auth: { token: "greedy" } };
const MODEST: PeerOptions = { auth: { token: "modest" } };
const ECHO = { agent: "ada", req_id: "r", computer: "nobody" };

/** Two connections of one address, of many that there may be in all. */
const TWO_OF_ONE_ADDRESS: ListenOptions = { maxSockets: 200, ...withConstants({ connectionsShare: 0.01 }) };

function listen(options: ListenOptions): Promise<SmcpServer> {
  const auth = staticTokens({ tokens: ["greedy", "modest"] });
  return SmcpServer.listen({ port: 0, auth, metrics: true, ...options });
}

const computer = (office_id: string, name = "laptop"): Membership => ({ role: "computer", name, office_id });

/** The details of an error that must be a 429. */
function detailsOf(error: unknown): Readonly<Record<string, unknown>> {
  const { code, details } = Object(error);
  assertEquals(code, 429, JSON.stringify(error));
  return Object(details);
}

/** The JSON of a body that may come in chunks. */
function jsonOf(body: string): unknown {
  return JSON.parse(/\{.*\}/.exec(body)?.[0] ?? "");
}

/** The refusal of a connection by the namespace. */
async function refusalOf(
  server: SmcpServer,
  options: PeerOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const error = await assertRejects(() => RawPeer.connect(server.url, options), Error);
  return detailsOf("data" in error ? error.data : undefined);
}

async function assertCounted(server: SmcpServer, metric: string): Promise<void> {
  assertStringIncludes(await server.metrics(), `\n${metric}\n`);
}

/**
 * Attempts, many at once, until some are refused: one after another, a machine under load makes no more of them than are
 * allowed. 200 are allowed at once, and one more each second.
 */
async function untilRefused<T>(attempt: () => Promise<T | undefined>): Promise<T[]> {
  for (let round = 0; round < 30; round++) {
    const answers = await Promise.all(Array.from({ length: 25 }, attempt));
    const refusals = answers.filter((answer) => answer !== undefined);
    if (refusals.length > 0) return refusals;
  }
  throw new AssertionError("Nothing of 750 attempts was refused");
}

Deno.test("One principal has a bounded number of connections, others still connect, and a closed one makes room", async () => {
  const logger = new RecordingLogger();
  await using server = await listen({ maxConnectionsPerPrincipal: 2, logger });
  await using first = await RawPeer.connect(server.url, GREEDY);
  await using _second = await RawPeer.connect(server.url, GREEDY);
  assertEquals(await refusalOf(server, GREEDY), { limit: 2, option: "maxConnectionsPerPrincipal" });
  await using _other = await RawPeer.connect(server.url, MODEST);
  await first[Symbol.asyncDispose]();
  const connect = () => RawPeer.connect(server.url, GREEDY).catch(() => undefined);
  await using _third = await eventually(connect, (peer) => peer !== undefined, "room for another connection");
  await assertCounted(server, 'a2c_refusals_total{reason="connection_limit"} 1');
  assert(
    logger.lines.some(({ fields }) =>
      String(fields["reason"]).includes("--max-connections-per-principal (maxConnectionsPerPrincipal)")
    ),
  );
});

Deno.test("One address has a bounded number of connections, told by HTTP 429 before a session is opened", async () => {
  await using server = await listen(TWO_OF_ONE_ADDRESS);
  await using _first = await RawPeer.connect(server.url, GREEDY);
  await using _second = await RawPeer.connect(server.url, MODEST);
  const { status, body } = await exchange(server.port, { target: POLLING });
  assertEquals(status, 429);
  assertEquals(detailsOf(jsonOf(body)), { limit: 2, option: "maxConnectionsPerAddress" });
});

Deno.test("One address opens a bounded number of connections a second, admitted or not", async () => {
  await using server = await listen(withConstants({ maxConnectsPerAddress: 1 }));
  const refusals = await untilRefused(async () => {
    const { status, body } = await exchange(server.port, { target: POLLING });
    return status === 429 ? detailsOf(jsonOf(body)) : undefined;
  });
  for (const { limit, option, retry_after_ms } of refusals) {
    assertEquals([limit, option], [1, "maxConnectsPerAddress"]);
    assert(Number(retry_after_ms) > 0 && Number(retry_after_ms) <= 1_000);
  }
  await assertCounted(server, `a2c_refusals_total{reason="connect_rate"} ${refusals.length}`);
});

Deno.test("One principal opens a bounded number of connections a second, and disconnecting gives it no new budget", async () => {
  await using server = await listen(withConstants({ maxConnectsPerPrincipal: 1 }));
  const connect = async () => {
    const peer = await RawPeer.connect(server.url, GREEDY).catch((error) => detailsOf(error.data));
    if (!(peer instanceof RawPeer)) return peer;
    await peer[Symbol.asyncDispose]();
    return undefined;
  };
  const [refusal] = await untilRefused(connect);
  assertEquals(refusal?.["option"], "maxConnectsPerPrincipal");
  await using _other = await RawPeer.connect(server.url, MODEST);
});

Deno.test("The events of one principal are bounded, over all of its connections", async () => {
  await using server = await listen({ maxRequestsPerPrincipal: 1 });
  const peers = [await RawPeer.connect(server.url, GREEDY), await RawPeer.connect(server.url, GREEDY)];
  await using other = await RawPeer.connect(server.url, MODEST);
  const codes: unknown[] = [];
  let details: unknown;
  for (let round = 0; round < 10; round++) {
    for (const peer of peers) {
      const [answer] = await peer.request("client:echo", ECHO);
      const { code } = Object(answer);
      codes.push(code);
      if (code === 429) details = detailsOf(answer);
    }
  }
  assert(codes.filter((code) => code === 4103).length >= 5, String(codes));
  assertEquals(Object(details)["option"], "maxRequestsPerPrincipal");
  assert(Object(details)["retry_after_ms"] <= 1_000);
  const [answer] = await other.request("client:echo", ECHO);
  assertEquals(Object(answer)["code"], 4103);
  assertStringIncludes(await server.metrics(), 'a2c_request_errors_total{event="client:other",code="429"}');
  for (const peer of peers) await peer[Symbol.asyncDispose]();
});

Deno.test("Questions for progress and cancels take nothing of what calls may use, and are bounded as well", async () => {
  await using server = await listen({ maxRequestsPerPrincipal: 1 });
  await using peer = await RawPeer.connect(server.url, GREEDY);
  const follow = { agent: "ada", req_id: "r1", computer: "laptop", call: "r2" };
  const answersTo = async (event: string, body: unknown) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => peer.request(event, body)));
    return answers.map(([answer]) => answer);
  };
  for (
    const [event, body] of [["client:follow_call", follow], ["server:tool_call_cancel", follow]] as const
  ) {
    const answers = await answersTo(event, body);
    assertEquals(answers.filter((each) => Object(each).code === 429).length < answers.length, true, event);
    assert(Object(detailsOf(answers.find((each) => Object(each).code === 429)))["retry_after_ms"] > 0);
  }
  const codes = (await answersTo("client:echo", ECHO)).map((each) => Object(each).code);
  assert(codes.filter((code) => code === 4103).length >= 5, String(codes));
});

Deno.test("The members of one office are bounded; one that comes back takes its own place", async () => {
  await using server = await listen({ maxMembersPerOffice: 3 });
  const session = { auth: { token: "greedy", session: "s" } };
  await using _one = await RawPeer.join(server.url, computer("lab", "one"), session);
  await using _two = await RawPeer.join(server.url, computer("lab", "two"), GREEDY);
  await using third = await RawPeer.connect(server.url, GREEDY);
  const [isJoined, reason] = await third.request("server:join_office", computer("lab", "three"));
  assertEquals(isJoined, false);
  assertStringIncludes(String(reason), "2 Computers, and the last of 3 places is that of its Agent");
  assertStringIncludes(String(reason), "--max-members-per-office (maxMembersPerOffice)");
  assertMatch(String(reason), /\(429\)$/);
  await using _back = await RawPeer.join(server.url, computer("lab", "one"), session);
});

Deno.test("Computers cannot keep the Agent out of their office by their number", async () => {
  await using server = await listen({ maxMembersPerOffice: 2 });
  await using _one = await RawPeer.join(server.url, computer("lab", "one"), GREEDY);
  await using second = await RawPeer.connect(server.url, GREEDY);
  const join = () => second.request("server:join_office", computer("lab", "two"));
  assertEquals((await join())[0], false);
  await using agent = await RawPeer.join(
    server.url,
    { role: "agent", name: "ada", office_id: "lab" },
    MODEST,
  );
  assertEquals((await join())[0], false);
  await agent.cut();
  assertEquals((await join())[0], false);
});

Deno.test("An office of one place takes whoever comes first", async () => {
  await using server = await listen({ maxMembersPerOffice: 1 });
  await using _one = await RawPeer.join(server.url, computer("lab", "one"), GREEDY);
  await using agent = await RawPeer.connect(server.url, MODEST);
  const join = { role: "agent", name: "ada", office_id: "lab" };
  const [isJoined, reason] = await agent.request("server:join_office", join);
  assertEquals(isJoined, false);
  assertMatch(String(reason), /it is full, the limit is 1 members.*\(429\)$/);
});

Deno.test("Our own client takes a 429 for a reason to try again, whichever way it came", async () => {
  await using server = await listen({ maxConnectionsPerPrincipal: 1, ...TWO_OF_ONE_ADDRESS });
  const connect = () =>
    openConnection({ url: server.url, auth: { token: "greedy" } }, {
      onEvent() {},
      signal: new AbortController().signal,
      timeoutMs: 10_000,
    });
  await using _first = await RawPeer.connect(server.url, GREEDY);
  const assertTemporary = async (option: string) => {
    const error = await assertRejects(connect, ServerUnreachableError, option);
    assertEquals(error.isPermanent, false);
  };
  await assertTemporary("maxConnectionsPerPrincipal");
  await using _second = await RawPeer.connect(server.url, MODEST);
  await assertTemporary("connections of this address");
});
