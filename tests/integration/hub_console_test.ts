// The console of a hub, on the port of its Server, for its operators.

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Grants } from "../../src/hub/grants.ts";
import { silentLogger } from "../../src/log.ts";
import { StateFile } from "../../src/hub/state_file.ts";
import { hasChromium } from "../fixtures/chromium.ts";
import { startHosted } from "../fixtures/hosted_door.ts";
import { Chromium } from "../fixtures/chromium.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually, within } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const ADMIN = "admin-token-of-all-offices";
const LIMITED = "token-of-the-lab-alone";

/** A hub as a program, with an operator of all offices, one of an office, and a grant. */
class HubDesk implements AsyncDisposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly stateFile = join(this.#folder, "hub.sqlite");
  readonly operators = join(this.#folder, "operators.txt");
  readonly #hub: ReturnType<typeof startHosted>;
  readonly grant: string;

  constructor(more: readonly string[] = []) {
    const operators = this.operators;
    Deno.writeTextFileSync(operators, `${ADMIN} name=root\n${LIMITED} name=lab-lead offices=lab\n`);
    using file = StateFile.open(this.stateFile, { logger: silentLogger });
    this.grant = new Grants(file).add({
      clientId: "https://client.example/metadata",
      client: "Claude",
      returnsTo: "client.example",
      resource: "http://hub.example/mcp/o/lab",
      offices: ["lab", "workshop"],
      computers: undefined,
      rights: "call",
      consentedBy: "ada",
    });
    const args = ["--port", "0", "--token", "member", "--operator-token-file", operators];
    this.#hub = startHosted("hub.ts", [...args, "--state-file", this.stateFile, ...more], {
      env: { XDG_RUNTIME_DIR: this.#folder, XDG_STATE_HOME: this.#folder },
    });
  }

  url(): Promise<string> {
    return this.#hub.listening();
  }

  get log(): string {
    return this.#hub.stderr.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#hub[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}

async function ask(url: string, path: string, init: RequestInit & { readonly token?: string } = {}) {
  const { token, ...rest } = init;
  const headers = { ...rest.headers, ...token !== undefined && { authorization: `Bearer ${token}` } };
  const response = await fetch(`${url}/console${path}`, { redirect: "manual", ...rest, headers });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const posixOnly = { ignore: Deno.build.os === "windows" };

Deno.test(
  "the API of a hub's console is for operators of all offices, and tells refusals to the log",
  posixOnly,
  async () => {
    await using hub = new HubDesk();
    const url = await hub.url();
    const { status, text } = await ask(url, "/api/overview", { token: ADMIN });
    assertEquals([status, JSON.parse(text).hub], [200, true]);
    const options = JSON.parse(text).options.map(({ name }: { name: string }) => name);
    assertEquals(options, ["--operator-token-file", "--state-file", "--port", "--token"]);
    for (
      const [token, expected] of [[undefined, 401], ["wrong", 401], ["member", 401], [LIMITED, 403]] as const
    ) {
      assertEquals((await ask(url, "/api/overview", { token })).status, expected, token);
    }
    assertStringIncludes(hub.log, "refused an operator at the console");
    assertEquals([hub.log.includes(ADMIN), hub.log.includes(LIMITED)], [false, false]);
  },
);

Deno.test("wrong tokens have a quota, which a good token does not need", posixOnly, async () => {
  await using hub = new HubDesk();
  const url = await hub.url();
  const statuses = new Set<number>();
  for (let i = 0; i < 12; i++) {
    statuses.add((await ask(url, "/api/overview", { token: `wrong${i}` })).status);
  }
  assertEquals([...statuses], [401, 429]);
  assertEquals((await ask(url, "/api/overview", { token: ADMIN })).status, 200);
});

Deno.test("an operator whose token is removed is told no events any more", posixOnly, async () => {
  await using hub = new HubDesk();
  const url = await hub.url();
  const headers = { authorization: `Bearer ${ADMIN}` };
  const events = await fetch(`${url}/console/api/events`, { headers });
  assertEquals(events.status, 200);
  await Deno.writeTextFile(hub.operators, `${LIMITED} name=lab-lead offices=lab\n`);
  await within(events.text(), "the end of the events");
  assertEquals((await ask(url, "/api/overview", { token: ADMIN })).status, 401);
});

Deno.test("the log says from where a refused operator came, also behind a proxy", posixOnly, async () => {
  await using hub = new HubDesk(["--trust-proxy", "127.0.0.1"]);
  const url = await hub.url();
  await ask(url, "/api/overview", { token: "wrong", headers: { "x-forwarded-for": "198.51.100.7" } });
  assertMatch(hub.log, /refused an operator at the console.*address=198\.51\.100\.7/);
});

Deno.test(
  "the audit trail says which operator did what, from where, and what failed",
  posixOnly,
  async () => {
    await using hub = new HubDesk(["--trust-proxy", "127.0.0.1"]);
    const url = await hub.url();
    const headers = { "x-forwarded-for": "198.51.100.7", "content-type": "application/json" };
    const run = (command: string, ...words: readonly string[]) =>
      ask(url, `/api/${command}`, {
        token: ADMIN,
        method: "POST",
        headers,
        body: JSON.stringify({ arguments: words }),
      });
    assertEquals((await run("grants/revoke", hub.grant)).status, 200);
    await run("offices");
    assertEquals((await run("machines/revoke", "laptop")).status, 502);
    const who = "action=operate via=console by=root address=198\\.51\\.100\\.7";
    assertMatch(
      hub.log,
      new RegExp(`audit: an operator ran a command ${who} command="grants revoke -- ${hub.grant}"`),
    );
    assertMatch(
      hub.log,
      new RegExp(`audit: a command of an operator failed ${who} command="machines revoke -- laptop" failed=`),
    );
    assertEquals(hub.log.includes("offices --"), false);
  },
);

Deno.test(
  "a hub's metrics have refused MCP requests, sessions, and machines that wait",
  posixOnly,
  async () => {
    using machines = new TempFolder();
    const more = ["--metrics-token", "scrape-it", "--machines", join(machines.path, "machines.json")];
    await using hub = new HubDesk(more);
    const url = await hub.url();
    await (await fetch(`${url}/mcp/o/lab`, { method: "POST" })).body?.cancel();
    const read = async () => {
      const answer = await fetch(`${url}/metrics`, { headers: { authorization: "Bearer scrape-it" } });
      return await answer.text();
    };
    const text = await eventually(read, (text) => /reason="mcp_credentials"} 1$/m.test(text), "the refusal");
    assertMatch(text, /^a2c_mcp_sessions 0$/m);
    assertMatch(text, /^a2c_machines_waiting 0$/m);
  },
);

Deno.test("a page of another site, and a form, get nothing of a hub's console", posixOnly, async () => {
  await using hub = new HubDesk();
  const url = await hub.url();
  const origin = { origin: "https://evil.example" };
  assertEquals((await ask(url, "/api/overview", { token: ADMIN, headers: origin })).status, 403);
  assertEquals((await ask(url, "/", { headers: origin })).status, 403);
  const form = { method: "POST", body: "{}", token: ADMIN };
  assertEquals((await ask(url, "/api/drain", form)).status, 415);
  assertEquals((await ask(url, "/api/drain", { token: ADMIN })).status, 405);
});

Deno.test(
  "the page of a hub's console stands below its path, under a policy without other sources",
  posixOnly,
  async () => {
    await using hub = new HubDesk();
    const url = await hub.url();
    const { status, headers } = await ask(url, "");
    assertEquals([status, headers.get("location")], [308, "/console/"]);
    const page = await ask(url, "/");
    assertStringIncludes(page.text, "./operator.js");
    assertStringIncludes(page.headers.get("content-security-policy") ?? "", "default-src 'none'");
    assertEquals((await ask(url, "/operator.js")).status, 200);
  },
);

Deno.test("an operator lists, limits and revokes grants, and sees tokens by name", posixOnly, async () => {
  await using hub = new HubDesk();
  const url = await hub.url();
  const post = (path: string, body: unknown) =>
    ask(url, path, {
      method: "POST",
      token: ADMIN,
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const listed = JSON.parse((await ask(url, "/api/grants/list", { token: ADMIN })).text);
  assertEquals([listed[0].id, listed[0].client], [hub.grant, "Claude"]);
  const limited = await post("/api/grants/limit", {
    arguments: [hub.grant],
    options: { rights: "read", office: ["lab"] },
  });
  assertEquals([JSON.parse(limited.text).rights, JSON.parse(limited.text).offices], ["read", ["lab"]]);
  assertEquals((await post("/api/grants/revoke", { arguments: [hub.grant] })).status, 200);
  assertEquals((await ask(url, "/api/grants/list", { token: ADMIN })).text, "[]");
  const tokens = await ask(url, "/api/tokens", { token: ADMIN });
  const names = JSON.parse(tokens.text).map(({ name, kind }: Record<string, string>) => `${kind} ${name}`);
  assertEquals(names, ["member token-1", "operator root", "operator lab-lead"]);
  assertEquals(tokens.text.includes(ADMIN), false);
});

Deno.test({
  name: "an operator signs in at the page of a hub, sees grants, and revokes one",
  ignore: !hasChromium || posixOnly.ignore,
  async fn() {
    await using hub = new HubDesk();
    const url = await hub.url();
    await using _ada = await RawPeer.join(url, { role: "agent", name: "ada", office_id: "lab" }, {
      auth: { token: "member" },
    });
    await using browser = await Chromium.open();
    await browser.showAs({ width: 1280, scheme: "light" });
    await browser.goTo(`${url}/console`);
    await browser.type("input[type=password]", "wrong");
    await browser.click("button.primary");
    await browser.textWith("That token was refused");
    await browser.type("input[type=password]", ADMIN);
    await browser.click("button.primary");
    await browser.textWith("1 Agent");
    await browser.evaluate('location.hash = "#/clients"');
    assertStringIncludes(await browser.textWith("Claude"), "lab, workshop");
    await browser.click('[aria-label="Revoke the grant of Claude"]');
    await browser.click("dialog .danger");
    await browser.textWith("No client is connected");
  },
});
