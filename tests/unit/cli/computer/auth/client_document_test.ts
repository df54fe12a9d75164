import { assertEquals } from "@std/assert";
import manifest from "../../../../../deno.json" with { type: "json" };
import client from "../../../../../docs/oauth-client.json" with { type: "json" };
import { redirectUriOf } from "../../../../../src/cli/computer/auth/loopback.ts";

Deno.test("the client's metadata document names its address, and every loopback port by none", () => {
  const { name, version } = manifest;
  assertEquals(client.client_id, `https://jsr.io/${name}/${version}/docs/oauth-client.json`);
  const own = new URL(redirectUriOf(49152));
  own.port = "";
  assertEquals(client.redirect_uris.includes(own.href), true);
  assertEquals([client.token_endpoint_auth_method, client.application_type], ["none", "native"]);
});
