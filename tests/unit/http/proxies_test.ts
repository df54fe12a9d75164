import { assertEquals, assertThrows } from "@std/assert";
import { TrustedProxies } from "../../../src/http/proxies.ts";

const proxies = new TrustedProxies(["10.0.0.0/8", "192.0.2.7", "fd00::/8", "loopback"]);

function clientOf(forwardedFor: string, peer = "10.0.0.1"): string | undefined {
  return proxies.read({ headers: { "x-forwarded-for": forwardedFor }, socket: { remoteAddress: peer } })
    .address;
}

Deno.test("TrustedProxies.read() believes no header of an address that is not trusted", () => {
  assertEquals(
    proxies.read({
      headers: {
        "x-forwarded-for": "198.51.100.1",
        "x-forwarded-host": "hub.example",
        "x-forwarded-proto": "https",
      },
      socket: { remoteAddress: "203.0.113.9" },
    }),
    { address: "203.0.113.9", host: undefined, scheme: undefined },
  );
});

Deno.test("TrustedProxies.read() takes the right-most address that is no trusted proxy", () => {
  assertEquals(clientOf("198.51.100.1"), "198.51.100.1");
  assertEquals(clientOf("1.1.1.1, 198.51.100.1"), "198.51.100.1");
  assertEquals(clientOf("1.1.1.1, 198.51.100.1, 10.9.9.9,192.0.2.7"), "198.51.100.1");
  assertEquals(clientOf("2001:db8::1, fd00::5"), "2001:db8::1");
  assertEquals(clientOf("198.51.100.1", "::ffff:127.0.0.1"), "198.51.100.1");
  assertEquals(clientOf("198.51.100.1", "::1"), "198.51.100.1");
});

Deno.test("TrustedProxies.read() with nothing but trusted proxies takes the outermost", () => {
  assertEquals(clientOf("10.1.1.1, 10.2.2.2"), "10.1.1.1");
  assertEquals(clientOf(""), "10.0.0.1");
});

Deno.test("TrustedProxies.read() believes nothing left of a text that is no address", () => {
  assertEquals(clientOf("1.1.1.1, unknown, 10.2.2.2"), "10.2.2.2");
  assertEquals(clientOf("1.1.1.1, _hidden"), "10.0.0.1");
});

Deno.test("TrustedProxies.read() reads addresses with a port, and several headers of the same name", () => {
  assertEquals(clientOf("198.51.100.1:4711"), "198.51.100.1");
  assertEquals(clientOf("[2001:db8::1]:4711"), "2001:db8::1");
  const headers = { "x-forwarded-for": ["1.1.1.1", "198.51.100.1"] };
  assertEquals(proxies.read({ headers, socket: { remoteAddress: "10.0.0.1" } }).address, "198.51.100.1");
});

Deno.test("TrustedProxies.read() takes host and scheme from the nearest proxy", () => {
  const read = (host: string, proto: string) =>
    proxies.read({
      headers: { "x-forwarded-host": host, "x-forwarded-proto": proto },
      socket: { remoteAddress: "10.0.0.1" },
    });
  assertEquals(read("hub.example", "https"), { address: "10.0.0.1", host: "hub.example", scheme: "https:" });
  assertEquals(read("evil.example, hub.example", "WSS").scheme, "https:");
  assertEquals(read("evil.example, hub.example", "ftp"), {
    address: "10.0.0.1",
    host: "hub.example",
    scheme: undefined,
  });
});

Deno.test("new TrustedProxies() knows the private networks, and refuses what is no network", () => {
  const home = new TrustedProxies(["private"]);
  for (const address of ["10.1.2.3", "172.31.0.1", "192.168.1.1", "fd12::1"]) {
    assertEquals(home.has(address), true, address);
  }
  for (const address of ["172.32.0.1", "8.8.8.8", "127.0.0.1", "", undefined]) {
    assertEquals(home.has(address), false, address);
  }
  for (const text of ["*", "10.0.0.0/33", "10.0.0/8", "hub.example", "10.0.0.0/8/8", "", "::/-1"]) {
    assertThrows(() => new TrustedProxies([text]), TypeError, "Cannot trust proxy");
  }
});
