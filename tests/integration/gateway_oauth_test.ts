/** The gateway as a program over HTTP that admits clients of an identity provider, with the official clients of both eras. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError as UnauthorizedV1 } from "@modelcontextprotocol/sdk/client/auth.js";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  UnauthorizedError as UnauthorizedV2,
} from "@modelcontextprotocol/client";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { runHosted } from "../fixtures/hosted_door.ts";
import { HttpDoor } from "../fixtures/http_door.ts";
import { IdentityProvider, SignedInPerson } from "../fixtures/identity_provider.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { TcpProxy } from "../fixtures/tcp_proxy.ts";
import { GatewayOffice } from "./_gateway_office.ts";

const KIOSK = { servers: { kiosk: kioskOnStdio() } };

/** An office with two Computers, a gateway behind a proxy, and an identity provider. */
class ProtectedOffice implements AsyncDisposable {
  readonly identity: IdentityProvider;
  readonly gateway: HttpDoor;
  /** Where clients reach the gateway. */
  readonly publicUrl: string;
  readonly #all: AsyncDisposableStack;

  private constructor(
    parts: Pick<ProtectedOffice, "identity" | "gateway" | "publicUrl">,
    all: AsyncDisposableStack,
  ) {
    this.identity = parts.identity;
    this.gateway = parts.gateway;
    this.publicUrl = parts.publicUrl;
    this.#all = all;
  }

  static async open(claims: Record<string, unknown>): Promise<ProtectedOffice> {
    await using stack = new AsyncDisposableStack();
    const office = stack.use(await GatewayOffice.open({ laptop: KIOSK, desk: KIOSK }));
    const identity = stack.use(await IdentityProvider.open({ claims }));
    const front = stack.use(new TcpProxy(1));
    const args = ["--http", "0", "--public-url", front.url, "--oauth-issuer", identity.issuer];
    const gateway = stack.use(await HttpDoor.start(office.processWords(args)));
    front.restore(Number(gateway.url.port));
    return new ProtectedOffice({ identity, gateway, publicUrl: front.url }, stack.move());
  }

  at(path: string): URL {
    return new URL(path, this.publicUrl);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

/** Connects as a new user does: the first try is refused, and a person signs in. */
async function connectV1(
  url: URL,
  person = new SignedInPerson(),
): Promise<{ client: ClientV1; transport: HttpV1 }> {
  const first = new HttpV1(url, { authProvider: person });
  await assertRejects(() => new ClientV1({ name: "v1", version: "1" }).connect(first), UnauthorizedV1);
  await first.finishAuth(await person.code());
  const transport = new HttpV1(url, { authProvider: person });
  const client = new ClientV1({ name: "v1", version: "1" });
  await client.connect(transport);
  return { client, transport };
}

async function connectV2(
  url: URL,
  person = new SignedInPerson(),
): Promise<{ client: ClientV2; transport: HttpV2 }> {
  const open = () => new ClientV2({ name: "v2", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const first = new HttpV2(url, { authProvider: person });
  await assertRejects(() => open().connect(first), UnauthorizedV2);
  await first.finishAuth(await person.answer);
  const transport = new HttpV2(url, { authProvider: person });
  const client = open();
  await client.connect(transport);
  return { client, transport };
}

/** The Computers whose tools a client is offered. */
function computersOf({ tools }: { tools: { _meta?: Record<string, unknown> | undefined }[] }): string[] {
  return [...new Set(tools.flatMap(({ _meta }) => _meta?.["a2c_computer"] ?? []).map(String))].sort();
}

const LAB = { a2c_offices: ["lab"] };

Deno.test("official clients of both eras sign in at an identity provider, and use the office", async () => {
  await using office = await ProtectedOffice.open(LAB);
  const person = new SignedInPerson();
  const { client: v1 } = await connectV1(office.at("/mcp"), person);
  assertEquals(person.asked, ["a2c:read a2c:call"]);
  assertEquals(computersOf(await v1.listTools()), ["desk", "laptop"]);
  const { content } = await v1.callTool({ name: "laptop__show", arguments: { text: "hi" } });
  assertEquals(content, [{ type: "text", text: "shown" }]);
  await v1.close();
  const { client: v2 } = await connectV2(office.at("/mcp/c/laptop"));
  assertEquals(v2.getNegotiatedProtocolVersion(), "2026-07-28");
  assertEquals(computersOf(await v2.listTools()), ["laptop"]);
  await v2.close();
});

Deno.test("a client sees the Computers of its token alone, and its token opens one path alone", async () => {
  await using office = await ProtectedOffice.open({ ...LAB, a2c_computers: ["desk"] });
  const person = new SignedInPerson();
  const { client } = await connectV1(office.at("/mcp"), person);
  assertEquals(computersOf(await client.listTools()), ["desk"]);
  await client.close();
  const authorization = `Bearer ${person.tokens()?.access_token}`;
  for (const path of ["/mcp/search", "/mcp/c/desk", "/mcp/c/laptop"]) {
    const response = await fetch(office.at(path), { headers: { authorization } });
    assertEquals(response.status, 401, path);
    await response.body?.cancel();
  }
});

Deno.test("a client that may read is asked for more when it calls a tool that may modify something", async () => {
  await using office = await ProtectedOffice.open(LAB);
  const person = new SignedInPerson({ firstScope: "a2c:read" });
  const { client, transport } = await connectV1(office.at("/mcp"), person);
  const read = await client.callTool({ name: "laptop__echo", arguments: { text: "hi" } });
  assertEquals(read.content, [{ type: "text", text: "hi" }]);
  const show = () => client.callTool({ name: "laptop__show", arguments: { text: "hi" } });
  await assertRejects(show, UnauthorizedV1);
  await transport.finishAuth(await person.code());
  assertEquals(person.asked, ["a2c:read a2c:call", "a2c:read a2c:call"]);
  // The session goes on with the new token.
  assertEquals((await show()).content, [{ type: "text", text: "shown" }]);
  await client.close();
  await office.gateway.program.said("the token is for reading alone");
});

Deno.test("a client of 2026 is asked for more as well", async () => {
  await using office = await ProtectedOffice.open(LAB);
  const person = new SignedInPerson({ firstScope: "a2c:read" });
  const { client, transport } = await connectV2(office.at("/mcp"), person);
  const show = () => client.callTool({ name: "laptop__show", arguments: { text: "hi" } });
  await assertRejects(show, UnauthorizedV2);
  await transport.finishAuth(await person.answer);
  assertEquals((await show()).content, [{ type: "text", text: "shown" }]);
  assertEquals(person.asked.length, 2);
  await client.close();
});

Deno.test("a claim of the rights limits a client, whatever it asks for", async () => {
  await using office = await ProtectedOffice.open({ ...LAB, a2c_rights: "read" });
  const person = new SignedInPerson();
  const { client } = await connectV2(office.at("/mcp"), person);
  const { isError, content } = await client.callTool({ name: "laptop__show", arguments: { text: "hi" } });
  assertEquals([isError, person.asked.length], [true, 1]);
  assertMatch(JSON.stringify(content), /may only call tools that modify nothing/);
  await client.close();
});

Deno.test("a token of another office is refused, and the log says why", async () => {
  await using office = await ProtectedOffice.open({ a2c_offices: ["den"] });
  await assertRejects(() => connectV1(office.at("/mcp")), Error, "not for this office");
  await office.gateway.program.said("not for this office");
});

Deno.test("options of OAuth that cannot work end the start, and say what to do", async () => {
  const base = ["mcp", "--url", "http://127.0.0.1:1", "--office", "lab", "--name", "ada"];
  const issuer = ["--oauth-issuer", "https://login.example.com"];
  const hub = ["--public-url", "https://hub.example.com"];
  const tries: [string[], RegExp][] = [
    [["--http", "0", ...issuer], /add --public-url/],
    [["--http", "0", ...hub, "--oauth-offices-claim", "x"], /add --oauth-issuer/],
    [[...issuer, ...hub], /without --http/],
    [["--http", "0", ...issuer, "--public-url", "http://hub.example.com"], /a --public-url with https/],
    [["--http", "0", ...issuer, "--public-url", "https://hub.example.com/a2c"], /without a path/],
    [["--http", "0", ...hub, "--oauth-issuer", "http://login.example.com"], /--oauth-allow-http/],
    [["--http", "0", ...hub, ...issuer, "--oauth-algorithm", "none"], /algorithm "none"/],
    [["--http", "0", ...hub, ...issuer, "--oauth-default-rights", "all"], /read, confirm, call/],
  ];
  for (const [words, expected] of tries) {
    const { code, stderr } = await runHosted("agent.ts", [...base, ...words]);
    assertEquals(code === 0, false, words.join(" "));
    assertMatch(stderr, expected, words.join(" "));
  }
});
