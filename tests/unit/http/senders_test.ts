import { assertEquals, assertThrows } from "@std/assert";
import { createHostRule, createOriginRule, senderProblem } from "../../../src/http/senders.ts";

Deno.test("senderProblem() keeps out what another site's page sent without an Origin", () => {
  const rules = createRules();
  const isRefused = (site: string, origin?: string) =>
    senderProblem({ origin, "sec-fetch-site": site }, rules) !== undefined;
  for (const site of ["cross-site", "same-site", "anything"]) assertEquals(isRefused(site), true);
  for (const site of ["same-origin", "none"]) assertEquals(isRefused(site), false);
  // A page that is allowed says so by its Origin.
  assertEquals(isRefused("cross-site", "https://app.example"), false);
});

Deno.test("senderProblem() wants both names allowed, that of the proxy and that before the proxy", () => {
  const isRefused = (host: string, forwarded: string) =>
    senderProblem({ host }, createRules(), { host: forwarded }) !== undefined;
  assertEquals(isRefused("hub.example", "localhost"), false);
  assertEquals(isRefused("evil.example", "localhost"), true);
  assertEquals(isRefused("hub.example", "evil.example"), true);
});

Deno.test("senderProblem() names an option only where one changes the rules", () => {
  for (const sender of [{ host: "evil.example" }, { host: "hub.example", origin: "https://evil.example" }]) {
    assertEquals(senderProblem(sender, createRules())?.includes("--allow-"), true);
    assertEquals(senderProblem(sender, { ...createRules(), isFixed: true })?.includes("--"), false);
  }
});

function createRules() {
  return {
    isHostAllowed: createHostRule({ allowed: ["hub.example"] }),
    isOriginAllowed: createOriginRule({ allowed: ["https://app.example"], allowSameHost: false }),
  };
}

Deno.test("createOriginRule() lets pages of this machine and the allowed origins pass", () => {
  const isAllowed = createOriginRule({ allowed: ["https://app.example"], allowSameHost: false });
  for (
    const origin of ["http://localhost:5173", "http://127.0.0.1", "http://[::1]:8080", "https://app.example"]
  ) {
    assertEquals(isAllowed(origin, { host: "127.0.0.1:3000" }), true, origin);
  }
  const foreign = ["https://evil.example", "http://app.example", "null", ""];
  const others = ["file://", "file://localhost", "chrome-extension://localhost", "foo://localhost"];
  for (const origin of [...foreign, ...others]) {
    assertEquals(isAllowed(origin, { host: "127.0.0.1:3000" }), false, origin);
  }
  const isSameHostAllowed = createOriginRule({ allowed: [], allowSameHost: true });
  for (const origin of others) assertEquals(isSameHostAllowed(origin, { host: "localhost" }), false, origin);
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
  for (const origin of ["http://localhost:5173", "chrome-extension://abcdef"]) rule(origin)();
});

Deno.test("createOriginRule() takes the wildcards * and null where that is allowed", () => {
  for (const origin of ["*", "null"]) {
    assertThrows(() => createOriginRule({ allowed: [origin], allowSameHost: false }), TypeError, origin);
    const isAllowed = createOriginRule({ allowed: [origin], allowWildcards: true, allowSameHost: false });
    assertEquals([isAllowed("null", {}), isAllowed("https://a.example", {})], [true, origin === "*"]);
  }
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
      "evil.example/x.localhost",
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
  const serveAll = createHostRule({ allowed: ["*"] });
  assertEquals(serveAll("evil.example"), true);
});
