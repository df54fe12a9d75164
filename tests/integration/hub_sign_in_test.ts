/** The hub as a program, and the official clients of both eras that a person connects to it. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  Client as ClientV2,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport as HttpV2,
} from "@modelcontextprotocol/client";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { JoinRefusedError } from "../../src/link/errors.ts";
import { doorWords } from "../fixtures/door.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { HttpDoor, untilOffered } from "../fixtures/http_door.ts";
import { HubBrowser, HubClient, REDIRECT, tokensOf } from "../fixtures/hub_client.ts";
import { ISSUER, KeySetServer, SigningKey } from "../fixtures/issuer.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { eventually } from "../fixtures/within.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** What an official client keeps of its sign-in. */
class SignIn implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = { client_name: "Official", redirect_uris: [REDIRECT] };
  /** The page that the client opens. */
  page: URL | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #verifier = "";
  #discovered: OAuthDiscoveryState | undefined;

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovered;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovered = state;
  }

  redirectToAuthorization(page: URL): void {
    this.page = page;
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}

/** A hub with the Computer "laptop" in the office "lab". */
class SignInHub implements AsyncDisposable {
  readonly door: HttpDoor;
  readonly #all: AsyncDisposableStack;
  readonly #folder: string;

  private constructor(door: HttpDoor, folder: string, all: AsyncDisposableStack) {
    this.door = door;
    this.#folder = folder;
    this.#all = all;
  }

  static async start(args: readonly string[] = []): Promise<SignInHub> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir();
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const operators = join(folder, "operators.txt");
    await Deno.writeTextFile(operators, "s3cret-of-the-operator name=root\n");
    const words = ["--port", "0", "--token", "member", "--operator-token-file", operators];
    words.push("--state-file", join(folder, "hub.sqlite"), ...args);
    const door = stack.use(await HttpDoor.start(doorWords("hub.ts", words)));
    return new SignInHub(door, folder, stack.move());
  }

  get origin(): string {
    return this.door.url.origin;
  }

  /** Runs a command of the operator. */
  async command(...words: readonly string[]) {
    return await runHosted("hub.ts", [...words, "--state-file", join(this.#folder, "hub.sqlite")]);
  }

  async invite(): Promise<string> {
    const { stdout, stderr } = await this.command("invite", "lab", "--for", "ada");
    const [code = ""] = stdout.split("\n");
    assertMatch(code, /^[A-Z0-9]{4}-[A-Z0-9]{4}$/, stderr);
    return code;
  }

  async addLaptop(): Promise<void> {
    const config = { servers: { kiosk: kioskOnStdio() } };
    const computer = this.#all.use(Computer.open({ name: "laptop", config }));
    await computer.join({ url: this.origin, office: "lab", token: "member" });
    await computer.ready();
  }

  /** The person consents on the page of a client; resolves to what the client gets. */
  async consent(page: URL | undefined, rights = "call"): Promise<URLSearchParams> {
    const browser = new HubBrowser();
    const asked = await browser.open(page?.href ?? "");
    await browser.submit(asked.url, { step: "prove", code: await this.invite() });
    // The page does not wait long for an office that is slow to say who is in it.
    const isNamed = ({ page = "" }) => page.includes("Computers: <bdi>laptop</bdi>");
    await eventually(() => browser.open(asked.url), isNamed, "the Computer on the page");
    const done = await browser.submit(asked.url, { step: "allow", rights });
    return new URL(done.url).searchParams;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

Deno.test("the official client of 2025 connects itself with a page and a code, and calls a tool", async () => {
  await using hub = await SignInHub.start();
  await hub.addLaptop();
  const url = hub.door.at("/mcp/o/lab");
  const connect = async () => {
    const authProvider = new SignIn();
    const first = new HttpV1(url, { authProvider });
    const client = new ClientV1({ name: "v1", version: "1" });
    await assertRejects(() => client.connect(first), Error, "Unauthorized");
    const answer = await hub.consent(authProvider.page);
    await first.finishAuth(answer.get("code") ?? "");
    await client.connect(new HttpV1(url, { authProvider }));
    await untilOffered(client, "echo");
    return client;
  };
  const client = await connect();
  const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
  assertStringIncludes(JSON.stringify(result.content), "hello");

  // What the client does with the hub stands in the list of grants.
  const listed = await eventually(
    async () => JSON.parse((await hub.command("grants", "--json")).stdout),
    ([grant]) => grant.calls === 1,
    "the call in the list",
  );
  assertEquals([listed[0].client, listed[0].consented_by, listed[0].offices], ["Official of ada", "ada", [
    "lab",
  ]]);

  const limited = await hub.command("grants", "limit", listed[0].id, "--rights", "read");
  assertStringIncludes(limited.stdout, "read in", limited.stderr);
  const seat = { url: hub.origin, office: "lab", name: "ada", token: "member" };
  await assertRejects(() => Agent.connect(seat), JoinRefusedError);

  const other = await connect();
  for (const { id } of JSON.parse((await hub.command("grants", "--json")).stdout)) {
    const revoked = await hub.command("grants", "revoke", id);
    assertStringIncludes(revoked.stdout, "Revoked", revoked.stderr);
  }
  // Although the clients have not ended their sessions.
  const join = () => Agent.connect(seat).catch(() => undefined);
  await using own = await eventually(
    join,
    (agent) => agent !== undefined,
    "the seat for an Agent of the user",
  );
  assertEquals(own?.office, "lab");
  await Promise.all([client.close(), other.close()]);
  const late = new HttpV1(url, { authProvider: new SignIn() });
  await assertRejects(() => new ClientV1({ name: "v1", version: "1" }).connect(late), Error, "Unauthorized");
});

Deno.test("the official client of 2026 connects itself, and names the issuer that it expects", async () => {
  await using hub = await SignInHub.start();
  await hub.addLaptop();
  const url = hub.door.at("/mcp/o/lab");
  const authProvider = new SignIn();
  const first = new HttpV2(url, { authProvider });
  const make = () => new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await assertRejects(() => make().connect(first));
  const answer = await hub.consent(authProvider.page);
  assertEquals(answer.get("iss"), hub.origin);
  await first.finishAuth(answer);
  const client = make();
  await client.connect(new HttpV2(url, { authProvider }));
  await untilOffered(client, "echo");
  const result = await client.callTool({ name: "echo", arguments: { text: "hello" } });
  assertStringIncludes(JSON.stringify(result.content), "hello");
  await client.close();
});

Deno.test("a client that a person lets read alone is not sent to the person again: its model is told", async () => {
  await using hub = await SignInHub.start();
  await hub.addLaptop();
  const resource = hub.door.at("/mcp/o/lab").href;
  const client = await HubClient.register(hub.origin);
  const redirect = await hub.consent(new URL(await client.page(resource)), "read");
  const { access } = await tokensOf(await client.exchange(new URL(`${REDIRECT}?${redirect}`)));
  const send = (method: string, params: Readonly<Record<string, unknown>>) =>
    fetch(resource, {
      method: "POST",
      headers: {
        authorization: `Bearer ${access}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": "show",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } }),
    });
  const list = async () => await (await send("tools/list", {})).text();
  await eventually(list, (text) => text.includes('"show"'), "the tools of the laptop");
  const answer = await send("tools/call", { name: "show", arguments: { text: "x" } });
  assertEquals(answer.status, 200);
  const { result } = await answer.json();
  assertEquals(result.isError, true);
  assertStringIncludes(result.content[0].text, "this client may only call tools that modify nothing");
});

Deno.test("an operator's token connects a client", async () => {
  await using hub = await SignInHub.start();
  const client = await HubClient.register(hub.origin);
  const browser = new HubBrowser();
  const asked = await browser.open(await client.page(hub.door.at("/mcp/o/lab").href));
  await browser.submit(asked.url, { step: "prove", token: "s3cret-of-the-operator" });
  const done = await browser.submit(asked.url, { step: "allow", rights: "confirm" });
  await tokensOf(await client.exchange(new URL(done.url)));
  assertStringIncludes((await hub.command("grants")).stdout, "root consented");
});

Deno.test("a person of the identity provider connects a client by a claim, and by no token of a client", async () => {
  const key = await SigningKey.generate();
  await using keys = new KeySetServer();
  keys.publish(key);
  const identity = ["--oauth-issuer", ISSUER, "--oauth-jwks-url", keys.url];
  await using hub = await SignInHub.start([...identity, "--oauth-operator-claim", "operates"]);
  const client = await HubClient.register(hub.origin);
  const browser = new HubBrowser();
  const path = hub.door.at("/mcp/o/lab").href;
  const asked = await browser.open(await client.page(path));
  const prove = async (claims: Record<string, unknown>) => {
    const token = await key.sign({ sub: "grace", aud: hub.origin, ...claims });
    return (await browser.submit(asked.url, { step: "prove", token })).page ?? "";
  };
  assertStringIncludes(await prove({ operates: "*", aud: path }), "wrong");
  assertStringIncludes(await prove({}), "wrong");
  assertStringIncludes(await prove({ operates: "den" }), "other offices");
  assertStringIncludes(await prove({ operates: ["lab"] }), "You consent as");
  const done = await browser.submit(asked.url, { step: "allow", rights: "confirm" });
  await tokensOf(await client.exchange(new URL(done.url)));
  assertStringIncludes((await hub.command("grants")).stdout, "grace consented");
});

Deno.test("a hub that is killed at any moment keeps what it has promised to clients", async () => {
  using folder = new TempFolder();
  const state = join(folder.path, "hub.sqlite");
  const words = (port: string) =>
    doorWords("hub.ts", ["--port", port, "--token", "member", "--state-file", state], [
      "--allow-net",
      "--ignore-env",
      `--allow-read=${folder.path}`,
      `--allow-write=${folder.path}`,
    ]);
  let access = "";
  let refresh = "";
  let client: HubClient | undefined;
  let port = "";
  {
    await using door = await HttpDoor.start(words("0"));
    port = door.url.port;
    client = await HubClient.register(door.url.origin);
    const { stdout } = await runHosted("hub.ts", ["invite", "lab", "--state-file", state]);
    const [code = ""] = stdout.split("\n");
    const redirect = await client.consent(door.at("/mcp/o/lab").href, { code });
    ({ access, refresh } = await tokensOf(await client.exchange(redirect)));
    door.program.kill("SIGKILL");
    await door.program.end();
  }
  await using door = await HttpDoor.start(words(port));
  const response = await fetch(door.at("/mcp/o/lab"), { headers: { authorization: `Bearer ${access}` } });
  await response.body?.cancel();
  assert(response.status !== 401, String(response.status));
  await tokensOf(await client.refresh(refresh));
});
