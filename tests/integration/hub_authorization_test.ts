/** What a hub gives to OAuth clients that behave, and to people who may connect them. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import * as oauth from "oauth4webapi";
import { createHubProgram } from "../../src/cli/hub/main.ts";
import { typingUser } from "../../src/files/user_sockets.ts";
import { Grants } from "../../src/hub/grants.ts";
import { Invitations } from "../../src/hub/invitations.ts";
import { StateFile } from "../../src/hub/state_file.ts";
import { HubBrowser, HubClient, REDIRECT, register, tokensOf } from "../fixtures/hub_client.ts";
import { HubDoor } from "../fixtures/hub_door.ts";
import { within } from "../fixtures/within.ts";

/** A client with tokens for the office "lab". */
async function connected(hub: HubDoor, rights = "call") {
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab"), rights });
  return { client, ...await tokensOf(await client.exchange(redirect)) };
}

/** What a command does with the grants, while the hub runs. */
function withGrants<T>(hub: HubDoor, use: (grants: Grants) => T): T {
  using file = StateFile.openExisting(hub.stateFile);
  return use(new Grants(file));
}

Deno.test("a client that a person has consented to gets tokens for one office", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  assertEquals(redirect.searchParams.get("iss"), hub.url);
  assertEquals(redirect.searchParams.get("state"), client.state);
  const { access, scope } = await tokensOf(await client.exchange(redirect));
  assertEquals(scope, "a2c:read a2c:call");
  const found = hub.server.verify(access, hub.resource("lab"));
  assertEquals([found?.client, found?.offices, found?.rights], ["Claude of ada", ["lab"], "call"]);
  assertEquals(hub.server.verify(access, hub.resource("shop")), undefined);
});

Deno.test("oauth4webapi finds the metadata at each place that clients try, and accepts the whole sign-in", async () => {
  await using hub = await HubDoor.open();
  const options = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(hub.url);
  const discovered = await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" });
  const as = await oauth.processDiscoveryResponse(issuer, discovered);
  const ofPath = await fetch(`${hub.url}/.well-known/oauth-authorization-server/mcp/o/lab`);
  assertEquals((await ofPath.json()).issuer, hub.url);

  const metadata = { client_name: "Inspector", redirect_uris: [REDIRECT] };
  const registered = await oauth.dynamicClientRegistrationRequest(as, metadata, options);
  const registration = await oauth.processDynamicClientRegistrationResponse(registered);
  const client = { client_id: registration.client_id };
  const asked = HubClient.of(hub.url, client.client_id);
  const redirect = await asked.consent(hub.resource("lab"), { code: hub.invite("lab") });
  const answer = oauth.validateAuthResponse(as, client, redirect, asked.state);
  const exchanged = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    oauth.None(),
    answer,
    REDIRECT,
    asked.verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, exchanged);
  assert(hub.server.verify(tokens.access_token, hub.resource("lab")) !== undefined);

  const refresh = tokens.refresh_token ?? "";
  const refreshed = await oauth.refreshTokenGrantRequest(as, client, oauth.None(), refresh, options);
  const newer = await oauth.processRefreshTokenResponse(as, client, refreshed);
  assertNotEquals(newer.refresh_token, refresh);
  const newest = newer.refresh_token ?? "";
  const revoked = await oauth.revocationRequest(as, client, oauth.None(), newest, options);
  await oauth.processRevocationResponse(revoked);
  await revoked.body?.cancel();
  assertEquals(hub.server.verify(newer.access_token, hub.resource("lab")), undefined);
  assertEquals(withGrants(hub, (grants) => grants.list()), []);
});

Deno.test("a client without scopes of the hub, as of OpenID Connect, is asked about like any other", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const more = { scope: "openid profile offline_access", prompt: "consent", nonce: "n", max_age: "5" };
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab"), more });
  assertEquals((await tokensOf(await client.exchange(redirect))).scope, "a2c:read a2c:call");
});

Deno.test("a client that names no path gets tokens for all offices of the invitation", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const { resource: _, ...parameters } = Object.fromEntries(new URL(await client.page("")).searchParams);
  const asked = await browser.open(`${hub.url}/oauth/authorize?${new URLSearchParams(parameters)}`);
  const code = hub.invite("lab", "shop");
  await browser.submit(asked.url, { step: "prove", code });
  const done = await browser.submit(asked.url, [["step", "allow"], ["rights", "read"], ["office", "shop"]]);
  const { access } = await tokensOf(await client.exchange(new URL(done.url)));
  const found = hub.server.verify(access, `${hub.url}/mcp`);
  assertEquals([found?.offices, found?.rights], [["shop"], "read"]);
});

Deno.test("a client that asks to read is not offered more", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab"), { scope: "a2c:read" }));
  const chosen = await browser.submit(asked.url, { step: "prove", code: hub.invite("lab") });
  assertEquals(chosen.page?.match(/type="radio"/g)?.length, 1);
  const tooMuch = await browser.submit(asked.url, { step: "allow", rights: "call" });
  assertStringIncludes(tooMuch.page ?? "", "Choose");
  const done = await browser.submit(asked.url, { step: "allow", rights: "read" });
  const { scope } = await tokensOf(await client.exchange(new URL(done.url)));
  assertEquals(scope, "a2c:read");
});

Deno.test("a person with an invitation allows no more than the invitation does", async () => {
  await using hub = await HubDoor.open();
  const invite = () => {
    using file = StateFile.openExisting(hub.stateFile);
    const limits = { rights: "confirm", computers: ["desk", "shelf"] } as const;
    return new Invitations(file).add({ name: "ada", offices: ["lab"], ...limits }).code;
  };
  const client = await HubClient.register(hub.url);
  const prove = async (path: string) => {
    const browser = new HubBrowser();
    const { url } = await browser.open(await client.page(hub.resource("lab") + path));
    const { page = "" } = await browser.submit(url, { step: "prove", code: invite() });
    return { page, allow: (rights: string) => browser.submit(url, { step: "allow", rights }) };
  };
  const all = await prove("");
  assertStringIncludes(all.page, "desk");
  assertEquals(/value="call"/.test(all.page), false);
  assertStringIncludes((await all.allow("call")).page ?? "", "what the client may do");
  await all.allow("confirm");
  await (await prove("/c/desk")).allow("read");
  assertStringIncludes((await prove("/c/attic")).page, "for other Computers");
  using file = StateFile.openExisting(hub.stateFile);
  const granted = new Grants(file).list().map(({ rights, computers }) => [rights, computers]);
  assertEquals(granted, [["confirm", ["desk", "shelf"]], ["read", ["desk"]]]);
});

Deno.test("a person who does not allow it sends the client an error", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  const { searchParams } = new URL((await browser.submit(asked.url, { step: "deny" })).url);
  assertEquals([searchParams.get("error"), searchParams.get("state")], ["access_denied", client.state]);
  assertEquals(searchParams.get("iss"), hub.url);
});

Deno.test("an operator consents with a token of the operator's file", async () => {
  const operator = (token: string) =>
    Promise.resolve(token === "s3cret" ? { name: "root", offices: "all" as const } : undefined);
  await using hub = await HubDoor.open({ operator });
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  await browser.submit(asked.url, { step: "prove", token: "wrong" });
  const chosen = await browser.submit(asked.url, { step: "prove", token: "s3cret" });
  assertStringIncludes(chosen.page ?? "", "<strong><bdi>lab</bdi></strong>");
  const done = await browser.submit(asked.url, { step: "allow", rights: "confirm" });
  const { access } = await tokensOf(await client.exchange(new URL(done.url)));
  const found = hub.server.verify(access, hub.resource("lab"));
  assertEquals([found?.offices, found?.rights], [["lab"], "confirm"]);
  assertEquals(withGrants(hub, (grants) => grants.list()).map(({ consentedBy }) => consentedBy), ["root"]);
});

Deno.test("a wrong code is called a code where nobody has an operator's token", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  const { page = "" } = await browser.submit(asked.url, { step: "prove", code: "AAAA-2222" });
  assertStringIncludes(page, "This code is wrong");
});

Deno.test("an operator of any office is told to connect a client that names none to one of them", async () => {
  const operator = () => Promise.resolve({ name: "root", offices: "all" as const });
  await using hub = await HubDoor.open({ operator });
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(`${hub.url}/mcp`));
  const told = await browser.submit(asked.url, { step: "prove", token: "s3cret" });
  assertStringIncludes(told.page ?? "", "Connect it to the path of one");
  const forced = await browser.submit(asked.url, { step: "allow", rights: "call" });
  assertStringIncludes(forced.page ?? "", "This code or token is wrong");
  assertEquals(withGrants(hub, (grants) => grants.list()), []);
});

Deno.test("a command revokes a grant at once for tokens that are out, and its streams end", async () => {
  await using hub = await HubDoor.open();
  const { client, access, refresh } = await connected(hub);
  const found = hub.server.verify(access, hub.resource("lab"));
  const ended = new Promise((resolve) => found?.signal?.addEventListener("abort", resolve));
  assert(withGrants(hub, (grants) => grants.revoke(found?.id ?? "")));
  assertEquals(hub.server.verify(access, hub.resource("lab")), undefined);
  const answer = async (token: string) => {
    const refused = await client.refresh(token);
    return { status: refused.status, ...await refused.json() };
  };
  const refused = await answer(refresh);
  assertEquals([refused.status, refused.error], [400, "invalid_grant"]);
  assertStringIncludes(refused.error_description, "sign in again");
  assertEquals(await answer("unknown"), refused);
  await within(ended, "the end of the streams");
});

Deno.test("a grant that commands replace by another of its office does not empty the office", async () => {
  const ends: [office: string, isLast: boolean][] = [];
  const ended = Promise.withResolvers<void>();
  await using hub = await HubDoor.open({
    onGrantEnd: (office, { isLast }) => {
      ends.push([office, isLast]);
      ended.resolve();
    },
  });
  await connected(hub);
  const replace = (grants: Grants) => {
    const [grant] = grants.list();
    assert(grant !== undefined && grants.revoke(grant.id));
    return grants.add(grant);
  };
  withGrants(hub, replace);
  await within(ended.promise, "the end of the grant");
  assertEquals(ends, [["lab", false]]);
});

Deno.test("a command limits a grant for tokens that are out", async () => {
  await using hub = await HubDoor.open();
  const { access } = await connected(hub);
  const id = hub.server.verify(access, hub.resource("lab"))?.id ?? "";
  withGrants(hub, (grants) => grants.change(id, { rights: "read", computers: ["laptop"], client: "Phone" }));
  const limited = hub.server.verify(access, hub.resource("lab"));
  assertEquals([limited?.rights, limited?.computers, limited?.client], ["read", ["laptop"], "Phone"]);
});

Deno.test("a grant of a client that may only read stays so, whatever a command says", async () => {
  await using hub = await HubDoor.open();
  const { access } = await connected(hub, "read");
  const id = hub.server.verify(access, hub.resource("lab"))?.id ?? "";
  withGrants(hub, (grants) => grants.change(id, { rights: "call" }));
  assertEquals(hub.server.verify(access, hub.resource("lab"))?.rights, "read");
});

Deno.test("calls and the time of the last use stand in the list after the hub has ended", async () => {
  await using hub = await HubDoor.open();
  const { access } = await connected(hub);
  const id = hub.server.verify(access, hub.resource("lab"))?.id ?? "";
  hub.server.countCall(id);
  hub.server.countCall(id);
  await hub.restart();
  const [grant] = withGrants(hub, (grants) => grants.list());
  assertEquals([grant?.calls, grant?.returnsTo], [2, "client.example"]);
  assert(Date.now() - (grant?.lastUsed ?? 0) < 600_000);
});

Deno.test("tokens and clients survive the hub", async () => {
  await using hub = await HubDoor.open();
  const { client, access, refresh } = await connected(hub);
  await hub.restart();
  assert(hub.server.verify(access, hub.resource("lab")) !== undefined);
  await tokensOf(await client.refresh(refresh));
});

Deno.test("a hub whose state file is damaged starts, says so, and refuses old tokens and clients", async () => {
  await using hub = await HubDoor.open();
  const { client, access, refresh } = await connected(hub);
  hub.server[Symbol.dispose]();
  const file = await Deno.open(hub.stateFile, { write: true });
  await file.write(crypto.getRandomValues(new Uint8Array(8_192)));
  file.close();
  await hub.restart();
  const line = await hub.log.until(({ level, message }) => level === "error" && /damaged/.test(message));
  assertMatch(String(line.fields["moved_to"]), /hub\.sqlite\.damaged-/);
  assertEquals(hub.server.verify(access, hub.resource("lab")), undefined);
  const refused = await client.refresh(refresh);
  assertEquals([refused.status, (await refused.json()).error], [401, "invalid_client"]);
  await connected(hub);
});

Deno.test("what is secret does not stand in the state file, which its owner alone can read", async () => {
  await using hub = await HubDoor.open();
  const code = hub.invite("lab");
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code });
  const { access, refresh } = await tokensOf(await client.exchange(redirect));
  await hub.restart();
  const texts = ["", "-wal"].map((end) => {
    try {
      return new TextDecoder("latin1").decode(Deno.readFileSync(hub.stateFile + end));
    } catch {
      return "";
    }
  });
  const secrets = [access, refresh, redirect.searchParams.get("code") ?? "", code, code.replace("-", "")];
  for (const secret of secrets) assert(!texts.some((text) => text.includes(secret)));
  if (Deno.build.os !== "windows") assertEquals((Deno.statSync(hub.stateFile).mode ?? 0) & 0o777, 0o600);
});

Deno.test("a client that registers again and again is one client", async () => {
  await using hub = await HubDoor.open();
  const ids = await Promise.all(Array.from({ length: 5 }, async () => {
    return (await (await register(hub.url)).json()).client_id;
  }));
  assertEquals(new Set(ids).size, 1);
  assertNotEquals((await (await register(hub.url, { client_name: "Other" })).json()).client_id, ids[0]);
});

Deno.test("whatever a client asks to be, it is registered as a public one", async () => {
  await using hub = await HubDoor.open();
  const response = await register(hub.url, {
    token_endpoint_auth_method: "client_secret_post",
    grant_types: ["authorization_code", "implicit", "client_credentials"],
    scope: "admin",
  });
  const body = await response.json();
  assertEquals(body.token_endpoint_auth_method, "none");
  assertEquals(body.grant_types, ["authorization_code", "refresh_token"]);
  assert(!("client_secret" in body));
});

Deno.test("a client on this machine comes back to any port", async () => {
  await using hub = await HubDoor.open();
  const registered = await HubClient.register(hub.url, { redirect_uris: ["http://127.0.0.1/callback"] });
  const redirect_uri = "http://127.0.0.1:43210/callback";
  const redirect = await registered.consent(hub.resource("lab"), {
    code: hub.invite("lab"),
    more: { redirect_uri },
  });
  assertEquals(redirect.origin, "http://127.0.0.1:43210");
  await tokensOf(await registered.exchange(redirect, { redirect_uri }));
});

Deno.test("a client is known by its metadata document, which is read once", async () => {
  const id = "https://claude.example/oauth/client.json";
  const read: string[] = [];
  const document = { client_id: id, client_name: "Claude", redirect_uris: [REDIRECT] };
  const fetchDocument = (url: URL) => {
    read.push(url.href);
    return Promise.resolve(
      Response.json({ ...document, token_endpoint_auth_method: "private_key_jwt", scope: "x" }),
    );
  };
  await using hub = await HubDoor.open({ fetch: fetchDocument });
  const client = HubClient.of(hub.url, id);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  assertStringIncludes(asked.page ?? "", "<bdi>claude.example</bdi>");
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  await tokensOf(await client.exchange(redirect));
  assertEquals(read, [id]);
});

Deno.test("a client that was connected is known when the host of its document does not answer", async () => {
  const id = "https://claude.example/oauth/client.json";
  let isThere = true;
  const fetchDocument = () =>
    isThere
      ? Promise.resolve(Response.json({ client_id: id, client_name: "Claude", redirect_uris: [REDIRECT] }))
      : Promise.reject(new TypeError("Unreachable"));
  await using hub = await HubDoor.open({ fetch: fetchDocument });
  const client = HubClient.of(hub.url, id);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  const first = await tokensOf(await client.exchange(redirect));
  await hub.restart();
  const second = await tokensOf(await client.refresh(first.refresh));
  isThere = false;
  await hub.restart();
  await tokensOf(await client.refresh(second.refresh));
  const stranger = HubClient.of(hub.url, "https://other.example/client.json");
  const { page } = await new HubBrowser().open(await stranger.page(hub.resource("lab")));
  assertStringIncludes(page ?? "", "Cannot connect the client");
});

Deno.test("two people who use one service have a grant each, although its client is the same", async () => {
  await using hub = await HubDoor.open();
  const first = await connected(hub);
  const second = await connected(hub, "read");
  assertEquals(first.client.id, second.client.id);
  assertEquals(hub.server.verify(first.access, hub.resource("lab"))?.rights, "call");
  assertEquals(hub.server.verify(second.access, hub.resource("lab"))?.rights, "read");
  assertEquals(withGrants(hub, (grants) => grants.list()).length, 2);
});

Deno.test("behind a proxy that ends TLS, cookies are for https alone and forms come from the public URL", async () => {
  const publicUrl = "https://hub.example.com";
  await using hub = await HubDoor.open({ publicUrl });
  const metadata = await (await fetch(`${hub.url}/.well-known/oauth-authorization-server`)).json();
  assertEquals(metadata.authorization_endpoint, `${publicUrl}/oauth/authorize`);
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const resource = `${publicUrl}/mcp/o/lab`;
  const opened = await browser.send(await client.page(resource));
  await opened.body?.cancel();
  const cookies = opened.headers.getSetCookie();
  assert(
    cookies.length > 0 && cookies.every((each) => /; secure/i.test(each) && /; httponly/i.test(each)),
    cookies.join(),
  );
  const path = new URL(opened.headers.get("location") ?? "", publicUrl).pathname;
  const submit = async (fields: Record<string, string>) => {
    const body = new URLSearchParams(fields);
    const response = await browser.send(hub.url + path, {
      method: "POST",
      body,
      headers: { origin: publicUrl },
    });
    await response.body?.cancel();
    return response;
  };
  assertEquals((await submit({ step: "prove", code: hub.invite("lab") })).status, 200);
  const allowed = await submit({ step: "allow", rights: "call" });
  const resumed = new URL(allowed.headers.get("location") ?? "");
  assertEquals(resumed.origin, publicUrl);
  const done = await browser.send(hub.url + resumed.pathname);
  await done.body?.cancel();
  const redirect = new URL(done.headers.get("location") ?? "");
  assertEquals(redirect.searchParams.get("iss"), publicUrl);
  const { access } = await tokensOf(await client.exchange(redirect));
  assert(hub.server.verify(access, resource) !== undefined);
});

Deno.test("an operator is told which grant a refused token is of, and its client is not", async () => {
  await using hub = await HubDoor.open();
  const { access } = await connected(hub);
  const id = hub.server.verify(access, hub.resource("lab"))?.id ?? "";
  const refusal = async (token: string, office: string) => {
    const answer = await hub.server.tokens.verify(token, hub.resource(office), new AbortController().signal);
    assert("refused" in answer);
    return answer;
  };
  const other = await refusal(access, "shop");
  assertEquals(other.log, {
    detail: "a token of a grant for another path",
    grant: id,
    client: "Claude of ada",
    for: hub.resource("lab"),
  });
  withGrants(hub, (grants) => grants.revoke(id));
  const ended = await refusal(access, "lab");
  assertEquals(ended.log, { detail: "token of a grant that was revoked or has ended", grant: id });
  const unknown = await refusal("unknown", "lab");
  assertEquals(new Set([other, ended, unknown].map(({ refused }) => refused)).size, 1);
});

Deno.test("what a command does has a line that names its user, also while no hub runs", async () => {
  await using hub = await HubDoor.open();
  const { access } = await connected(hub);
  const id = hub.server.verify(access, hub.resource("lab"))?.id ?? "";
  const run = async (...words: string[]) => {
    const program = createHubProgram(new AbortController().signal).exitOverride();
    await program.parseAsync(["--state-file", hub.stateFile, ...words], { from: "user" });
  };
  const line = (text: string) =>
    hub.log.until(({ message, module, fields }) =>
      module === "audit" && message === text && fields["via"] === "command" && fields["by"] === typingUser()
    );
  await run("grants", "limit", id, "--rights", "read");
  await line("a grant was changed by a command");
  await run("invite", "lab", "--for", "bob");
  assertEquals((await line("a code was made by a command")).fields["for"], "bob");
  await run("grants", "revoke", id);
  await hub.restart();
  await line("a grant was revoked by a command");
  const told = hub.log.lines.filter(({ message }) => /by a command/.test(message));
  assertEquals(told.length, 3);
});

Deno.test("each grant, refusal and revocation has a line in the audit log", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh } = await connected(hub);
  const wrong = new URLSearchParams({
    client_id: client.id,
    grant_type: "refresh_token",
    refresh_token: "wrong",
  });
  const headers = { "x-test-address": "192.0.2.1", "x-forwarded-for": "192.0.2.2" };
  await fetch(`${hub.url}/oauth/token`, { method: "POST", body: wrong, headers })
    .then((each) => each.body?.cancel());
  const body = new URLSearchParams({ client_id: client.id, token: refresh });
  await fetch(`${hub.url}/oauth/revoke`, { method: "POST", body }).then((each) => each.body?.cancel());
  const messages = hub.log.lines.filter(({ module }) => module === "audit").map(({ message }) => message);
  assertEquals(messages, [
    "a client was granted access",
    "a client was refused",
    "a grant was ended: by its client, a token used twice, or too many tokens",
  ]);
  const refused = hub.log.lines.find(({ message }) => message === "a client was refused");
  assertEquals([refused?.fields["request"], refused?.fields["address"]], ["grant", "192.0.2.1"]);
});
