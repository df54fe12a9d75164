import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Agent } from "../../agent.ts";
import { type AuthDecision, type AuthProvider, JwtTokens, SmcpServer } from "../../server.ts";
import { ISSUER, signWithSecret } from "../fixtures/issuer.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const seat = { role: "computer", name: "laptop", office_id: "lab" } as const;

function tokenFor(seconds: number, claims: Record<string, unknown> = {}): Promise<string> {
  return signWithSecret(SECRET, { exp: Math.floor(Date.now() / 1_000) + seconds, ...claims });
}

async function listen(): Promise<{ readonly server: SmcpServer } & AsyncDisposable> {
  const tokens = await JwtTokens.open({ secret: SECRET, issuer: ISSUER, clockToleranceMs: 0 });
  const server = await SmcpServer.listen({ port: 0, auth: tokens });
  return {
    server,
    async [Symbol.asyncDispose]() {
      await server.close();
      await tokens.close();
    },
  };
}

Deno.test("a call outlives the token with which it began", async () => {
  await using opened = await listen();
  const { url } = opened.server;
  await using laptop = await RawPeer.join(url, seat, { auth: { token: await tokenFor(300) } });
  let asked = 0;
  await using agent = await Agent.connect({
    url,
    office: "lab",
    name: "ada",
    credentials: async () => ({ token: await tokenFor(asked++ === 0 ? 6 : 300) }),
  });
  let isLost = false;
  agent.on("disconnected", () => void (isLost = true));
  const called = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<unknown[]>();
  laptop.serve("client:get_tools", () => {
    called.resolve();
    return answer.promise;
  });
  const expiry = Date.now() + 6_000;
  const tools = agent.computer("laptop").getTools();
  await within(called.promise, "the call");
  const isExpired = () => Date.now() > expiry + 500;
  await eventually(() => agent.listOffice(), isExpired, "the end of the first token");
  answer.resolve([{ tools: [], req_id: "r" }]);
  assertEquals(await tools, []);
  assertEquals([isLost, asked], [false, 2]);
});

Deno.test("a member is told that its credentials expire, and may renew them", async () => {
  await using opened = await listen();
  await using peer = await RawPeer.join(opened.server.url, seat, { auth: { token: await tokenFor(10) } });
  const leftMs = Number(Object(await peer.next("notify:credentials_expiring")).expires_in_ms);
  assert(leftMs > 0 && leftMs <= 5_000, `${leftMs}`);
  const auth = { token: await tokenFor(300) };
  assertEquals(await peer.request("server:renew_credentials", { auth }), [true, null]);
  await peer.request("server:list_room", { agent: "", req_id: "r", office_id: "lab" });
});

Deno.test("newer credentials are refused if they are wrong, of somebody else, or too narrow", async () => {
  let decision: AuthDecision = { principal: "ada" };
  const auth: AuthProvider = { authenticate: () => decision };
  await using server = await SmcpServer.listen({ port: 0, auth });
  const refusals: readonly [AuthDecision, string][] = [
    [{ refused: "wrong token" }, "wrong token"],
    [{ principal: "bob" }, "another principal"],
    [{ principal: "ada", grant: { offices: ["den"] } }, "membership"],
    [{ principal: "ada", grant: { roles: ["agent"] } }, "membership"],
    [{ principal: "ada", expiresAtMs: Date.now() - 1 }, "expired"],
  ];
  for (const [next, reason] of refusals) {
    decision = { principal: "ada" };
    await using peer = await RawPeer.join(server.url, seat);
    decision = next;
    const [isRenewed, text] = await peer.request("server:renew_credentials", { auth: {} });
    assertEquals(isRenewed, false);
    assertStringIncludes(String(text), reason);
    const [again, why] = await peer.request("server:renew_credentials", { auth: {} });
    assertEquals(again, false);
    assertStringIncludes(String(why), "just now");
    const [isMember] = await peer.request("server:leave_office", { office_id: "lab" });
    assertEquals(isMember, true, "the old credentials still count");
  }
});

Deno.test("newer credentials count for the joins that follow, and for the end of the connection", async () => {
  let account = new AbortController();
  let offices = ["lab"];
  const auth: AuthProvider = {
    authenticate: () => ({ principal: "ada", grant: { offices }, signal: account.signal }),
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using peer = await RawPeer.connect(server.url);
  const old = account;
  account = new AbortController();
  offices = ["den"];
  assertEquals(await peer.request("server:renew_credentials", {}), [true, null]);
  old.abort("the old credentials have ended");
  assertEquals((await peer.request("server:join_office", seat))[0], false);
  assertEquals((await peer.request("server:join_office", { ...seat, office_id: "den" }))[0], true);
  account.abort("the new credentials have ended");
  const { message } = Object(await peer.next("notify:connection_closing"));
  assertEquals(message, "the new credentials have ended");
});

Deno.test("calls do not wait while the provider decides on newer credentials, and nobody joins with what they do not allow", async () => {
  const deciding = Promise.withResolvers<void>();
  let decision: AuthDecision | Promise<AuthDecision> = { principal: "ada" };
  const auth: AuthProvider = {
    authenticate() {
      deciding.resolve();
      return decision;
    },
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using laptop = await RawPeer.join(server.url, seat);
  laptop.serve("client:echo", (body) => [body]);
  await using agent = await RawPeer.join(server.url, { role: "agent", name: "ada", office_id: "lab" });
  await using idle = await RawPeer.connect(server.url);
  const late = Promise.withResolvers<AuthDecision>();
  decision = late.promise;
  const renewals = [agent, idle].map((peer) => peer.request("server:renew_credentials", {}));
  await within(deciding.promise, "the provider");
  const body = { agent: "ada", req_id: "r", computer: "laptop" };
  const calls = Array.from({ length: 100 }, () => agent.request("client:echo", body));
  assertEquals((await Promise.all(calls)).flat(), calls.map(() => body));
  assertEquals((await agent.request("server:renew_credentials", {}))[0], false);
  assertEquals((await idle.request("server:join_office", { ...seat, office_id: "den" }))[0], true);
  late.resolve({ principal: "ada", grant: { offices: ["lab"] } });
  const [own, other] = await Promise.all(renewals);
  assertEquals(own, [true, null]);
  assertStringIncludes(String(other?.[1]), "membership");
});

Deno.test("malformed newer credentials are refused", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using peer = await RawPeer.connect(server.url);
  const bodies: readonly unknown[] = [
    null,
    "token",
    [],
    { auth: "token" },
    { auth: [] },
    { headers: { authorization: 5 } },
    { headers: [] },
    { auth: { token: "x".repeat(100_000) } },
  ];
  for (const body of bodies) {
    const [isRenewed] = await peer.request("server:renew_credentials", body);
    assertEquals(isRenewed, false, JSON.stringify(body).slice(0, 50));
  }
  const headers = { Authorization: "Bearer t", "__proto__": "x" };
  assertEquals(await peer.request("server:renew_credentials", { headers }), [true, null]);
});
