import { assertEquals, assertRejects } from "@std/assert";
import {
  covers,
  discoverAuthorizationServer,
  discoverResource,
  hasServerMetadata,
  isSameIssuer,
} from "../../../../src/mcp/auth/discovery.ts";
import type { OAuthFetch } from "../../../../src/mcp/auth/oauth_fetch.ts";
import { ServerNotRunningError, SignInError } from "../../../../src/mcp/errors.ts";

const SERVER = new URL("https://mcp.example/team/mcp");
const signal = undefined;

/** Answers with these documents, and notes what was asked for. */
function serve(documents: Readonly<Record<string, unknown>>): { fetch: OAuthFetch; asked: string[] } {
  const asked: string[] = [];
  const fetch: OAuthFetch = (url) => {
    asked.push(url);
    const document = documents[url];
    if (typeof document === "number") return Promise.resolve(new Response(null, { status: document }));
    return Promise.resolve(
      document === undefined ? new Response("no", { status: 404 }) : Response.json(document),
    );
  };
  return { fetch, asked };
}

Deno.test("discoverResource() looks where the challenge says, then below the path, then at the root", async () => {
  const { fetch, asked } = serve({});
  const challenge = {
    error: undefined,
    scope: undefined,
    resourceMetadata: "https://mcp.example/here",
    isDpop: false,
  };
  assertEquals(await discoverResource(SERVER, { challenge, fetch, signal }), undefined);
  assertEquals(asked, [
    "https://mcp.example/here",
    "https://mcp.example/.well-known/oauth-protected-resource/team/mcp",
    "https://mcp.example/.well-known/oauth-protected-resource",
  ]);
});

Deno.test("discoverResource() reads the issuers and scopes; without issuers it is the server itself", async () => {
  const place = "https://mcp.example/.well-known/oauth-protected-resource";
  const first = serve({
    [place]: {
      resource: "https://mcp.example/",
      authorization_servers: ["https://a", 1],
      scopes_supported: ["x"],
    },
  });
  assertEquals(await discoverResource(SERVER, { challenge: undefined, fetch: first.fetch, signal }), {
    resource: "https://mcp.example/",
    issuers: ["https://a"],
    scopesSupported: ["x"],
    dpop: undefined,
  });
  const second = serve({ [place]: { resource: SERVER.href } });
  assertEquals(await discoverResource(SERVER, { challenge: undefined, fetch: second.fetch, signal }), {
    resource: SERVER.href,
    issuers: ["https://mcp.example"],
    scopesSupported: undefined,
    dpop: undefined,
  });
});

Deno.test("discoverResource() refuses metadata of another resource, and calls a broken server not available", async () => {
  const place = "https://mcp.example/.well-known/oauth-protected-resource/team/mcp";
  const other = serve({ [place]: { resource: "https://mcp.example/other" } });
  await assertRejects(
    () => discoverResource(SERVER, { challenge: undefined, fetch: other.fetch, signal }),
    SignInError,
  );
  const broken = serve({ [place]: 503 });
  await assertRejects(
    () => discoverResource(SERVER, { challenge: undefined, fetch: broken.fetch, signal }),
    ServerNotRunningError,
  );
});

Deno.test("discoverResource() takes metadata for the identifier alone that its address was derived from", async () => {
  const root = "https://mcp.example/.well-known/oauth-protected-resource";
  const below = `${root}/team/mcp`;
  const link = "https://mcp.example/here";
  const [own, above, origin] = [SERVER.href, "https://mcp.example/team", "https://mcp.example"];
  const rows: readonly (readonly [
    place: string,
    resource: unknown,
    configured: string | undefined,
    ok: boolean | string,
  ])[] = [
    [link, own, undefined, true],
    [link, `${own}/`, undefined, true],
    [link, origin, undefined, false],
    [link, `${origin}/`, undefined, false],
    [link, above, undefined, false],
    [link, above, "api://x", true],
    [link, `${own}/x`, "api://x", false],
    [below, own, undefined, true],
    [below, "HTTPS://MCP.example:443/team/mcp", undefined, own],
    [below, "https://mcp.example/bank/../team/mcp", undefined, own],
    [below, "https:mcp.example\\bank\\..\\team\\mcp", undefined, own],
    [below, origin, undefined, false],
    [below, above, undefined, false],
    [below, `${own}?x`, undefined, false],
    [below, `${own}#x`, undefined, false],
    [below, own.replace("https://", "https://a@"), undefined, false],
    [below, `${own}\n`, undefined, false],
    [below, null, undefined, false],
    [below, [own], undefined, false],
    [root, own, undefined, true],
    [root, origin, undefined, true],
    [root, above, undefined, false],
    [root, "https://evil.example", "https://evil.example", false],
  ];
  for (const [place, resource, configured, ok] of rows) {
    const { fetch } = serve({ [place]: { resource } });
    const challenge = { error: undefined, scope: undefined, resourceMetadata: link, isDpop: false };
    const find = () => discoverResource(SERVER, { challenge, fetch, signal, resource: configured });
    const what = `${place} ${resource}`;
    if (ok !== false) assertEquals((await find())?.resource, ok === true ? resource : ok, what);
    else await assertRejects(find, SignInError, "another resource", what);
  }
});

Deno.test("discoverResource() goes on to the metadata of the origin where a link leads to that of another resource", async () => {
  const root = "https://mcp.example/.well-known/oauth-protected-resource";
  const challenge = {
    error: undefined,
    scope: undefined,
    resourceMetadata: "/u/evil/metadata",
    isDpop: false,
  };
  const { fetch } = serve({
    "https://mcp.example/u/evil/metadata": {
      resource: "https://mcp.example",
      authorization_servers: ["https://evil"],
    },
    [root]: { resource: "https://mcp.example", authorization_servers: ["https://auth.example"] },
  });
  assertEquals((await discoverResource(SERVER, { challenge, fetch, signal }))?.issuers, [
    "https://auth.example",
  ]);
  const query = new URL("https://mcp.example/mcp?tenant=1");
  const { fetch: fetchQuery } = serve({ [`${root}/mcp`]: { resource: "https://mcp.example/mcp" } });
  const found = await discoverResource(query, { challenge: undefined, fetch: fetchQuery, signal });
  assertEquals(found?.resource, "https://mcp.example/mcp");
});

Deno.test("covers() accepts the server and what is above it, by whole segments of the path", () => {
  for (
    const resource of [
      "https://mcp.example",
      "https://mcp.example/team",
      "https://mcp.example/team/mcp",
      "https://mcp.example/team/mcp/",
    ]
  ) {
    assertEquals(covers(resource, SERVER), true, resource);
  }
  for (
    const resource of [
      "https://mcp.example/te",
      "https://mcp.example/team/mcp/x",
      "http://mcp.example",
      "https://mcp.example:8443",
      "https://evil.example",
      "x",
      "https://mcp.example/?a",
    ]
  ) {
    assertEquals(covers(resource, SERVER), false, resource);
  }
});

const OPTIONS = { server: SERVER, signal, hasDefaultEndpoints: false };

Deno.test("discoverAuthorizationServer() tries the places of both specifications, with the path inserted and appended", async () => {
  const { fetch, asked } = serve({});
  const find = () => discoverAuthorizationServer("https://auth.example/tenant/", { ...OPTIONS, fetch });
  await assertRejects(find, SignInError, "no metadata");
  assertEquals(asked, [
    "https://auth.example/.well-known/oauth-authorization-server/tenant",
    "https://auth.example/.well-known/openid-configuration/tenant",
    "https://auth.example/tenant/.well-known/openid-configuration",
  ]);
});

Deno.test("discoverAuthorizationServer() refuses metadata of another issuer at once", async () => {
  const { fetch, asked } = serve({
    "https://auth.example/.well-known/oauth-authorization-server": { issuer: "https://evil.example" },
    "https://auth.example/.well-known/openid-configuration": { issuer: "https://auth.example" },
  });
  const find = () => discoverAuthorizationServer("https://auth.example", { ...OPTIONS, fetch });
  await assertRejects(find, SignInError, "another issuer");
  assertEquals(asked.length, 1);
});

Deno.test("discoverAuthorizationServer() gives the default endpoints of 2025-03-26 at the server's own origin alone", async () => {
  const { fetch } = serve({});
  const options = { ...OPTIONS, fetch, hasDefaultEndpoints: true };
  const { metadata } = await discoverAuthorizationServer("https://mcp.example", options);
  assertEquals([metadata.authorization_endpoint, metadata.token_endpoint], [
    "https://mcp.example/authorize",
    "https://mcp.example/token",
  ]);
  await assertRejects(() => discoverAuthorizationServer("https://auth.example", options), SignInError);
  await assertRejects(
    () => discoverAuthorizationServer("http://auth.example", options),
    SignInError,
    "https",
  );
});

Deno.test("hasServerMetadata() is true where the server describes its authorization server itself", async () => {
  const place = "https://mcp.example/.well-known/oauth-authorization-server";
  const options = {
    signal,
    fetch: serve({ [place]: { token_endpoint: "https://mcp.example/token" } }).fetch,
  };
  assertEquals(await hasServerMetadata(SERVER, options), true);
  assertEquals(
    await hasServerMetadata(SERVER, { signal, fetch: serve({ [place]: { name: "x" } }).fetch }),
    false,
  );
});

Deno.test("isSameIssuer() allows for the slash of an empty path and nothing else", () => {
  assertEquals(isSameIssuer("https://a.example", "https://a.example/"), true);
  assertEquals(isSameIssuer("https://a.example/x", "https://a.example/x/"), false);
  assertEquals(isSameIssuer("https://a.example", "https://A.example"), false);
});
