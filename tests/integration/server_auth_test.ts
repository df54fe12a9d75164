import { assert, assertEquals, assertRejects } from "@std/assert";
import { type AuthProvider, SmcpServer, staticTokens } from "../../server.ts";
import { Agent } from "../../agent.ts";
import { type PeerOptions, RawPeer, RecordingLogger } from "./_socket.ts";

/** The connect error of a refused connection. */
async function refusalOf(
  url: string,
  options: PeerOptions = {},
): Promise<{ message: string; data: unknown }> {
  const error = await assertRejects(() => RawPeer.connect(url, options), Error);
  return { message: error.message, data: "data" in error ? error.data : undefined };
}

Deno.test("A token is taken from the auth object or from the header, and anything else refused with a connect error", async () => {
  await using server = await SmcpServer.listen({
    port: 0,
    auth: staticTokens({ tokens: ["s3cret", "other"] }),
  });
  for (
    const options of [{ auth: { token: "s3cret" } }, { auth: { token: "other" } }, {
      headers: { "x-api-key": "s3cret" },
    }]
  ) {
    await using _peer = await RawPeer.connect(server.url, options);
  }
  assertEquals(await refusalOf(server.url, { auth: { token: "guess" } }), {
    message: "Unauthorized: wrong token",
    data: { code: 401, message: "Unauthorized: wrong token" },
  });
  for (
    const auth of [{}, { token: "" }, { token: null }, { token: ["s3cret"] }, { token: { a: 1 } }, {
      role: "agent",
    }]
  ) {
    assertEquals((await refusalOf(server.url, { auth })).message, "Unauthorized: no token");
  }
});

Deno.test("The names of the field and the header can be set", async () => {
  const auth = staticTokens({ tokens: ["s3cret"], field: "api_key", header: "Access_Token" });
  await using server = await SmcpServer.listen({ port: 0, auth });
  for (const options of [{ auth: { api_key: "s3cret" } }, { headers: { "access_token": "s3cret" } }]) {
    await using _peer = await RawPeer.connect(server.url, options);
  }
  assertEquals(
    (await refusalOf(server.url, { auth: { token: "s3cret" } })).message,
    "Unauthorized: no token",
  );
});

Deno.test("An AuthProvider of the host program sees auth, headers, query and address", async () => {
  const seen: unknown[] = [];
  const auth: AuthProvider = {
    authenticate({ auth, headers, query, address }) {
      seen.push([auth["user"], headers["x-who"], query["a2c_version"], address]);
      return { principal: "ada" };
    },
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using _peer = await RawPeer.connect(server.url, { auth: { user: "u" }, headers: { "X-Who": "w" } });
  assertEquals(seen, [["u", "w", "0.2.0", "127.0.0.1"]]);
});

// proves: guide-error-no-secrets
Deno.test("An AuthProvider that throws refuses for now, and its error stays in the log", async () => {
  const logger = new RecordingLogger();
  const auth: AuthProvider = {
    authenticate: () => Promise.reject(new TypeError("ldap://admin:pw@10.0.0.1")),
  };
  await using server = await SmcpServer.listen({ port: 0, auth, logger });
  const { message, data } = await refusalOf(server.url);
  assertEquals(data, { code: 503, message });
  assert(!message.includes("ldap") && !message.includes("Unauthorized"), message);
  assert(logger.lines.some(({ fields }) => String(fields["error"]).includes("ldap")));
});

Deno.test("A client whose identity provider is down for a moment tries again, and is admitted after it", async () => {
  let asked = 0;
  const auth: AuthProvider = {
    authenticate: () =>
      ++asked < 3 ? Promise.reject(new TypeError("connection refused")) : { principal: "ada" },
  };
  await using server = await SmcpServer.listen({ port: 0, auth });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  assertEquals([asked, (await agent.listOffice()).length], [3, 1]);
});

Deno.test("An AuthProvider that decides nothing refuses, and the log says so", async () => {
  for (const decision of ["null", "{}", '{"principal":1}']) {
    const logger = new RecordingLogger();
    const auth: AuthProvider = { authenticate: () => JSON.parse(decision) };
    await using server = await SmcpServer.listen({ port: 0, auth, logger });
    assertEquals(Object((await refusalOf(server.url)).data).code, 503);
    assertEquals(logger.lines.filter(({ level }) => level === "error").length, 1);
  }
});

Deno.test("A session replaces no connection of another principal", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["a", "b"] }) });
  const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
  await using _owner = await RawPeer.join(server.url, ada, { auth: { token: "a", session: "s" } });
  await using thief = await RawPeer.connect(server.url, { auth: { token: "b", session: "s" } });
  assertEquals((await thief.request("server:join_office", ada)).at(0), false);
  await using _back = await RawPeer.join(server.url, ada, { auth: { token: "a", session: "s" } });
});

Deno.test("A connection to another namespace than /smcp is refused", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  for (const namespace of ["/", "/other"]) await refusalOf(server.url, { namespace });
});
