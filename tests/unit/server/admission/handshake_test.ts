import { assertEquals, assertThrows, fail } from "@std/assert";
import {
  checkHandshake,
  checkSender,
  createHostRule,
  createOriginRule,
  type HandshakePolicy,
  parseAcceptedVersions,
  parseTransports,
  readQuery,
} from "../../../../src/server/admission/handshake.ts";

const policy: HandshakePolicy = {
  acceptedVersions: ["0.2", "0.3"],
  allowUnversioned: false,
  transports: ["polling", "websocket"],
  isOriginAllowed: (origin) => origin === "https://app.example",
  isHostAllowed: (host) => host !== "evil.example",
};
const check = (url: string, changes: Partial<HandshakePolicy> = {}, origin?: string) =>
  checkHandshake({ request: { method: "GET", headers: { origin } }, query: readQuery(url) }, {
    ...policy,
    ...changes,
  });

Deno.test("checkHandshake() names the transports that are served when it refuses another, after the version", () => {
  const url = "/socket.io/?transport=polling&a2c_version=";
  const transports = ["websocket"] as const;
  const { status, body } = check(`${url}0.2.0`, { transports }) ?? fail("not refused");
  assertEquals([status, body["code"], body["transports"]], [400, 400, ["websocket"]]);
  assertEquals(check(`${url}9.0.0`, { transports })?.body["code"], 4008);
  assertEquals(check("/socket.io/?transport=websocket&a2c_version=0.2.0", { transports }), undefined);
  // Engine.IO answers for a transport that nobody knows.
  assertEquals(check("/socket.io/?transport=pigeon&a2c_version=0.2.0", { transports }), undefined);
});

Deno.test("parseTransports() refuses an unknown name, and none at all", () => {
  assertEquals(parseTransports(["websocket"]), ["websocket"]);
  for (const names of [[], ["websockets"]]) {
    assertThrows(() => parseTransports(names), TypeError, "transport");
  }
});

Deno.test("checkHandshake() lets the accepted versions pass, whatever their PATCH", () => {
  for (const version of ["0.2.0", "0.2.99", "0.3.1"]) {
    assertEquals(check(`/socket.io/?a2c_version=${version}`), undefined);
  }
});

Deno.test("checkHandshake() says what it would accept", () => {
  assertEquals(check("/socket.io/?a2c_version=0.4.0"), {
    kind: "version",
    status: 400,
    headers: { "content-type": "application/json", "X-A2C-Error-Code": "4008" },
    body: {
      code: 4008,
      message: "Protocol version mismatch",
      server_version: "0.3.1",
      client_version: "0.4.0",
      min_supported: "0.2.0",
      max_supported: "0.3.999",
    },
  });
});

Deno.test("checkHandshake() takes malformed versions for malformed and not for missing", () => {
  for (const raw of ["", "0.2", "v0.2.0", "0.2.0 ", "0.02.0", "0.2.0-rc", "1e9.0.0"]) {
    const refusal = check(`/socket.io/?a2c_version=${encodeURIComponent(raw)}`, { allowUnversioned: true });
    assertEquals(
      refusal?.body["message"],
      `Invalid a2c_version: ${JSON.stringify(raw)} is not MAJOR.MINOR.PATCH`,
    );
  }
  const long = check(`/socket.io/?a2c_version=${"9".repeat(5_000)}`);
  assertEquals(String(long?.body["message"]).length < 250, true);
});

Deno.test("checkHandshake() lets peers without a version pass only when that is allowed", () => {
  assertEquals(check("/socket.io/")?.body["message"], "Missing a2c_version query parameter");
  assertEquals(check("/socket.io/", { allowUnversioned: true }), undefined);
});

Deno.test("checkHandshake() asks for the version in handshakes only, and for the sender in every request", () => {
  assertEquals(check("/socket.io/?sid=abc"), undefined);
  assertEquals(check("/socket.io/?sid=abc", {}, "https://evil.example")?.status, 403);
  for (const method of ["OPTIONS", "POST", "GET"]) {
    for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) {
      assertEquals(
        checkHandshake({ request: { method, headers }, query: { sid: "abc" } }, policy)?.status,
        403,
      );
    }
  }
  assertEquals(checkHandshake({ request: { method: "OPTIONS", headers: {} }, query: {} }, policy), undefined);
});

Deno.test("checkHandshake() refuses JSONP, whatever its number", () => {
  for (const query of ["j=0", "sid=abc&j=0", "j", "sid=abc&j=&x=1"]) {
    assertEquals(check(`/socket.io/?a2c_version=0.2.0&${query}`)?.body["message"], "JSONP is not supported");
  }
});

Deno.test("checkSender() keeps out what another site's page sent without an Origin", () => {
  const from = (site: string, origin?: string) =>
    checkSender({ headers: { origin, "sec-fetch-site": site } }, policy)?.status;
  for (const site of ["cross-site", "same-site", "anything"]) assertEquals(from(site), 403);
  for (const site of ["same-origin", "none"]) assertEquals(from(site), undefined);
  // A page that is allowed says so by its Origin.
  assertEquals(from("cross-site", "https://app.example"), undefined);
});

Deno.test("checkHandshake() reads a repeated parameter as Engine.IO does: the last one counts", () => {
  assertEquals(check("/socket.io/?sid=abc&sid=")?.status, 400);
  assertEquals(check("/socket.io/?a2c_version=9.9.9&a2c_version=0.2.0"), undefined);
});

Deno.test("checkHandshake() asks for the origin before the version", () => {
  assertEquals(check("/socket.io/", {}, "https://evil.example")?.status, 403);
  assertEquals(check("/socket.io/?a2c_version=0.2.0", {}, "https://app.example"), undefined);
});

Deno.test("parseAcceptedVersions() sorts by number and refuses anything but MAJOR.MINOR", () => {
  assertEquals(parseAcceptedVersions(["0.10", "1.0", "0.9"]), ["0.9", "0.10", "1.0"]);
  for (const wrong of [["0.2.0"], ["two"], [""], []]) {
    assertThrows(() => parseAcceptedVersions(wrong), TypeError, "Cannot accept");
  }
});

Deno.test("createOriginRule() lets pages of this machine and the allowed origins pass", () => {
  const isAllowed = createOriginRule({ allowed: ["https://app.example"], allowSameHost: false });
  for (
    const origin of ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:8080", "https://app.example"]
  ) {
    assertEquals(isAllowed(origin, { host: "127.0.0.1:3000" }), true, origin);
  }
  for (const origin of ["https://evil.example", "http://app.example", "null", "", "file://"]) {
    assertEquals(isAllowed(origin, { host: "127.0.0.1:3000" }), false, origin);
  }
});

Deno.test("createOriginRule() refuses an origin that no browser sends", () => {
  const rule = (origin: string) => () => createOriginRule({ allowed: [origin], allowSameHost: false });
  for (
    const origin of [
      "app.example",
      "app.example:8080",
      "https://app.example/",
      "https://App.example",
      "https://app.example:443",
      "https://user@app.example",
      "://",
      "",
    ]
  ) {
    assertThrows(rule(origin), TypeError, `Cannot allow origin "${origin}"`);
  }
  for (const origin of ["*", "null", "http://localhost:5173", "chrome-extension://abcdef"]) rule(origin)();
});

Deno.test("createOriginRule() lets a page of the Server's own host pass only where credentials are asked for", () => {
  const rebound = "http://evil.example:3000";
  const open = createOriginRule({ allowed: [], allowSameHost: false });
  assertEquals(open(rebound, { host: "evil.example:3000" }), false);
  const guarded = createOriginRule({ allowed: [], allowSameHost: true });
  assertEquals(guarded(rebound, { host: "evil.example:3000" }), true);
  assertEquals(guarded(rebound, { host: "other.example:3000" }), false);
  for (const host of ["hub.example", "hub.example:80", "HUB.example"]) {
    assertEquals(guarded("http://hub.example", { host }), true, host);
  }
  for (const host of [undefined, "", "hub.example:443"]) {
    assertEquals(guarded("http://hub.example", { host }), false, host);
  }
});

Deno.test("createOriginRule() wants the scheme of a page where a proxy told that of the request", () => {
  const isAllowed = createOriginRule({ allowed: [], allowSameHost: true });
  const target = { host: "hub.example", scheme: "https:" };
  assertEquals(isAllowed("https://hub.example", target), true);
  assertEquals(isAllowed("http://hub.example", target), false);
});

Deno.test("createOriginRule() with * lets every page pass", () => {
  assertEquals(createOriginRule({ allowed: ["*"], allowSameHost: false })("null", {}), true);
});

Deno.test("createHostRule() serves names of this machine with any port, and what is allowed", () => {
  const isAllowed = createHostRule({
    allowed: ["Hub.example", "tunnel.example:8443"],
    own: "127.0.0.1",
    isOpenToOthers: false,
  });
  for (
    const host of ["127.0.0.1:3000", "localhost:3000", "LOCALHOST:3000", "[::1]:3000", "app.localhost:3000"]
  ) {
    assertEquals(isAllowed(host), true, host);
  }
  for (const host of ["hub.example", "hub.example:1", "tunnel.example:8443"]) {
    assertEquals(isAllowed(host), true, host);
  }
  for (
    const host of [
      "evil.example:3000",
      "10.0.0.1:3000",
      "tunnel.example",
      "localhost.evil.example:3000",
      "localhost:3000@evil.example",
      "localhost:",
      "",
    ]
  ) {
    assertEquals(isAllowed(host), false, host);
  }
  for (const host of ["127.0.0.1:3001", "127.0.0.1", "localhost", "[::1]:8080", undefined]) {
    assertEquals(isAllowed(host), true, host);
  }
});

Deno.test("createHostRule() serves addresses and its own name when other machines may connect, and no other name", () => {
  const isAllowed = createHostRule({ allowed: [], own: "hub.lan", isOpenToOthers: true });
  for (const host of ["10.0.0.1:3000", "[fe80::1]:3000", "hub.lan:8080", "10.0.0.1:8080", "localhost:3000"]) {
    assertEquals(isAllowed(host), true, host);
  }
  assertEquals(isAllowed("evil.example:3000"), false);
  const serveAll = createHostRule({ allowed: ["*"], own: undefined, isOpenToOthers: true });
  assertEquals(serveAll("evil.example"), true);
});
