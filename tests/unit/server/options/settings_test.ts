import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createServer } from "node:http";
import { anonymous } from "../../../../src/server/admission/provider.ts";
import { camelFlagOf, libraryNameOf, OPTION_NAMES } from "../../../../src/server/options/checks.ts";
import { withConstants } from "../../../../src/server/options/constants.ts";
import { httpOptionsOf, toSettings } from "../../../../src/server/options/settings.ts";
import { SmcpServer } from "../../../../src/server/server.ts";

Deno.test("toSettings() fills in the documented defaults", () => {
  const { handshake, auth: _auth, logger: _logger, ...bounds } = toSettings(
    {},
    "127.0.0.1",
  );
  assertEquals(bounds, {
    path: "/socket.io/",
    maxPayloadBytes: 16_777_216,
    pingIntervalMs: 25_000,
    pingTimeoutMs: 20_000,
    connectTimeoutMs: 5_000,
    authTimeoutMs: 10_000,
    headTimeoutMs: 10_000,
    maxPendingConnections: 512,
    maxPendingConnectionsPerAddress: 64,
    maxOpenRequests: 1024,
    quotas: {
      principal: { connections: Infinity, connects: undefined, requests: undefined },
      address: { connections: Infinity, connects: { perSecond: 100, burst: 20_000 } },
      messages: "address",
    },
    maxMembersPerOffice: 2_048,
    maxMessageMemoryBytes: 536_870_912,
    graceMs: 5_000,
    returnMs: 20_000,
    redis: undefined,
    meter: undefined,
    countLostAuditLines: undefined,
  });
  assertEquals(handshake.acceptedVersions, ["0.2", "0.3", "0.4"]);
  assertEquals(handshake.allowUnversioned, false);
});

Deno.test("toSettings() admits everyone on loopback only, unless told otherwise", () => {
  for (const host of ["127.0.0.1", "localhost", "::1"]) assertEquals(toSettings({}, host).auth, anonymous);
  for (const host of ["0.0.0.0", "::", "example.com", undefined]) {
    assertThrows(() => toSettings({}, host), TypeError, "without credentials");
    assertEquals(toSettings({ allowAnonymous: true }, host).auth, anonymous);
    const auth = { authenticate: () => ({ principal: "p" }) };
    assertEquals(toSettings({ auth }, host).auth, auth);
  }
});

Deno.test("toSettings() refuses bounds that make no sense, and paths that are none", () => {
  for (const bound of ["maxPayloadBytes", "pingIntervalMs", "pingTimeoutMs", "maxOpenRequests"]) {
    for (const value of [0, -1, 1.5, NaN, Infinity]) {
      assertThrows(() => toSettings({ [bound]: value }, "localhost"), RangeError, bound);
    }
  }
  assertThrows(() => toSettings({ maxPayloadBytes: 4_095 }, "localhost"), RangeError, "4096 or more");
  for (const time of ["pingIntervalMs", "pingTimeoutMs"]) {
    assertThrows(() => toSettings({ [time]: 2 ** 31 }, "localhost"), RangeError, time);
  }
  assertThrows(() => toSettings({ path: "hub" }, "localhost"), TypeError, "must start with");
  assertEquals(toSettings({ path: "/hub//" }, "localhost").path, "/hub/");
});

Deno.test("toSettings() leaves a quarter of the connections to others than one address, or one principal with credentials", () => {
  const auth = { authenticate: () => ({ principal: "p" }) };
  const { quotas } = toSettings({ auth, maxSockets: 1_000, maxRequestsPerPrincipal: 10 }, "localhost");
  const connects = { perSecond: 100, burst: 20_000 };
  assertEquals(quotas.principal, { connections: 750, connects, requests: { perSecond: 10, burst: 50 } });
  assertEquals(quotas.address, { connections: 750, connects });
});

Deno.test("httpOptionsOf() never gives a whole request less time than its head, and looks often enough", () => {
  assertEquals(httpOptionsOf({}), {
    headersTimeout: 10_000,
    requestTimeout: 300_000,
    connectionsCheckingInterval: 2_000,
  });
  const short = httpOptionsOf({ ...withConstants({ headTimeoutMs: 500 }) });
  assertEquals(short.connectionsCheckingInterval, 500);
});

Deno.test("SmcpServer refuses options that do not exist, and names the closest one", async () => {
  const misspelt = { port: 0, authh: { authenticate: () => ({ refused: "no" }) } };
  await assertRejects(() => SmcpServer.listen(misspelt), TypeError, 'did you mean "auth"');
  const http = createServer();
  const attached = { allowAnonymous: true, metricsPort: 0 };
  assertThrows(() => SmcpServer.attach(http, attached), TypeError, '"metricsPort" of the Server: unknown');
  const ofProgram = { port: 0, tokenFile: "tokens.txt" };
  await assertRejects(() => SmcpServer.listen(ofProgram), TypeError, 'did you mean "auth"');
});

Deno.test("SmcpServer names its option for each flag in camel case", async () => {
  const named = OPTION_NAMES.filter((name) => libraryNameOf(name) !== camelFlagOf(name));
  for (const name of named.filter((name) => camelFlagOf(name) !== "redis" && libraryNameOf(name))) {
    const misspelt = { port: 0, [camelFlagOf(name)]: "x" };
    await assertRejects(
      () => SmcpServer.listen(misspelt),
      TypeError,
      `did you mean "${libraryNameOf(name)}"`,
    );
  }
});
