// `auth login`, `auth status` and `auth logout`, at an authorization server that nobody of this project wrote.

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { isRecord } from "../../src/json/json.ts";
import { ProtectedServer } from "../fixtures/protected_server.ts";
import { fillForms } from "../fixtures/sign_in_forms.ts";
import { eventually } from "../fixtures/within.ts";
import { Desk } from "../integration/_sign_in_desk.ts";

Deno.test("a browser that comes back to the loopback port ends the sign-in, and its tokens are private", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  assertEquals((await desk.status())["state"], "needs sign-in");
  await using login = desk.login({}, "guarded");
  const end = await login.fill();
  const page = await fetch(end);
  assertEquals(page.status, 200);
  assertStringIncludes(await page.text(), "You are signed in");
  const { code, stdout, stderr } = await login.door.end();
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /signed in at MCP server "guarded" \(http:\/\/127.*scopes mcp:read, mcp:write/);

  const text = Deno.readTextFileSync(desk.tokenFile);
  const { mode } = Deno.statSync(desk.tokenFile);
  assertEquals((mode ?? 0) & 0o777, 0o600);
  const { state, issuer, scopes, renewable } = await desk.status();
  assertEquals({ state, issuer, scopes, renewable }, {
    state: "signed in",
    issuer: server.issuer,
    scopes: ["mcp:read", "mcp:write"],
    renewable: true,
  });
  const code2 = new URL(end).searchParams.get("code") ?? "";
  for (
    const secret of [code2, ...text.matchAll(/"(?:accessToken|refreshToken)":\s*"([^"]+)"/g)].map(String)
  ) {
    assertEquals(stdout.includes(secret), false);
  }
});

Deno.test("what a person pastes is read until it is the address of this sign-in", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  await using login = desk.login({}, "guarded");
  await login.url();
  await login.paste("what now?");
  await login.door.stdout.until("paste the whole address");
  const end = await login.fill();
  const other = new URL(end);
  other.searchParams.set("state", "of-another-sign-in");
  await login.paste(other.href);
  await login.door.stdout.until("belongs to another");
  await login.paste(`  ${end} `);
  const { code, stdout } = await login.door.end();
  assertEquals(code, 0, stdout);
});

Deno.test("with --json, what a sign-in tells is one JSON document on each line", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  await using login = desk.login({}, "guarded", "--json");
  await login.door.stdout.until("}\n");
  const [first = ""] = login.door.stdout.text.split("\n");
  const { type, url, redirect_uri, listens, issuer, page } = JSON.parse(first);
  assertEquals([type, listens], ["open_url", true]);
  assertEquals([issuer, page], [server.issuer, new URL("/auth", server.issuer).href]);
  assertMatch(redirect_uri, /^http:\/\/127\.0\.0\.1:\d+\/callback\/[\da-f]{16}$/);
  await login.paste("nonsense");
  await login.door.stdout.until("not_accepted");
  await login.paste(await fillForms(url));
  const { code, stdout } = await login.door.end();
  const lines = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals([code, lines.map((line) => line.type)], [0, ["open_url", "not_accepted", "signed_in"]]);
  assertEquals(isRecord(lines[2]) && lines[2]["state"], "signed in");
});

Deno.test("a refused sign-in fails with the reason, and a request of a stranger does not end it", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  await using login = desk.login({}, "guarded");
  const end = new URL(await login.fill({ isRefused: true }));
  const stranger = await fetch(`${end.origin}${end.pathname}?error=access_denied&state=guessed`);
  assertStringIncludes(await stranger.text(), "belongs to no sign-in");
  const page = await fetch(end);
  assertStringIncludes(await page.text(), "The sign-in failed");
  const { code, stderr } = await login.door.end();
  assertEquals(code, 1);
  assertStringIncludes(stderr, "access_denied");
});

Deno.test("Ctrl-C ends a sign-in", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  await using login = desk.login({}, "guarded");
  const { origin } = new URL(new URL(await login.url()).searchParams.get("redirect_uri") ?? "");
  login.door.kill("SIGINT");
  assertEquals((await login.door.end()).code, 130);
  assertEquals(await fetch(origin).then(() => "open", () => "closed"), "closed");
});

Deno.test({
  name: "--open opens the page in the browser of this machine, and says when there is none",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using server = await ProtectedServer.open();
    using desk = new Desk(server.config());
    const opened = desk.place.write("opened", "");
    const opener = desk.place.write("xdg-open", `#!/bin/sh\nprintf %s "$1" > ${opened}\n`);
    Deno.chmodSync(opener, 0o700);
    const withOpener = { PATH: `${desk.place.folder}:${Deno.env.get("PATH")}` };
    await using login = desk.login(withOpener, "guarded", "--open");
    const url = await login.url();
    await eventually(() => Deno.readTextFileSync(opened), (text) => text === url, "the page in the browser");
    await login.paste(await login.fill());
    assertEquals((await login.door.end()).code, 0);

    Deno.writeTextFileSync(opener, "#!/bin/sh\nexit 3\n");
    await using again = desk.login(withOpener, "guarded", "--open");
    await again.door.said("No browser could be opened here");
  },
});

Deno.test("a port that is in use leaves the pasted address", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config({ clientId: "desktop" }));
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using login = desk.login({}, "guarded", "--port", String(taken.addr.port));
  const end = await login.fill();
  assertEquals(new URL(end).port, String(taken.addr.port));
  assertStringIncludes(login.door.stdout.text, "Nothing listens");
  await login.paste(end);
  assertEquals((await login.door.end()).code, 0);
});

Deno.test("a device shows a code, which is entered anywhere", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config({ clientId: "desktop", grant: "device_code" }));
  await using login = desk.login({}, "guarded", "--json");
  await login.door.stdout.until("}\n");
  const { type, complete_url, user_code } = JSON.parse(login.door.stdout.text);
  assertEquals(type, "enter_code");
  assertMatch(user_code, /^[A-Z]{4}-[A-Z]{4}$/);
  await fillForms(complete_url, { endsAtIssuer: true });
  assertEquals((await login.door.end()).code, 0);
});

Deno.test("a service needs no sign-in, and auth login checks its client credentials", async () => {
  await using server = await ProtectedServer.open();
  const service = { grant: "client_credentials", clientId: "service" };
  using desk = new Desk(server.config({ ...service, clientSecret: "service-secret-0123456789" }));
  const { code, stdout, stderr } = await desk.run("auth", "login", "guarded");
  assertEquals([code, stderr], [0, ""]);
  assertStringIncludes(stdout, "needs no sign-in by a person");
  using other = new Desk(server.config({ ...service, clientSecret: "another-secret" }));
  const refused = await other.run("auth", "login", "guarded");
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /invalid_client|client credentials/);
});

Deno.test("auth logout has the tokens revoked and forgets them", async () => {
  await using server = await ProtectedServer.open();
  using desk = new Desk(server.config());
  assertStringIncludes((await desk.run("auth", "logout", "guarded")).stdout, "not signed in");
  await using login = desk.login({}, "guarded");
  await login.paste(await login.fill());
  assertEquals((await login.door.end()).code, 0);
  const { code, stdout } = await desk.run("auth", "logout", "guarded", "--json");
  assertEquals([code, JSON.parse(stdout)], [0, { name: "guarded", was_signed_in: true, revoked: true }]);
  assert(server.posts.includes("/token/revocation"));
  const { code: wanting, stderr } = await desk.run("auth", "status", "guarded");
  assertEquals(wanting, 1);
  assertStringIncludes(stderr, "auth login guarded");
});

Deno.test("auth status tells programs and servers with a header apart, and an unknown name is refused", async () => {
  using desk = new Desk({
    mcpServers: {
      local: { command: "true" },
      keyed: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer x" } },
      off: { url: "http://127.0.0.1:9/mcp", oauth: false },
      open: { url: "http://127.0.0.1:9/mcp" },
      asked: { url: "http://127.0.0.1:9/mcp", oauth: true, headers: { "X-Key": "${input:key}" } },
      service: {
        url: "http://127.0.0.1:9/mcp",
        oauth: { grant: "client_credentials", clientId: "a", clientSecret: "${input:key}" },
      },
      workload: {
        url: "http://127.0.0.1:9/mcp",
        oauth: { grant: "jwt_bearer", clientId: "a", assertion: "${input:key}" },
      },
      enterprise: {
        url: "http://127.0.0.1:9/mcp",
        oauth: {
          grant: "jwt_bearer",
          clientId: "a",
          identityProvider: {
            issuer: "http://127.0.0.1:9",
            clientId: "b",
            clientSecret: "${input:key}",
            idToken: "${input:key}",
          },
        },
      },
    },
    inputs: [{ id: "key", type: "promptString", description: "key", password: true }],
  });
  const { code, stdout } = await desk.run("auth", "status", "--json");
  const { servers } = JSON.parse(stdout);
  assertEquals([code, servers.map(({ name, state }: Record<string, unknown>) => [name, state])], [0, [
    ["local", "not OAuth"],
    ["keyed", "not OAuth"],
    ["off", "not OAuth"],
    ["open", "signed out"],
    ["asked", "needs sign-in"],
    ["service", "signed out"],
    ["workload", "signed out"],
    ["enterprise", "signed out"],
  ]]);
  assertMatch(servers[3].remark, /needs no sign-in/);
  const { stdout: report } = await desk.run("check");
  assertMatch(report, /computer(?:\.ts)? auth login asked --config .*mcp\.json"/);
  for (const command of ["login", "status", "logout"]) {
    const unknown = await desk.run("auth", command, "nope");
    assertEquals(unknown.code, 2, command);
    assertStringIncludes(unknown.stderr, 'No server named "nope"');
  }
  const { code: refused, stderr } = await desk.run("auth", "login", "local");
  assertEquals(refused, 1);
  assertStringIncludes(stderr, "it is a program");
});
