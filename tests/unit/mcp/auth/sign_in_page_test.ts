import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import type { ReachOptions } from "../../../../src/reach/reach.ts";
import { beginBrowserSignIn } from "../../../../src/mcp/auth/browser_sign_in.ts";
import { pauseMsOf } from "../../../../src/mcp/auth/device_sign_in.ts";
import { ProtectedServer } from "../../../../src/mcp/auth/protected_server.ts";
import { memoryTokenStore } from "../../../../src/mcp/auth/token_store.ts";
import { SignInError } from "../../../../src/mcp/errors.ts";

const issuer = "https://auth.example";

/** The page of a sign-in at an MCP server with this address, whose authorization server names this page. */
async function pageAt(
  url: string,
  page: string,
  oauth: { readonly issuer?: string } = {},
  resolveHost?: ReachOptions["resolve"],
): Promise<string> {
  const server = ProtectedServer.of({
    name: "shop",
    type: "streamable",
    disabled: false,
    forbidden_tools: [],
    tool_meta: {},
    oauth: { clientId: "a2c", ...oauth },
    server_parameters: {
      url,
      headers: null,
      timeout: "PT30S",
      sse_read_timeout: "PT5M",
      terminate_on_close: true,
    },
  }, { store: memoryTokenStore(), learn() {}, log: silentLogger, now: () => 1_000, resolveHost });
  if (server === undefined) throw new TypeError("Cannot sign in at this server");
  const metadata = {
    issuer,
    authorization_endpoint: page,
    code_challenge_methods_supported: ["S256"],
  };
  const target = {
    resource: undefined,
    as: { metadata, clockSkewSeconds: 0 },
    audience: undefined,
    challenge: undefined,
  };
  const redirectUri = "http://127.0.0.1:33418/callback";
  return (await beginBrowserSignIn(server, target, { redirectUri, signal: undefined })).url;
}

Deno.test("a server on the internet cannot send a browser to a page of the own machine or network", async () => {
  for (
    const page of ["http://127.0.0.1:8080/restart", "https://192.168.1.1/restart", "https://router.lan/"]
  ) {
    await assertRejects(() => pageAt("https://mcp.example/mcp", page), SignInError, "private network");
    assertStringIncludes(await pageAt("https://mcp.example/mcp", page, { issuer }), page);
    assertStringIncludes(await pageAt("http://127.0.0.1:9000/mcp", page), page);
  }
  assertStringIncludes(
    await pageAt("https://mcp.example/mcp", `${issuer}/authorize`),
    `${issuer}/authorize?`,
  );
});

Deno.test("a page is resolved like a request: no name leads a browser into the own network", async () => {
  const addresses = new Map([["router.evil.example", ["192.168.1.1"]], ["two.example", [
    "203.0.113.1",
    "::1",
  ]]]);
  const resolve = (name: string) => Promise.resolve(addresses.get(name) ?? ["203.0.113.9"]);
  for (const page of ["https://router.evil.example/reboot?yes", "https://two.example/"]) {
    const open = () => pageAt("https://mcp.example/mcp", page, {}, resolve);
    await assertRejects(open, SignInError, "private network", page);
    assertStringIncludes(await pageAt("https://mcp.example/mcp", page, { issuer }, resolve), page);
  }
  assertStringIncludes(await pageAt("https://mcp.example/mcp", `${issuer}/`, {}, resolve), issuer);
});

Deno.test("a page whose address has a user name, which could pass for its host, is not opened", async () => {
  for (const page of ["https://bank.example@evil.example/", "https://:x@evil.example/", "file:///x", ""]) {
    await assertRejects(() => pageAt("https://mcp.example/mcp", page), SignInError, "no page");
  }
});

Deno.test("between two questions for the tokens of a device there is at least a second, and at most a minute", () => {
  assertEquals([1e-9, 1, 5, 1e9].map(pauseMsOf), [1_000, 1_000, 5_000, 60_000]);
});
