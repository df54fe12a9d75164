import { assertEquals, assertThrows } from "@std/assert";
import { parseRedisUrl, toRedisSettings } from "../../../../../src/server/offices/redis/settings.ts";

Deno.test("parseRedisUrl() reads one server, with and without TLS", () => {
  const address = parseRedisUrl("rediss://user:p%40ss@example.com:6380/2");
  assertEquals(address.isTls, true);
  assertEquals(address.isCluster, false);
  assertEquals(address.database, 2);
  assertEquals(address.defaults, { username: "user", password: "p@ss", socket: { tls: true } });
  assertEquals(parseRedisUrl("redis://localhost").database, 0);
  assertEquals(parseRedisUrl("redis://[::1]:6379").nodes, ["redis://[::1]:6379/"]);
});

Deno.test("parseRedisUrl() reads the nodes of a cluster", () => {
  const { nodes, isCluster, isTls, defaults: { password } } = parseRedisUrl(
    "rediss+cluster://:secret@a:1,b:2",
  );
  assertEquals({ nodes, isCluster, isTls, password }, {
    nodes: ["rediss://:secret@a:1/", "rediss://:secret@b:2/"],
    isCluster: true,
    isTls: true,
    password: "secret",
  });
});

Deno.test("parseRedisUrl() refuses what it cannot use, and does not repeat the password", () => {
  const urls = [
    "",
    "localhost",
    "http://a",
    "redis://",
    "redis://a:1,b:2",
    "redis+cluster://a:1/3",
    "redis://:secret@a:x",
  ];
  for (const url of urls) {
    const error = assertThrows(() => parseRedisUrl(url), TypeError, "Redis");
    assertEquals(error.message.includes("secret"), false);
  }
});

Deno.test("toRedisSettings() fills in the documented defaults, and wants a lease of two heartbeats", () => {
  const url = "redis://localhost";
  assertEquals(toRedisSettings({ url }), { url, prefix: "a2c", heartbeatMs: 2_000, leaseMs: 6_000 });
  assertThrows(() => toRedisSettings({ url, heartbeatMs: 4_000 }), RangeError, "lease");
  assertThrows(() => toRedisSettings({ url, prefix: "a{b}" }), TypeError, "prefix");
});
