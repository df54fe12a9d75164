import { assertEquals } from "@std/assert";
import { kindOfHost } from "../../../src/reach/addresses.ts";

Deno.test("kindOfHost() tells this machine and own networks from the internet", () => {
  const hosts = {
    loopback: [
      "localhost",
      "LOCALHOST.",
      "app.localhost",
      "127.0.0.1",
      "127.255.255.254",
      "0.0.0.0",
      "[::1]",
      "[::]",
      "::ffff:127.0.0.1",
      "[::ffff:7f00:1]",
      "64:ff9b::127.0.0.1",
    ],
    private: [
      "10.1.2.3",
      "100.64.0.1",
      "169.254.169.254",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "224.0.0.1",
      "255.255.255.255",
      "[fe80::1]",
      "[fd00::1]",
      "[ff02::1]",
      "[::ffff:10.0.0.1]",
      "2002:a00:1::",
      "2002:808:808::",
      "[fe80::1%25eth0]",
      "64:ff9b::a00:1",
      "::ffff:c0a8:101",
      "[::10.0.0.1]",
      "[1:2]",
      "intranet",
      "mcp.corp",
      "printer.local",
      "metadata.google.internal",
    ],
    public: [
      "example.com",
      "8.8.8.8",
      "172.32.0.1",
      "100.128.0.1",
      "192.169.0.1",
      "[2606:4700::1111]",
      "[::ffff:8.8.8.8]",
      "64:ff9b::8.8.8.8",
      "10.0.0.1.example.com",
      "1.2.3",
    ],
  };
  for (const [kind, names] of Object.entries(hosts)) {
    for (const name of names) assertEquals(kindOfHost(name), name === "1.2.3" ? "public" : kind, name);
  }
});
