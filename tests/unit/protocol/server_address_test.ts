import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { isLoopback, parseServerAddress, plainTextWarning } from "../../../src/protocol/server_address.ts";

Deno.test("isLoopback() knows the names and addresses of this machine", () => {
  for (const host of ["127.0.0.1", "127.9.9.9", "localhost", "LOCALHOST", "app.localhost", "::1", "[::1]"]) {
    assertEquals(isLoopback(host), true, host);
  }
  for (
    const host of [
      "0.0.0.0",
      "::",
      "127.evil.example",
      "localhost.evil.example",
      "10.0.0.1",
      "",
      "1127.0.0.1",
    ]
  ) {
    assertEquals(isLoopback(host), false, host);
  }
});

Deno.test("parseServerAddress() puts the path of the URL before the Socket.IO path", () => {
  const paths = [
    ["http://a:1", undefined, "/socket.io/"],
    ["https://a/a2c", undefined, "/a2c/socket.io/"],
    ["https://a/a2c/", "/x/", "/a2c/x/"],
    ["wss://a", "x/", "/x/"],
  ] as const;
  for (const [url, path, expected] of paths) assertEquals(parseServerAddress(url, path).path, expected);
});

Deno.test("parseServerAddress() refuses what would be dropped in silence", () => {
  for (const url of ["", "a:1", "file:///a", "http://me@a", "http://a/?b=c", "http://a/#b"]) {
    assertThrows(() => parseServerAddress(url), TypeError, "Cannot connect");
  }
});

Deno.test("plainTextWarning() names what can be read on the way to another machine", () => {
  const auth = { token: "s3cret" };
  const warning = plainTextWarning("http://example.com:3000", { auth, headers: { "x-key": "k" } }) ?? "";
  assertMatch(warning, /token, x-key\) .*https/);
  assertEquals(warning.includes("s3cret"), false);
  for (const url of ["https://example.com", "http://localhost:1", "http://127.0.0.9:1", "ws://[::1]:1"]) {
    assertEquals(plainTextWarning(url, { auth }), undefined);
  }
  assertEquals(plainTextWarning("http://example.com", { auth: {} }), undefined);
  const own = { session: "x", observer: true };
  assertEquals(plainTextWarning("http://example.com", { auth: own }), undefined);
  assertMatch(
    plainTextWarning("http://example.com", { auth: { ...own, key: "k" } }) ?? "",
    /^credentials \(key\) can/,
  );
  assertMatch(plainTextWarning("ws://192.168.1.2", { auth }) ?? "", /token/);
});
