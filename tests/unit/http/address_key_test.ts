import { assertEquals } from "@std/assert";
import { addressKey, networkKey } from "../../../src/http/proxies.ts";

Deno.test("addressKey() counts an IPv6 network of 64 bits as one address", () => {
  const keys: Readonly<Record<string, string>> = {
    "10.0.0.1": "10.0.0.1",
    "::ffff:10.0.0.1": "10.0.0.1",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:DB8:1:2::9": "2001:db8:1:2::/64",
    "2001:db8::1": "2001:db8:0:0::/64",
    "::1": "0:0:0:0::/64",
    "": "",
  };
  for (const [address, key] of Object.entries(keys)) assertEquals(addressKey(address), key);
  assertEquals(addressKey(undefined), "");
});

Deno.test("networkKey() counts 24 bits of IPv4, and 48 of IPv6", () => {
  const keys: Readonly<Record<string, string>> = {
    "10.0.0.1": "10.0.0.0/24",
    "::ffff:10.0.0.1": "10.0.0.0/24",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1::/48",
    "": "",
  };
  for (const [address, key] of Object.entries(keys)) assertEquals(networkKey(address), key);
});
