/** Attacker: a web page, an OAuth client or a thief of codes and tokens, at the authorization server of a hub. */
import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import { Grants } from "../../src/hub/grants.ts";
import { Invitations } from "../../src/hub/invitations.ts";
import { StateFile } from "../../src/hub/state_file.ts";
import { toRequester } from "../../src/protocol/call.ts";
import { HubBrowser, HubClient, REDIRECT, register, tokensOf } from "../fixtures/hub_client.ts";
import { HubDoor } from "../fixtures/hub_door.ts";

/** A client with tokens for the office "lab". */
async function connected(hub: HubDoor) {
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  return { client, redirect, ...await tokensOf(await client.exchange(redirect)) };
}

/** The status and the error of an answer. */
async function errorOf(response: Response): Promise<readonly [number, unknown]> {
  return [response.status, (await response.json()).error];
}

/**
 * Checks that a request is refused on a page of the hub. Anybody registers any redirect, so a browser that were sent there before
 * its person has decided would take a stranger wherever the sender of a link wants (RFC 9700, section 4.11.2).
 */
async function requireRefusalPage(hub: HubDoor, url: string, why: string): Promise<void> {
  const answer = await new HubBrowser().open(url);
  assertEquals([new URL(answer.url).origin, answer.status], [hub.url, 400]);
  assertStringIncludes(answer.page ?? "", "Cannot connect the client");
  assertStringIncludes(answer.page ?? "", why);
  assertNotMatch(answer.page ?? "", /<a |http-equiv|<form|<script/);
}

function grantsOf(hub: HubDoor) {
  using file = StateFile.openExisting(hub.stateFile);
  return new Grants(file).list();
}

Deno.test("no client passes for that of another person, whatever it calls itself", async () => {
  await using hub = await HubDoor.open();
  const grant = async (client_name: string, name?: string) => {
    using file = StateFile.openExisting(hub.stateFile);
    const { code } = new Invitations(file).add({ name, offices: ["lab"] });
    const client = await HubClient.register(hub.url, { client_name });
    await client.consent(hub.resource("lab"), { code });
  };
  await grant("Claude");
  for (const name of ["Claude of ada", "Claude\u00a0of\u2003ada", "Claude \u043ef ada"]) await grant(name);
  for (const name of ["Claude", `Claude of ada${" ".repeat(80)}x`, "x".repeat(200)]) await grant(name, "eve");
  const shown = grantsOf(hub).map(({ client }) => toRequester("hub", client));
  const ends = Map.groupBy(shown, (name) => / of \w+$/.exec(name)?.[0] ?? name);
  const counts = Object.fromEntries(ends.entries().map(([end, { length }]) => [end, length]));
  assertEquals(counts, { "hub/Claude": 1, " of somebody": 3, " of eve": 3 });
});

Deno.test("a code is of no use without its verifier, at another redirect, or to another client", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const thief = await HubClient.register(hub.url, { client_name: "Thief" });
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  const code_verifier = thief.verifier;
  assertEquals(await errorOf(await client.exchange(redirect, { code_verifier })), [400, "invalid_grant"]);
  assertEquals(
    await errorOf(
      await client.token({
        grant_type: "authorization_code",
        code: redirect.searchParams.get("code") ?? "",
        redirect_uri: REDIRECT,
      }),
    ),
    [400, "invalid_grant"],
  );
  const redirect_uri = `${REDIRECT}/other`;
  assertEquals(await errorOf(await client.exchange(redirect, { redirect_uri })), [400, "invalid_grant"]);
  assertEquals(await errorOf(await thief.exchange(redirect, { code_verifier: client.verifier })), [
    400,
    "invalid_grant",
  ]);
});

Deno.test("a code that is used a second time ends the tokens of the first", async () => {
  await using hub = await HubDoor.open();
  const { client, redirect, access } = await connected(hub);
  assertEquals(await errorOf(await client.exchange(redirect)), [400, "invalid_grant"]);
  assertEquals(hub.server.verify(access, hub.resource("lab")), undefined);
  assertEquals(grantsOf(hub), []);
});

Deno.test("of many exchanges of one code at once, one at most gets tokens", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.exchange(redirect)));
  const bodies = await Promise.all(answers.map((each) => each.json()));
  assert(bodies.filter(({ access_token: token }) => token !== undefined).length <= 1);
});

Deno.test("a request without PKCE, or with the plain method, is refused", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const url = new URL(await client.page(hub.resource("lab")));
  for (const [name, value] of [["code_challenge_method", "plain"], ["code_challenge", ""]] as const) {
    const changed = new URL(url);
    if (value === "") changed.searchParams.delete(name);
    else changed.searchParams.set(name, value);
    await requireRefusalPage(hub, changed.href, "code_challenge");
  }
});

Deno.test("no redirect but the registered ones is ever followed, and its page links nowhere", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const redirects = [
    "https://evil.example/callback",
    `${REDIRECT}/../evil`,
    `${REDIRECT}?x=1`,
    `${REDIRECT}#x`,
    "https://client.example.evil.example/callback",
    "https://client.example@evil.example/callback",
    "http://client.example/callback",
    "javascript:alert(1)",
    "//evil.example",
    "",
  ];
  for (const redirect_uri of redirects) {
    const { url, page = "" } = await new HubBrowser().open(
      await client.page(hub.resource("lab"), { redirect_uri }),
    );
    assertEquals(new URL(url).origin, hub.url, redirect_uri);
    assertStringIncludes(page, "Cannot connect the client");
    assertNotMatch(page, /<a |http-equiv|<form/);
  }
});

Deno.test("no client is registered whose redirect a browser would run, or that leads to another machine without TLS", async () => {
  await using hub = await HubDoor.open();
  const uris = [
    "javascript:alert(1)//",
    "data:text/html,<script>alert(1)</script>",
    "http://evil.example/callback",
    "http://127.0.0.2/callback",
    "https://user:password@client.example/",
    "https://client.example/#here",
    "file:///etc/passwd",
    "not a uri",
    `https://client.example/${"a".repeat(5_000)}`,
  ];
  for (const uri of uris) {
    assertEquals(await errorOf(await register(hub.url, { redirect_uris: [uri] })), [
      400,
      "invalid_redirect_uri",
    ]);
  }
  const odd = [{ redirect_uris: [] }, { redirect_uris: "x" }, { redirect_uris: [{}] }];
  for (const metadata of odd) assertEquals((await errorOf(await register(hub.url, metadata)))[0], 400);
  const long = { client_name: "a".repeat(100_000) };
  assertEquals((await errorOf(await register(hub.url, long)))[0], 400);
});

Deno.test("a token is for one path: that of another office is not opened, at the exchange or later", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const redirect = await client.consent(hub.resource("lab"), { code: hub.invite("lab", "shop") });
  const resource = hub.resource("shop");
  assertEquals(await errorOf(await client.exchange(redirect, { resource })), [400, "invalid_target"]);
  const again = await client.consent(hub.resource("lab"), { code: hub.invite("lab", "shop") });
  const { access, refresh } = await tokensOf(await client.exchange(again));
  for (const other of [resource, `${hub.url}/mcp`, hub.url, `${hub.resource("lab")}/`, ""]) {
    assertEquals(hub.server.verify(access, other), undefined);
  }
  assertEquals(await errorOf(await client.refresh(refresh, { resource })), [400, "invalid_target"]);
});

Deno.test("a client that asks for several paths, or for one of somebody else, is refused", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const url = new URL(await client.page(hub.resource("lab")));
  url.searchParams.append("resource", hub.resource("shop"));
  await requireRefusalPage(hub, url.href, "several paths");
  for (const resource of ["https://evil.example/mcp", "x", `${hub.url}/else`]) {
    await requireRefusalPage(hub, await client.page(resource), "no path of this hub");
  }
});

Deno.test("a code for other offices connects nothing, and tells nothing of the office that was asked for", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("secret")));
  const other = await browser.submit(asked.url, { step: "prove", code: hub.invite("lab") });
  const wrong = await browser.submit(asked.url, { step: "prove", code: "AAAA-AAAA" });
  for (const { page = "" } of [asked, other, wrong]) assertNotMatch(page, /laptop|phone|step" value="allow/);
  const forced = await browser.submit(asked.url, { step: "allow", rights: "call", office: "secret" });
  assertStringIncludes(forced.page ?? "", 'name="code"');
  assertEquals(grantsOf(hub), []);
});

Deno.test("whoever guesses codes has to wait, in how many browsers and for how many clients they try", async () => {
  await using hub = await HubDoor.open();
  const code = hub.invite("lab");
  const tried = async (guess: string) => {
    const client = await HubClient.register(hub.url);
    const browser = new HubBrowser();
    const asked = await browser.open(await client.page(hub.resource("lab")));
    return (await browser.submit(asked.url, { step: "prove", code: guess })).page ?? "";
  };
  for (let tries = 0; tries < 10; tries++) assertStringIncludes(await tried(`AAAA-AAA${tries}`), "is wrong");
  assertStringIncludes(await tried(code), "Too many tries");
});

Deno.test("an invitation connects one client", async () => {
  await using hub = await HubDoor.open();
  const code = hub.invite("lab");
  const [one, other] = [
    await HubClient.register(hub.url),
    await HubClient.register(hub.url, { client_name: "b" }),
  ];
  const [first, second] = [new HubBrowser(), new HubBrowser()];
  const pages = [
    await first.open(await one.page(hub.resource("lab"))),
    await second.open(await other.page(hub.resource("lab"))),
  ];
  const [mine = "", theirs = ""] = pages.map(({ url }) => url);
  await first.submit(mine, { step: "prove", code });
  await second.submit(theirs, { step: "prove", code });
  const done = await Promise.all([
    first.submit(mine, { step: "allow", rights: "call" }),
    second.submit(theirs, { step: "allow", rights: "call" }),
  ]);
  assertEquals(done.filter(({ page }) => page === undefined).length, 1);
  assertEquals(grantsOf(hub).length, 1);
});

Deno.test("an operator whose token is removed consents to nothing any more, also on a page that is open", async () => {
  const tokens = new Set(["s3cret"]);
  const operator = (token: string) =>
    Promise.resolve(tokens.has(token) ? { name: "root", offices: ["lab"] } : undefined);
  await using hub = await HubDoor.open({ operator });
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  const proved = await browser.submit(asked.url, { step: "prove", token: "s3cret" });
  assertStringIncludes(proved.page ?? "", "What may");
  tokens.clear();
  const done = await browser.submit(asked.url, { step: "allow", rights: "call" });
  assertStringIncludes(done.page ?? "", "This code or token is wrong");
  assertEquals(grantsOf(hub), []);
});

Deno.test("a page of another origin cannot consent for a person, and no page can frame the question", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  await browser.submit(asked.url, { step: "prove", code: hub.invite("lab") });
  const body = new URLSearchParams({ step: "allow", rights: "call" });
  const forged: HeadersInit[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { origin: hub.url, "sec-fetch-site": "cross-site" },
    { origin: hub.url.replace("http:", "https:") },
  ];
  for (const headers of forged) {
    const response = await browser.send(asked.url, { method: "POST", body, headers });
    assertEquals([response.status, response.headers.get("location")], [403, null]);
    await response.body?.cancel();
  }
  const framed = await browser.send(asked.url);
  await framed.body?.cancel();
  const policy = framed.headers.get("content-security-policy") ?? "";
  assertStringIncludes(policy, "frame-ancestors 'none'");
  assertStringIncludes(policy, "default-src 'none'");
  assertNotMatch(policy, /unsafe|\*/);
  assertEquals(framed.headers.get("x-frame-options"), "DENY");
  assertEquals(grantsOf(hub), []);
});

Deno.test("a consent belongs to the browser that began it", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const asked = await new HubBrowser().open(await client.page(hub.resource("lab")));
  const victim = new HubBrowser();
  await victim.open(await client.page(hub.resource("lab")));
  const opened = await victim.open(asked.url);
  assertStringIncludes(opened.page ?? "", "This page has ended");
  const sent = await victim.submit(asked.url, { step: "prove", code: hub.invite("lab") });
  assertStringIncludes(sent.page ?? "", "This page has ended");
});

Deno.test("a browser that has consented once has no rights of its own: every connection is asked about", async () => {
  await using hub = await HubDoor.open();
  const browser = new HubBrowser();
  const client = await HubClient.register(hub.url);
  await client.consent(hub.resource("lab"), { code: hub.invite("lab"), browser });
  const again = await browser.open(await client.page(hub.resource("lab")));
  assertStringIncludes(again.page ?? "", 'name="code"');
});

Deno.test("a link sends nobody to a client before a person has decided, whatever is wrong with it", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  await client.consent(hub.resource("lab"), { code: hub.invite("lab") });
  const wrong: readonly (readonly [Record<string, string>, string])[] = [
    [{ prompt: "none" }, "a person has to consent"],
    [{ response_type: "token" }, "response_"],
    [{ response_type: "" }, "response_"],
    [{ response_mode: "fragment" }, "response_mode"],
    [{ response_mode: "form_post" }, "response_mode"],
    [{ code_challenge_method: "plain" }, "code_challenge_method"],
    [{ code_challenge: "short" }, "code_challenge"],
    [{ resource: "https://evil.example/mcp" }, "no path of this hub"],
  ];
  for (const [parameters, why] of wrong) {
    await requireRefusalPage(hub, await client.page(hub.resource("lab"), parameters), why);
  }
});

Deno.test("a refresh token that is used again later ends the grant; at the same moment, one alone gets tokens", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh } = await connected(hub);
  const answers = await Promise.all(Array.from({ length: 10 }, () => client.refresh(refresh)));
  const bodies = await Promise.all(answers.map((each) => each.json()));
  const good = bodies.filter(({ access_token: token }) => token !== undefined);
  assertEquals(good.length, 1);
  assert(hub.server.verify(String(good[0].access_token), hub.resource("lab")) !== undefined);
  {
    using file = StateFile.openExisting(hub.stateFile);
    file.run("UPDATE artifacts SET consumed_at = consumed_at - 60000 WHERE consumed_at IS NOT NULL");
  }
  assertEquals(await errorOf(await client.refresh(refresh)), [400, "invalid_grant"]);
  assertEquals(hub.server.verify(String(good[0].access_token), hub.resource("lab")), undefined);
  assertEquals(await errorOf(await client.refresh(String(good[0].refresh_token))), [400, "invalid_grant"]);
});

Deno.test("a thief who refreshes again and again keeps no grant once the stolen token is used", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh: stolen } = await connected(hub);
  let refresh = stolen;
  for (let count = 0; count < 101; count++) refresh = (await tokensOf(await client.refresh(refresh))).refresh;
  {
    using file = StateFile.openExisting(hub.stateFile);
    file.run("UPDATE artifacts SET consumed_at = consumed_at - 60000 WHERE consumed_at IS NOT NULL");
  }
  assertEquals(await errorOf(await client.refresh(stolen)), [400, "invalid_grant"]);
  assertEquals(grantsOf(hub), []);
  assertEquals(await errorOf(await client.refresh(refresh)), [400, "invalid_grant"]);
});

Deno.test("a grant that is refreshed without end ends", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh } = await connected(hub);
  {
    using file = StateFile.openExisting(hub.stateFile);
    file.run(
      "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5000) " +
        "INSERT INTO artifacts SELECT 'used ' || n, kind, payload, grant_id, 1, expires_at FROM number, artifacts " +
        "WHERE kind = 'RefreshToken'",
    );
  }
  await (await client.refresh(refresh)).body?.cancel();
  assertEquals(grantsOf(hub), []);
});

Deno.test("a client revokes no token of another client", async () => {
  await using hub = await HubDoor.open();
  const { access, refresh } = await connected(hub);
  const other = await HubClient.register(hub.url, { client_name: "Other" });
  for (const token of [access, refresh]) {
    const body = new URLSearchParams({ client_id: other.id, token });
    const response = await fetch(`${hub.url}/oauth/revoke`, { method: "POST", body });
    await response.body?.cancel();
  }
  assert(hub.server.verify(access, hub.resource("lab")) !== undefined);
  assertEquals(await errorOf(await other.refresh(refresh)), [400, "invalid_grant"]);
});

Deno.test("a metadata document is read from the internet alone", async () => {
  await using hub = await HubDoor.open();
  let visits = 0;
  await using inside = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    visits++;
    return Response.json({});
  });
  const { port } = inside.addr;
  const ids = [
    `https://127.0.0.1:${port}/client`,
    `https://localhost:${port}/client`,
    `https://[::1]:${port}/client`,
    `https://[::ffff:127.0.0.1]:${port}/client`,
    `https://2130706433:${port}/client`,
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/client",
    `http://127.0.0.1:${port}/client`,
  ];
  for (const id of ids) {
    const { page } = await new HubBrowser().open(await HubClient.of(hub.url, id).page(hub.resource("lab")));
    assertStringIncludes(page ?? "", "Cannot connect the client");
  }
  assertEquals(visits, 0);
});

Deno.test("a metadata document that lies, redirects or never ends makes no client", async () => {
  const id = "https://evil.example/client";
  const good = { client_id: id, client_name: "x", redirect_uris: [REDIRECT] };
  const endless = () => new ReadableStream({ pull: (queue) => queue.enqueue(new Uint8Array(65_536)) });
  const answers: (() => Response)[] = [
    () => Response.json({ ...good, client_id: "https://claude.ai/client" }),
    () => Response.json({ ...good, redirect_uris: ["javascript:alert(1)"] }),
    () => Response.json([good]),
    () => new Response("<html>"),
    () => new Response(endless()),
    () => new Response(null, { status: 302, headers: { location: "https://127.0.0.1/" } }),
  ];
  for (const answer of answers) {
    await using hub = await HubDoor.open({ fetch: () => Promise.resolve(answer()) });
    const { page } = await new HubBrowser().open(await HubClient.of(hub.url, id).page(hub.resource("lab")));
    assertStringIncludes(page ?? "", "Cannot connect the client");
  }
});

Deno.test("a name of a client is text on the page, whatever is in it", async () => {
  await using hub = await HubDoor.open();
  const names = [
    '<img src=x onerror="alert(1)">',
    "</title><script>alert(1)</script>",
    "\u202Eedualc\u202C",
    "Claude\u0000\u001b[31m",
    "a".repeat(200),
    "Claude\n\n<h1>Verified</h1>",
  ];
  for (const client_name of names) {
    const client = await HubClient.register(hub.url, { client_name });
    const browser = new HubBrowser();
    const { url, page = "" } = await browser.open(await client.page(hub.resource("<b>lab</b>")));
    const chosen = await browser.submit(url, { step: "prove", code: hub.invite("<b>lab</b>") });
    for (const html of [page, chosen.page ?? ""]) {
      assertNotMatch(html, /<img|<script|<b>|<h1>Verified/);
      // deno-lint-ignore no-control-regex -- these must not be on the page
      assertNotMatch(html, /[\u202a-\u202e\u2066-\u2069\u0000\u001b]/);
      assertEquals(html.match(/<h1>/g)?.length, 1);
    }
  }
});

Deno.test("a host is shown to its end, however it begins, and no host ends a rule of the page's policy", async () => {
  await using hub = await HubDoor.open();
  const host = `claude.ai.${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.evil.example`;
  const redirect_uri = `https://${host}:65535/callback`;
  const client = await HubClient.register(hub.url, { redirect_uris: [redirect_uri] });
  const asked = await new HubBrowser().open(await client.page(hub.resource("lab"), { redirect_uri }));
  assertStringIncludes(asked.page ?? "", `${host}:65535</bdi>`);
  for (const other of ["a;sandbox", "a,b", "*", "a'b", `${"a.".repeat(130)}example`]) {
    const refused = await register(hub.url, { redirect_uris: [`https://${other}/callback`] });
    assertEquals(await errorOf(refused), [400, "invalid_redirect_uri"]);
  }
});

Deno.test("a flood of registrations is held up, and leaves a bounded number of clients and the used ones", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh } = await connected(hub);
  const statuses: number[] = [];
  for (let count = 0; count < 30; count++) {
    const response = await register(hub.url, { client_name: `flood ${count}` });
    statuses.push(response.status);
    if (response.status === 429) assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
    await response.body?.cancel();
  }
  assert(statuses.includes(429));
  await tokensOf(await client.refresh(refresh));
});

Deno.test("a flood from many networks keeps nobody out who has a grant", async () => {
  await using hub = await HubDoor.open();
  const { client, refresh } = await connected(hub);
  const from = async (address: string) => {
    const headers = { "x-test-address": address };
    const response = await fetch(`${hub.url}/oauth/register`, { method: "POST", body: "{}", headers });
    await response.body?.cancel();
    return response.status;
  };
  // What all strangers together have comes back while they ask, but slower than they use it up.
  let status = await from("198.51.100.1");
  assertEquals(status, 400);
  for (let count = 0; status === 400 && count < 10_000; count++) {
    status = await from(`10.${count >> 8}.${count & 255}.1`);
  }
  assertEquals(status, 429);
  assertEquals(await from("127.0.0.1"), 400);
  await tokensOf(await client.refresh(refresh));
});

Deno.test("an answer names its issuer, also an error, so that a client notices a mix-up", async () => {
  await using hub = await HubDoor.open();
  const { client, redirect } = await connected(hub);
  assertEquals(redirect.searchParams.get("iss"), hub.url);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  const { searchParams } = new URL((await browser.submit(asked.url, { step: "deny" })).url);
  assertEquals([searchParams.get("iss"), searchParams.has("error")], [hub.url, true]);
});

Deno.test("no answer puts a token or a code into a fragment or a form", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  for (const response_mode of ["fragment", "form_post", "web_message"]) {
    const answer = await new HubBrowser().open(await client.page(hub.resource("lab"), { response_mode }));
    assertNotMatch(answer.url, /consent/);
    assert(!(answer.page ?? "").includes('name="code"'), response_mode);
  }
});

Deno.test("a request that would be kept is short, and a form is a form of the page", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const long = await fetch(await client.page(hub.resource("lab"), { state: "s".repeat(10_000) }));
  await long.body?.cancel();
  assertEquals(long.status, 414);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.resource("lab")));
  const data = new FormData();
  data.set("step", "allow");
  const bodies = [
    data,
    "step=allow",
    JSON.stringify({ step: "allow" }),
    new URLSearchParams({ step: "x".repeat(99_999) }),
  ];
  for (const body of bodies) {
    const response = await browser.send(asked.url, { method: "POST", body, headers: { origin: hub.url } });
    assertStringIncludes(await response.text(), "could not be read");
  }
  for (const method of ["PUT", "DELETE", "PATCH"]) {
    const response = await browser.send(asked.url, { method, headers: { origin: hub.url } });
    await response.body?.cancel();
    assertEquals(response.status, 405);
  }
  assertEquals(grantsOf(hub), []);
});

Deno.test("a host that is not the hub's gets nothing", async () => {
  await using hub = await HubDoor.open();
  const response = await fetch(`${hub.url}/.well-known/oauth-authorization-server`);
  assertEquals((await response.json()).issuer, hub.url);
  const socket = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(hub.url).port) });
  const lines = "GET /oauth/authorize HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
  await socket.write(new TextEncoder().encode(lines));
  const text = await new Response(socket.readable).text();
  assertMatch(text, /^HTTP\/1\.1 403 /);
});

Deno.test("a forwarded host or scheme of a client changes no link", async () => {
  await using hub = await HubDoor.open();
  const client = await HubClient.register(hub.url);
  const response = await fetch(await client.page(hub.resource("lab")), {
    redirect: "manual",
    headers: { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https" },
  });
  await response.body?.cancel();
  assertNotMatch(`${response.headers.get("location")} ${response.headers.get("set-cookie")}`, /evil/);
});
