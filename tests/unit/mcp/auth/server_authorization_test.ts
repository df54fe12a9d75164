import { assertEquals, assertRejects } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import { ProtectedServer } from "../../../../src/mcp/auth/protected_server.ts";
import { ServerAuthorization } from "../../../../src/mcp/auth/server_authorization.ts";
import { memoryTokenStore, type OAuthTokens, type TokenStore } from "../../../../src/mcp/auth/token_store.ts";
import { SignInRequiredError } from "../../../../src/mcp/errors.ts";
import type { OAuthSettings } from "../../../../src/protocol/config.ts";
import { AuthorizationServer } from "../../../fixtures/authorization_server.ts";
import { FakeTimers } from "../../../fixtures/fake_timers.ts";
import { within } from "../../../fixtures/within.ts";

const KEY = { server: "shop", resource: "https://mcp.example/mcp", issuer: "https://auth.example" };
const CHALLENGE = {
  error: undefined,
  scope: undefined,
  resourceMetadata: "https://mcp.example/metadata",
  isDpop: false,
};

/** The authorization of a server with these tokens, which asks nobody. */
async function open(store: TokenStore, tokens?: OAuthTokens): Promise<ServerAuthorization> {
  if (tokens !== undefined) await put(store, tokens);
  return authorize(store);
}

function authorize(
  store: TokenStore,
  { url = KEY.resource, oauth }: { readonly url?: string; readonly oauth?: OAuthSettings } = {},
): ServerAuthorization {
  const server = ProtectedServer.of({
    name: KEY.server,
    type: "streamable",
    disabled: false,
    forbidden_tools: [],
    tool_meta: {},
    server_parameters: {
      url,
      headers: null,
      timeout: "PT30S",
      sse_read_timeout: "PT5M",
      terminate_on_close: true,
    },
    oauth,
  }, { store, learn() {}, log: silentLogger, now: () => 1_000 });
  if (server === undefined) throw new TypeError("Cannot sign in at this server");
  return new ServerAuthorization(server, new AbortController().signal);
}

function put(store: TokenStore, tokens: OAuthTokens | undefined) {
  const client = { clientId: "a2c", source: "registered" } as const;
  return store.update(KEY, () => Promise.resolve({ ...KEY, client, tokens }));
}

Deno.test("a sign-in that ends before anybody waits for it is not missed", async () => {
  const store = memoryTokenStore();
  for (const tokens of [undefined, { accessToken: "old" }]) {
    const authorization = await open(store, tokens);
    const refusal = { status: 401, challenge: CHALLENGE, token: tokens?.accessToken } as const;
    await assertRejects(
      () => authorization.onRefused(refusal, undefined),
      SignInRequiredError,
      "auth login shop",
    );
    await put(store, { accessToken: `new after ${tokens?.accessToken}` });
    const { signal } = new AbortController();
    await within(authorization.untilSignedIn(signal), "the sign-in of before");
    assertEquals(authorization.required, undefined);
    await put(store, undefined);
  }
});

Deno.test("a refused token does not count as a sign-in", async () => {
  const store = memoryTokenStore();
  const authorization = await open(store, { accessToken: "refused" });
  const refusal = { status: 401, challenge: CHALLENGE, token: "refused" } as const;
  await assertRejects(() => authorization.onRefused(refusal, undefined), SignInRequiredError);
  const over = new AbortController();
  const waiting = authorization.untilSignedIn(over.signal);
  await put(store, { accessToken: "refused", scope: "other" });
  over.abort(new TypeError("still waiting"));
  await assertRejects(() => waiting, TypeError, "still waiting");
});

Deno.test("a token whose end is unknown, or that cannot be renewed, is used until it is refused", async () => {
  for (const tokens of [{ accessToken: "x" }, { accessToken: "x", expiresAtMs: 0, renewAtMs: 0 }]) {
    const authorization = await open(memoryTokenStore(), tokens);
    assertEquals(await authorization.token(undefined), "x");
  }
});

Deno.test("an authorization server that hangs holds up no call whose token is still good", async () => {
  await using as = new AuthorizationServer();
  const hanging = Promise.withResolvers<void>();
  as.answers.set("/.well-known/oauth-authorization-server", () => {
    hanging.resolve();
    return new Response(new ReadableStream());
  });
  const url = `${as.issuer}/mcp`;
  const key = { server: "shop", resource: url, issuer: as.issuer };
  const client = { clientId: "a2c", source: "registered" } as const;
  const tokens = { accessToken: "x", refreshToken: "y", expiresAtMs: 2_000, renewAtMs: 500 };
  const store = memoryTokenStore();
  await store.update(key, () => Promise.resolve({ ...key, client, tokens }));
  using timers = new FakeTimers();
  const authorization = authorize(store, { url });
  const given: unknown[] = [];
  for (let call = 0; call < 2; call++) authorization.token(undefined).then((token) => given.push(token));
  await within(hanging.promise, "the request");
  timers.advance(5_000);
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
  const inTime = [...given];
  // Ends the request that hangs.
  timers.advance(20_000);
  assertEquals(inTime, ["x", "x"]);
});

Deno.test("a missing scope is named once for the next sign-in, and no other refusal asks for one", async () => {
  const store = memoryTokenStore();
  const authorization = await open(store, { accessToken: "x", scope: "read" });
  const refuse = (challenge: typeof CHALLENGE | undefined, error?: string, scope?: string) =>
    authorization.onRefused(
      { status: 403, token: "x", challenge: challenge && { ...challenge, error, scope } },
      undefined,
    );
  assertEquals(await refuse(undefined), undefined);
  assertEquals(await refuse(CHALLENGE, "insufficient_scope", "read"), undefined);
  assertEquals(await refuse(CHALLENGE, "access_denied", "write"), undefined);
  const error = await assertRejects(
    () => refuse(CHALLENGE, "insufficient_scope", "read write"),
    SignInRequiredError,
  );
  assertEquals([error.missingScope, authorization.required], ["write", undefined]);
  assertEquals((await store.read("shop"))[0]?.wantedScope, "read write");
});

Deno.test("a service whose calls lack different scopes at the same time gets all of them", async () => {
  await using as = new AuthorizationServer();
  as.mcpUrl = `${as.issuer}/mcp`;
  const oauth = { grant: "client_credentials", clientId: "known", clientSecret: "secret" } as const;
  const authorization = authorize(memoryTokenStore(), { url: as.mcpUrl, oauth });
  const challenge = { ...CHALLENGE, resourceMetadata: `${as.issuer}/resource` };
  const token = await authorization.onRefused({ status: 401, challenge, token: undefined }, undefined);
  const lack = (scope: string) => {
    const lacking = { ...challenge, error: "insufficient_scope", scope };
    return authorization.onRefused({ status: 403, challenge: lacking, token }, undefined);
  };
  const answers = ["read", "write", "admin", "admin"].map(lack);
  const tokens = await within(Promise.all(answers), "all scopes");
  assertEquals(as.forms.map((form) => form.get("scope")), [null, "read", "write read", "admin write read"]);
  assertEquals(tokens.includes(undefined), false);
  assertEquals(tokens[3], tokens[2]);
});
