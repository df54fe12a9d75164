import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { Agent, AuthenticationError, ConnectionClosedError } from "../../agent.ts";
import { Computer } from "../../computer.ts";
import { type AuthProvider, type CredentialsEnd, CredentialsEndedError, SmcpServer } from "../../server.ts";
import { RawPeer } from "./_socket.ts";
import { exchange, joinByPolling } from "../attacks/_raw_http.ts";
import { within } from "../fixtures/within.ts";

const lab = { role: "agent", name: "ada", office_id: "lab" } as const;

/** Admits everybody as `ada`, until the account is closed, except guests. The next account is open again. */
function accounts() {
  let account = new AbortController();
  const auth: AuthProvider = {
    authenticate: ({ auth }) =>
      auth["guest"] === true ? { principal: "guest" } : { principal: "ada", signal: account.signal },
  };
  const end = (reason: unknown) => {
    const ended = account;
    account = new AbortController();
    ended.abort(reason);
  };
  return { auth, end };
}

const ENDS: Readonly<Record<CredentialsEnd, boolean>> = { expired: false, revoked: false, changed: true };

Deno.test("the error with which a provider ends credentials is not sent, a text is", async () => {
  const { auth, end } = accounts();
  await using server = await SmcpServer.listen({ port: 0, auth });
  const messages: unknown[] = [];
  for (const reason of [new TypeError("secret"), "Come back tomorrow", undefined]) {
    await using peer = await RawPeer.join(server.url, lab);
    const heard = peer.next("notify:connection_closing");
    end(reason);
    messages.push(Object(await heard).message);
    await within(peer.disconnected, "the end of the connection");
  }
  const unsaid = "The credentials are no longer accepted";
  assertEquals(messages, [unsaid, "Come back tomorrow", unsaid]);
});

Deno.test("the connection of credentials that expire is ended at that time", async () => {
  let end = () => ({});
  const auth: AuthProvider = { authenticate: () => ({ principal: "ada", ...end() }) };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using peer = await RawPeer.connect(server.url);
  end = () => ({ expiresAtMs: Date.now() + 1_000 });
  peer.socket.emit("server:renew_credentials", {});
  assertEquals(Object(await peer.next("notify:connection_closing")).code, "credentials_expired");
  await within(peer.disconnected, "the end of the connection");
});

Deno.test("credentials that have ended before the decision admit nobody", async () => {
  const decisions = [{ expiresAtMs: Date.now() - 1 }, { expiresAtMs: NaN }, {
    signal: AbortSignal.abort("gone"),
  }];
  for (const decision of decisions) {
    const auth: AuthProvider = { authenticate: () => ({ principal: "ada", ...decision }) };
    await using server = await SmcpServer.listen({ port: 0, auth });
    const error = await RawPeer.connect(server.url).then(() => undefined, (error) => error);
    assertStringIncludes(String(error?.message), "Unauthorized");
  }
});

Deno.test("a replaced connection hears that a newer one has taken its place", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const auth = { session: crypto.randomUUID() };
  await using older = await RawPeer.join(server.url, lab, { auth });
  await using _newer = await RawPeer.join(server.url, lab, { auth });
  assertEquals(Object(await older.next("notify:connection_closing")).code, "session_replaced");
  await within(older.disconnected, "the end of the older connection");
});

Deno.test("an Agent whose credentials are revoked stops, and shows the reason", async () => {
  const { auth, end } = accounts();
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const failed = new Promise<Error>((resolve) => void agent.on("failed", ({ error }) => resolve(error)));
  const lost = new Promise((resolve) => void agent.on("disconnected", (event) => resolve(event)));
  end(new CredentialsEndedError("The account is closed", { kind: "revoked" }));
  const message = "The account is closed";
  assertEquals(await within(lost, "the loss"), {
    type: "disconnected",
    reason: message,
    farewell: { code: "credentials_revoked", message, reconnect: false },
  });
  const error = await within(failed, "the failure");
  assertInstanceOf(error, AuthenticationError);
  assertStringIncludes(error.message, message);
});

Deno.test("an Agent whose permissions have changed comes back", async () => {
  const { auth, end } = accounts();
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const returned = new Promise((resolve) => void agent.on("reconnected", resolve));
  end(new CredentialsEndedError("Permissions changed", { kind: "changed" }));
  await within(returned, "the return");
  assertEquals((await agent.listOffice()).map(({ name }) => name), ["ada"]);
});

Deno.test("a request in flight fails with the reason of the Server", async () => {
  const { auth, end } = accounts();
  await using server = await SmcpServer.listen({ port: 0, auth });
  const seat = { role: "computer", name: "laptop", office_id: "lab" } as const;
  await using laptop = await RawPeer.join(server.url, seat, { auth: { guest: true } });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  const asked = laptop.nextRequest("client:get_tools");
  const tools = agent.computer("laptop").getTools().then(() => undefined, (error) => error);
  await asked;
  end(new CredentialsEndedError("The account is closed", { kind: "revoked" }));
  const error = await within(tools, "the end of the request");
  assertInstanceOf(error, ConnectionClosedError);
  assertStringIncludes(error.message, "The account is closed");
});

Deno.test("a Computer whose credentials are revoked tells its owner why", async () => {
  const { auth, end } = accounts();
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using computer = Computer.open({ name: "laptop", config: { servers: {}, inputs: [] } });
  const failed = Promise.withResolvers<Error>();
  await computer.join({ url: server.url, office: "lab", onFailed: failed.resolve });
  end(new CredentialsEndedError("The account is closed", { kind: "revoked" }));
  const error = await within(failed.promise, "the failure");
  assertInstanceOf(error, AuthenticationError);
  assertStringIncludes(error.message, "The account is closed");
  assertEquals(computer.connection, undefined);
});

for (const [kind, reconnect] of Object.entries(ENDS)) {
  const reason = new CredentialsEndedError("The account is closed", { kind: kind as CredentialsEnd });
  const expected = { code: `credentials_${kind}`, message: "The account is closed", reconnect };

  Deno.test(`a member hears by websocket that its credentials are ${kind}, before its connection ends`, async () => {
    const { auth, end } = accounts();
    await using server = await SmcpServer.listen({ port: 0, auth });
    await using peer = await RawPeer.join(server.url, lab);
    const heard = peer.next("notify:connection_closing");
    end(reason);
    assertEquals(await heard, expected);
    await within(peer.disconnected, "the end of the connection");
  });

  Deno.test(`a member hears by polling that its credentials are ${kind}, before its connection ends`, async () => {
    const { auth, end } = accounts();
    await using server = await SmcpServer.listen({ port: 0, auth });
    const target = await joinByPolling(server.port);
    end(reason);
    const { body } = await exchange(server.port, { target });
    const [event = "", ...ends] = body.split("\x1e");
    assertEquals(JSON.parse(event.replace(/^42\/smcp,/, "")), ["notify:connection_closing", expected]);
    assertEquals(ends, ["41/smcp,"]);
    assertEquals((await exchange(server.port, { target })).body, "1");
  });
}
