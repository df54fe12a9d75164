/** Sign-ins at MCP servers by OAuth, against a small authorization server whose answers the tests change. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { Computer, memoryTokenStore, SignInError, type TokenStore } from "../../computer.ts";
import { AuthorizationServer, followSignIn, signIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { stateOf } from "../fixtures/log_book.ts";
import type { Script } from "../fixtures/script.ts";
import { eventually, within } from "../fixtures/within.ts";
import { ComputerOffice, type OfficeOptions } from "./_computer_office.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };

interface Protected extends AsyncDisposable {
  readonly as: AuthorizationServer;
  readonly mcp: HttpMcpServer;
  readonly office: ComputerOffice;
  readonly tokens: TokenStore;
  /** Opens another Computer with the same config and tokens. */
  again(): Promise<ComputerOffice>;
}

/** An MCP server behind an authorization server, and an office with a Computer that has it as "shop". */
async function openProtected(options: {
  readonly kind?: "streamable" | "sse";
  readonly oauth?: unknown;
  readonly script?: Script;
  readonly office?: OfficeOptions;
  readonly prepare?: (as: AuthorizationServer) => void;
} = {}): Promise<Protected> {
  const { kind = "streamable", oauth, script = { tools: [echo] }, prepare = () => {} } = options;
  await using stack = new AsyncDisposableStack();
  const as = stack.use(new AuthorizationServer());
  const mcp = stack.use(
    new HttpMcpServer(kind, script, {
      intercept: (message, request) => as.guard(message, request),
      ...kind === "sse" ? { interceptGet: (request) => as.guard({ method: "GET" }, request) } : {},
    }),
  );
  as.mcpUrl = mcp.url;
  prepare(as);
  const tokens = memoryTokenStore();
  const config = { servers: { shop: { ...mcp.config(), ...oauth === undefined ? {} : { oauth } } } };
  const open = () => ComputerOffice.open(config, { tokens, ...options.office });
  const office = stack.use(await open());
  const opened = stack.move();
  return {
    as,
    mcp,
    office,
    tokens,
    again: open,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";

/** The sign-in of somebody whose enterprise has that identity provider. */
function inEnterprise({ issuer }: AuthorizationServer): unknown {
  const identityProvider = { issuer, clientId: "desktop", idToken: "an.id.token" };
  return { grant: "jwt_bearer", clientId: "known", scopes: ["read"], identityProvider };
}

async function signInAt({ office }: Protected): Promise<void> {
  const running = office.log.next(stateOf("shop", "running"));
  await signIn(office.computer, "shop");
  await running;
  await office.computer.ready();
}

for (const kind of ["streamable", "sse"] as const) {
  Deno.test(`a ${kind} server that wants a sign-in needs sign-in, says so, and starts by itself after it`, async () => {
    await using shop = await openProtected({ kind });
    const { office, as } = shop;
    const state = office.computer.servers.get("shop");
    assertEquals([state?.status, state?.restarts], ["needs sign-in", 0]);
    assertMatch(state?.lastError ?? "", /run "auth login shop"/);
    assertEquals((await office.computer.signIns.status("shop")).state, "signed out");

    await signInAt(shop);
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    const status = await office.computer.signIns.status("shop");
    assertEquals([status.state, status.issuer, status.isRenewable], ["signed in", as.issuer, true]);
  });
}

Deno.test("a restarted Computer uses the tokens of before", async () => {
  await using shop = await openProtected();
  await signInAt(shop);
  await using office = await shop.again();
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(shop.as.count("authorization_code"), 1);
});

Deno.test("50 calls that are refused at the same time renew the token once", async () => {
  await using shop = await openProtected();
  await signInAt(shop);
  shop.as.endAccessTokens();
  const results = await Promise.all(Array.from({ length: 50 }, () => shop.office.computer.callTool("echo")));
  assertEquals(results.filter(({ isError }) => isError === true), []);
  assertEquals(shop.as.count("refresh_token"), 1);
});

Deno.test("a token is renewed before its end, once for 50 calls", async () => {
  await using shop = await openProtected({ prepare: (as) => as.lifetimes = [0.001] });
  await signInAt(shop);
  const results = await Promise.all(Array.from({ length: 50 }, () => shop.office.computer.callTool("echo")));
  assertEquals(results.filter(({ isError }) => isError === true), []);
  assertEquals(shop.as.count("refresh_token"), 1);
});

for (const hours of [-2, 2]) {
  Deno.test(`an authorization server whose clock is ${hours} hours off changes nothing`, async () => {
    await using shop = await openProtected({ prepare: (as) => as.skewMs = hours * 3_600_000 });
    await signInAt(shop);
    assertEquals((await shop.office.laptop.callTool("echo")).isError, false);
    shop.as.endAccessTokens();
    assertEquals((await shop.office.laptop.callTool("echo")).isError, false);
    assertEquals(shop.as.count("refresh_token"), 1);
  });
}

Deno.test("after a revoked refresh token the server needs sign-in, calls are answered 4006, and nothing is tried again", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  as.endTokens();
  const needed = office.log.next(stateOf("shop", "needs sign-in"));
  const first = await office.laptop.callTool("echo");
  await needed;
  const { length } = as.requests;
  const second = await office.laptop.callTool("echo", {}, { timeoutMs: 600_000 });
  assertEquals([first.meta?.error_code, second.meta?.error_code], [4006, 4006]);
  assertEquals(office.computer.servers.get("shop")?.status, "needs sign-in");
  assertEquals(as.requests.length, length);

  await signInAt(shop);
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

Deno.test("an authorization server that is not available leaves the sign-in as it is", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  as.endAccessTokens();
  as.answers.set("/token", () => new Response("busy", { status: 503 }));
  const { meta } = await office.laptop.callTool("echo");
  assertEquals(meta?.error_code, 4003);
  const retrying = office.log.next(stateOf("shop", "retrying"));
  const running = office.log.next(stateOf("shop", "running"));
  office.computer.restartServer("shop");
  await retrying;
  as.answers.clear();
  await running;
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

Deno.test("a registration that the authorization server has forgotten is made anew", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  as.forgetClients();
  as.endAccessTokens();
  const needed = office.log.next(stateOf("shop", "needs sign-in"));
  assertEquals((await office.laptop.callTool("echo")).meta?.error_code, 4006);
  await needed;
  await signInAt(shop);
  assertEquals(as.requests.filter((each) => each === "POST /register").length, 2);
});

Deno.test("a call that lacks a scope is answered 4006 and names it, the session goes on, and the next sign-in asks for it", async () => {
  await using shop = await openProtected({
    prepare: (as) => {
      as.resource = { scopes_supported: ["read"] };
      as.scopeOf = ({ method }) => method === "tools/call" ? "write" : undefined;
    },
  });
  const { office } = shop;
  await signInAt(shop);
  const { meta, content } = await office.laptop.callTool("echo");
  assertEquals(meta?.error_code, 4006);
  assertMatch(content[0]?.text ?? "", /write.*auth login shop/);
  assertEquals(office.computer.servers.get("shop")?.status, "running");
  assertEquals((await office.computer.signIns.status("shop")).missingScopes, ["write"]);

  await signIn(office.computer, "shop");
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals((await office.computer.signIns.status("shop")).scopes, ["read", "write"]);
});

Deno.test("a service gets its tokens by itself, and further scopes once", async () => {
  await using shop = await openProtected({
    oauth: { grant: "client_credentials", clientId: "known", clientSecret: "se-cret:1" },
    prepare: (as) => as.scopeOf = ({ method }) => method === "tools/call" ? "write" : undefined,
  });
  const { office, as } = shop;
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(as.count("client_credentials"), 2);
  assertEquals(as.credentials[0], `Basic ${btoa("known:se-cret%3A1")}`);
  as.endTokens();
  assertEquals((await office.laptop.callTool("echo")).isError, false);
});

Deno.test("a sign-in of a service tries its client, also when there are tokens", async () => {
  await using shop = await openProtected({
    oauth: { grant: "client_credentials", clientId: "known", clientSecret: "secret-1234" },
  });
  const { office: { computer }, as } = shop;
  await computer.signIns.start("shop");
  assertEquals(as.count("client_credentials"), 2);
  as.answers.set("/token", () => Response.json({ error: "invalid_client" }, { status: 401 }));
  await assertRejects(() => computer.signIns.start("shop"), SignInError, "invalid_client");
});

Deno.test("a sign-in of a service ends with its signal", async () => {
  await using shop = await openProtected({
    oauth: { grant: "client_credentials", clientId: "known", clientSecret: "secret-1234" },
  });
  const over = new AbortController();
  shop.as.answers.set("/token", () => void over.abort(new TypeError("enough")));
  const { signIns } = shop.office.computer;
  await assertRejects(() => signIns.start("shop", { signal: over.signal }), TypeError, "enough");
});

Deno.test("a workload gets its tokens by the token of its platform, which it reads anew each time", async () => {
  using folder = new TempFolder();
  const assertionFile = `${folder.path}/token`;
  await Deno.writeTextFile(assertionFile, "first.of.platform\n");
  {
    await using shop = await openProtected({
      oauth: { grant: "jwt_bearer", clientId: "known", assertionFile },
    });
    const { office, as } = shop;
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    await Deno.writeTextFile(assertionFile, "second.of.platform");
    as.endTokens();
    assertEquals((await office.laptop.callTool("echo")).isError, false);
    assertEquals(as.count("jwt-bearer"), 2);
    assertEquals(as.forms.map((form) => form.get("assertion")), ["first.of.platform", "second.of.platform"]);
    assertEquals(as.forms[0]?.get("client_id"), "known");
  }
});

Deno.test("a person of an enterprise gets tokens by an ID token, which only the identity provider sees", async () => {
  await using provider = new AuthorizationServer();
  const exchanges: Record<string, string>[] = [];
  provider.answers.set("/token", (form) => {
    exchanges.push(Object.fromEntries(form));
    return Response.json({ access_token: "an.id.jag", token_type: "N_A", issued_token_type: ID_JAG });
  });
  await using shop = await openProtected({ oauth: inEnterprise(provider) });
  const { office, as, mcp } = shop;
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  assertEquals(exchanges, [{
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    requested_token_type: ID_JAG,
    subject_token: "an.id.token",
    subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    audience: as.issuer,
    resource: mcp.url,
    scope: "read",
    client_id: "desktop",
  }]);
  assertEquals(as.forms.map((form) => form.get("assertion")), ["an.id.jag"]);
  assertEquals(as.forms.some((form) => String(form).includes("an.id.token")), false);
});

for (
  const [answer, reason] of [
    [{ error: "invalid_grant" }, /Cannot exchange the ID token at the identity provider .*: invalid_grant/],
    [
      { access_token: "other", token_type: "Bearer" },
      /Cannot use the answer of the identity provider .*ID-JAG/,
    ],
  ] as const
) {
  Deno.test(`an identity provider that answers ${Object.keys(answer)[0]} lets nobody in, and the error says so`, async () => {
    await using provider = new AuthorizationServer();
    const status = "error" in answer ? 400 : 200;
    provider.answers.set("/token", () => Response.json(answer, { status }));
    await using shop = await openProtected({ oauth: inEnterprise(provider) });
    const { office, as } = shop;
    assertMatch(office.computer.servers.get("shop")?.lastError ?? "", reason);
    assertEquals(as.forms, []);
  });
}

Deno.test("a service that never gets a scope does not ask for it again and again", async () => {
  await using shop = await openProtected({
    oauth: { grant: "client_credentials", clientId: "known", clientSecret: "secret-1234" },
    prepare: (as) => {
      as.scopeOf = ({ method }) => method === "tools/call" ? "write" : undefined;
      as.answers.set("/token", (form) => {
        form.delete("scope");
        return undefined;
      });
    },
  });
  const { office, as } = shop;
  for (let i = 0; i < 3; i++) assertEquals((await office.laptop.callTool("echo")).meta?.error_code, 4007);
  assertEquals(as.count("client_credentials"), 2);
});

Deno.test("a service whose tokens the MCP server refuses is told to check its client", async () => {
  await using as = new AuthorizationServer();
  const challenge = `Bearer resource_metadata="${as.issuer}/resource"`;
  await using mcp = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: () => new Response(null, { status: 401, headers: { "www-authenticate": challenge } }),
  });
  as.mcpUrl = mcp.url;
  const oauth = { grant: "client_credentials", clientId: "known", clientSecret: "secret-1234" };
  await using office = await ComputerOffice.open({ servers: { shop: { ...mcp.config(), oauth } } }, {
    limits: { restartDelayMs: 600_000 },
  });
  const { fields } = await office.log.until(stateOf("shop", "retrying"));
  assertMatch(String(fields["error"]), /refuses the tokens of its client; check .* "oauth"/);
  assertEquals(as.count("client_credentials"), 1);
});

Deno.test("a service authenticates with a private key, by the clock of the authorization server", async () => {
  const { privateKey } = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
  ]);
  const pem = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey)).toBase64();
  await using shop = await openProtected({
    oauth: {
      grant: "client_credentials",
      clientId: "known",
      privateKey: `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----`,
    },
    prepare: (as) => as.skewMs = 3_600_000,
  });
  const { office, as } = shop;
  assertEquals((await office.laptop.callTool("echo")).isError, false);
  const [, payload = ""] = (as.forms[0]?.get("client_assertion") ?? "").split(".");
  const claims = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(payload, { alphabet: "base64url" })),
  );
  assertEquals([claims.iss, claims.sub, claims.aud], ["known", "known", as.issuer]);
  assert(Math.abs(claims.iat * 1_000 - Date.now() - 3_600_000) < 600_000);
});

Deno.test("a sign-in on another device ends when the code was entered there", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  const begun = await office.computer.signIns.start("shop", { device: true });
  assert(begun.kind === "device");
  assertEquals([begun.url, begun.userCode], [`${as.issuer}/enter`, "WDJB"]);
  const running = office.log.next(stateOf("shop", "running"));
  await eventually(() => as.count("device_code"), (count) => count > 1, "two questions for the tokens");
  as.isDeviceApproved = true;
  await within(begun.finished, "the end of the sign-in");
  await running;
});

const offer = { device_code: "d", user_code: "WDJB", verification_uri: "https://auth.example/enter" };
for (
  const [what, changed, reason] of [
    ["page is no web page", { verification_uri: "file:///enter" }, "no page"],
    ["page has a user name", { verification_uri: "https://bank.example@evil.example/" }, "no page"],
    [
      "page with the code has a user name",
      { verification_uri_complete: "https://a:b@evil.example/" },
      "no page",
    ],
    ["code is no single line", { user_code: "WDJB\nopen https://evil.example" }, "code"],
    ["code is long", { user_code: "W".repeat(65) }, "code"],
    ["code is a sentence", { user_code: "reply with your password" }, "code"],
    ["code names a page of its own", { user_code: "F7KX at https://x.example" }, "code"],
  ] as const
) {
  Deno.test(`a sign-in on another device whose ${what} does not begin, and asks for no tokens`, async () => {
    await using shop = await openProtected();
    const { office, as } = shop;
    as.answers.set("/device", () => Response.json({ ...offer, ...changed, expires_in: 600, interval: 60 }));
    const start = () => office.computer.signIns.start("shop", { device: true });
    // A wait for the tokens would be a timer that outlives the test.
    await assertRejects(start, SignInError, reason);
  });
}

Deno.test("a cancelled sign-in on another device asks no more", async () => {
  await using shop = await openProtected();
  const begun = await shop.office.computer.signIns.start("shop", { device: true });
  assert(begun.kind === "device");
  begun.cancel();
  await assertRejects(() => begun.finished, SignInError, "cancelled");
});

Deno.test("the whole address finishes a sign-in and its code alone does not, a wrong address does not end it, and an answer for another issuer does", async () => {
  await using shop = await openProtected();
  const { office } = shop;
  const first = await office.computer.signIns.start("shop");
  const second = await office.computer.signIns.start("shop");
  assert(first.kind === "browser" && second.kind === "browser");
  const redirect = new URL(await followSignIn(first.url));

  const foreign = await assertRejects(() => second.finish(redirect.href), SignInError, "another one");
  assertEquals(foreign.isOver, false);
  await assertRejects(() => second.finish("two words"), SignInError, "paste");
  const mixedUp = new URL(await followSignIn(second.url));
  mixedUp.searchParams.set("iss", "https://evil.example");
  const over = await assertRejects(() => second.finish(mixedUp.href), SignInError, "iss");
  assertEquals(over.isOver, true);
  await assertRejects(() => second.finished, SignInError);

  const running = office.log.next(stateOf("shop", "running"));
  for (const part of [redirect.searchParams.get("code") ?? "", redirect.search]) {
    const refused = await assertRejects(() => first.finish(part), SignInError, "whole address");
    assertEquals(refused.isOver, false);
  }
  await first.finish(` ${redirect.href}\n`);
  await running;
});

Deno.test("a sign-in that is cancelled while its code is exchanged keeps no tokens", async () => {
  await using shop = await openProtected();
  const { as, office: { computer } } = shop;
  const begun = await computer.signIns.start("shop");
  assert(begun.kind === "browser");
  as.answers.set("/token", () => void begun.cancel());
  const redirect = await followSignIn(begun.url);
  await assertRejects(() => begun.finish(redirect), SignInError, "cancelled");
  assertEquals((await computer.signIns.status("shop")).state, "signed out");
});

Deno.test("a person who refuses reads the reason of the authorization server", async () => {
  await using shop = await openProtected();
  const begun = await shop.office.computer.signIns.start("shop");
  assert(begun.kind === "browser");
  const state = new URL(begun.url).searchParams.get("state") ?? "";
  const answer = `error=access_denied&error_description=not+today&state=${state}&iss=${shop.as.issuer}`;
  await assertRejects(() => begun.finish(`${begun.redirectUri}?${answer}`), SignInError, "not today");
  assertEquals(shop.office.computer.servers.get("shop")?.status, "needs sign-in");
});

Deno.test("a sign-out revokes the tokens, and the server needs sign-in", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  const needed = office.log.next(stateOf("shop", "needs sign-in"));
  const result = await office.computer.signIns.signOut("shop");
  await needed;
  assertEquals(result, { wasSignedIn: true, isRevoked: true });
  assertEquals(as.requests.filter((each) => each === "POST /revoke").length, 2);
  assertEquals((await office.laptop.callTool("echo")).meta?.error_code, 4006);
});

Deno.test("a configured client goes to no other authorization server than the first", async () => {
  await using other = new AuthorizationServer();
  await using shop = await openProtected({ oauth: { clientId: "known", clientSecret: "secret-1234" } });
  const { office, as } = shop;
  await signInAt(shop);
  as.resource = { authorization_servers: [other.issuer] };
  const error = await assertRejects(() => office.computer.signIns.start("shop"), SignInError);
  assertMatch(error.message, /belongs to the authorization server .* set it as "issuer"/);
  assertEquals(other.requests, []);
});

Deno.test("a registered client is not used at another authorization server: it gets a registration of its own", async () => {
  await using other = new AuthorizationServer();
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  other.mcpUrl = as.mcpUrl;
  as.resource = { authorization_servers: [other.issuer] };
  const begun = await office.computer.signIns.start("shop");
  assert(begun.kind === "browser");
  await begun.finish(await followSignIn(begun.url));
  assertEquals(other.requests.filter((each) => each === "POST /register").length, 1);
  const stored = await shop.tokens.read("shop");
  assertEquals(stored.filter(({ tokens }) => tokens !== undefined).map(({ issuer }) => issuer), [
    other.issuer,
  ]);
});

Deno.test("metadata of another issuer, of another resource or without PKCE begins no sign-in", async () => {
  const cases: readonly [string, (as: AuthorizationServer) => void][] = [
    ["of another issuer", (as) => as.metadata = { issuer: "https://auth.example" }],
    ["another resource", (as) => as.resource = { resource: "https://mcp.example/mcp" }],
    ["does not offer PKCE", (as) => as.metadata = { code_challenge_methods_supported: ["plain"] }],
    ["does not offer PKCE", (as) => as.metadata = { code_challenge_methods_supported: undefined }],
    ["has no page", (as) => as.metadata = { authorization_endpoint: "javascript:alert(1)" }],
    ["registers no clients", (as) => as.metadata = { registration_endpoint: undefined }],
  ];
  for (const [reason, prepare] of cases) {
    await using shop = await openProtected({ prepare });
    await assertRejects(() => shop.office.computer.signIns.start("shop"), SignInError, reason);
    assertEquals(shop.as.forms, []);
  }
});

Deno.test("a 401 without metadata is about the headers, and no sign-in is advised", async () => {
  for (const oauth of [undefined, false]) {
    await using mcp = new HttpMcpServer("streamable", { tools: [echo] }, {
      intercept: () => new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } }),
      interceptGet: () => new Response(null, { status: 404 }),
    });
    const shop = { ...mcp.config(), ...oauth === undefined ? {} : { oauth } };
    await using office = await ComputerOffice.open({ servers: { shop } });
    const { fields } = await office.log.until(stateOf("shop", "retrying"));
    assertMatch(String(fields["error"]), /check the credentials in "headers"/);
  }
});

Deno.test("a sign-in at a server that asks for none says so, and registers nowhere", async () => {
  await using mcp = new HttpMcpServer("streamable", { tools: [echo] });
  await using office = await ComputerOffice.open({ servers: { shop: mcp.config() } });
  await assertRejects(() => office.computer.signIns.start("shop"), SignInError, "asks for no sign-in");
});

Deno.test("a call that names a server before its first sign-in is answered 4006, any other names the server", async () => {
  await using shop = await openProtected();
  const named = await shop.office.laptop.callTool("shop__echo");
  assertEquals([named.isError, named.meta?.error_code], [true, 4006]);
  const other = await shop.office.laptop.callTool("echo");
  assertEquals([other.isError, other.meta?.error_code], [true, 4001]);
  for (const { content: [part] } of [named, other]) assertMatch(part?.text ?? "", /run "auth login shop"/);
});

Deno.test("a server with an Authorization header does not sign in", async () => {
  await using shop = await openProtected({
    prepare: (as) => as.resource = {},
    office: {},
  });
  const config = shop.mcp.config({ headers: { authorization: "Bearer wrong" } });
  await using computer = Computer.open({ name: "other", config: { servers: { shop: config } } });
  await computer.ready();
  assertMatch(computer.servers.get("shop")?.lastError ?? "", /check the credentials in "headers"/);
  await assertRejects(() => computer.signIns.start("shop"), TypeError, "Authorization");
});

Deno.test("a token does not follow a redirect to another origin", async () => {
  await using other = new AuthorizationServer();
  const seen: (string | null)[] = [];
  other.answers.set("/steal", (_form, request) => {
    seen.push(request.headers.get("authorization"));
    return Response.json({});
  });
  let isRedirected = false;
  await using as = new AuthorizationServer();
  await using mcp = new HttpMcpServer("streamable", { tools: [echo] }, {
    intercept: (message, request) =>
      isRedirected
        ? new Response(null, { status: 307, headers: { location: `${other.issuer}/steal` } })
        : as.guard(message, request),
  });
  as.mcpUrl = mcp.url;
  await using office = await ComputerOffice.open({ servers: { shop: mcp.config() } });
  const running = office.log.next(stateOf("shop", "running"));
  await signIn(office.computer, "shop");
  await running;
  await office.computer.ready();
  isRedirected = true;
  assertEquals((await office.laptop.callTool("echo")).isError, true);
  assertEquals(seen, []);
});

Deno.test("no token, code or verifier is in the log, the state or the journal", async () => {
  await using shop = await openProtected();
  const { office, as } = shop;
  await signInAt(shop);
  as.answers.set(
    "/token",
    (form) => Response.json({ error: "invalid_grant", error_description: `seen ${form}` }, { status: 400 }),
  );
  as.endAccessTokens();
  const needed = office.log.next(stateOf("shop", "needs sign-in"));
  await office.laptop.callTool("echo");
  await needed;
  const secrets = as.forms.flatMap((form) =>
    ["code", "code_verifier", "refresh_token"].map((name) => form.get(name))
  );
  const shown = JSON.stringify([
    office.log.lines,
    [...office.computer.servers],
    office.computer.serverLog("shop"),
    office.computer.config,
  ]);
  for (const secret of secrets.filter((each) => each !== null)) {
    assertEquals(shown.includes(secret), false, shown);
  }
  assertEquals(/access-[\da-f]/.test(shown), false);
});
