/** Attacker: a client with a token that is not for this path, or that nobody has issued. It wants into an office over HTTP */
import { assert, assertEquals } from "@std/assert";
import { exportSPKI, importJWK } from "jose";
import { createGateway } from "../../src/gateway/gateway_core.ts";
import { createHttpHandler } from "../../src/gateway/http/handler.ts";
import type { HttpHandler } from "../../src/http/mcp/entrance.ts";
import { JwtAccess } from "../../src/http/mcp/jwt_access.ts";
import { protectResource } from "../../src/http/mcp/resource_server.ts";
import { KeySetServer, SigningKey, signWithSecret } from "../fixtures/issuer.ts";
import { LogBook } from "../fixtures/log_book.ts";

const PUBLIC = "https://hub.example";
const MCP = `${PUBLIC}/mcp`;
const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};

const key = await SigningKey.generate("ES256", "k1");

/** The port of a gateway of the office `lab`, and an identity provider. */
class Protected implements AsyncDisposable {
  readonly issuer: string;
  readonly logger = new LogBook();
  readonly #handler: HttpHandler;
  readonly #all: AsyncDisposableStack;

  private constructor(issuer: string, open: (logger: LogBook) => HttpHandler, all: AsyncDisposableStack) {
    this.issuer = issuer;
    this.#handler = all.use(open(this.logger));
    this.#all = all;
  }

  static async open(): Promise<Protected> {
    await using stack = new AsyncDisposableStack();
    const keys = stack.use(new KeySetServer());
    const { origin: issuer } = new URL(keys.url);
    keys.answer(({ url }) =>
      new URL(url).pathname === "/keys"
        ? Response.json({ keys: [key.jwk] })
        : Response.json({ issuer, jwks_uri: keys.url })
    );
    const tokens = stack.use(await JwtAccess.open({ issuer }));
    const { promise, reject } = Promise.withResolvers<never>();
    promise.catch(() => undefined);
    const gateway = stack.use(createGateway(promise));
    reject(new TypeError("Cannot reach an office: there is none"));
    const open = (logger: LogBook) =>
      createHttpHandler(gateway, {
        access: protectResource([tokens]),
        publicUrl: PUBLIC,
        office: "lab",
        logger,
      });
    return new Protected(issuer, open, stack.move());
  }

  /** A token that opens `/mcp`, unless these claims say otherwise. */
  token(claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}, signer = key) {
    const valid = { iss: this.issuer, aud: MCP, client_id: "c", scope: "a2c:call", a2c_offices: ["lab"] };
    return signer.sign({ ...valid, ...claims }, header);
  }

  async ask(
    { token, path = "/mcp", headers = {}, body = INITIALIZE, method = "POST" }: {
      token?: string;
      path?: string;
      headers?: Record<string, string>;
      body?: unknown;
      method?: string;
    },
  ): Promise<{ status: number; headers: Headers; text: string }> {
    const request = new Request(`http://localhost:4000${path}`, {
      method,
      headers: {
        host: "hub.example",
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(method === "POST" ? { body: JSON.stringify(body) } : {}),
    });
    const response = await this.#handler.fetch(request);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

Deno.test("the genuine token opens its path, so that what follows is refused for its own reason", async () => {
  await using port = await Protected.open();
  assertEquals((await port.ask({ token: await port.token() })).status, 200);
  const one = await port.token({ aud: `${PUBLIC}/mcp/c/caf%C3%A9` });
  assertEquals((await port.ask({ token: one, path: "/mcp/c/caf%C3%A9" })).status, 200);
  // The same name, in another spelling of its path.
  assertEquals((await port.ask({ token: one, path: "/mcp/c/caf%c3%a9/" })).status, 200);
});

Deno.test("a token that is forged, expired, of another issuer or for another path opens nothing", async () => {
  await using port = await Protected.open();
  const now = Math.floor(Date.now() / 1_000);
  const stranger = await SigningKey.generate("ES256", "k1");
  const publicKey = await importJWK(key.jwk, "ES256", { extractable: true });
  assert(publicKey instanceof CryptoKey);
  const claims = { iss: port.issuer, aud: MCP, scope: "a2c:call" };
  const encode = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  const [, payload, signature] = (await port.token()).split(".");
  const tokens: Record<string, string | Promise<string>> = {
    "a key of a stranger with the same id": port.token({}, {}, stranger),
    "a key that nobody knows": port.token({}, { kid: "k2" }),
    "alg none": `${encode({ alg: "none" })}.${payload}.`,
    "alg none with a signature": `${encode({ alg: "none", kid: "k1" })}.${payload}.${signature}`,
    "the public key as a secret": signWithSecret(await exportSPKI(publicKey), claims, { kid: "k1" }),
    "changed claims": `${(await port.token()).split(".")[0]}.${
      encode({ ...claims, exp: now + 60 })
    }.${signature}`,
    "another issuer": port.token({ iss: "https://other.example" }),
    "no issuer": port.token({ iss: undefined }),
    "a date that has passed": port.token({ exp: now - 60 }),
    "no end": port.token({ exp: undefined }),
    "a date to come": port.token({ nbf: now + 600 }),
    "no audience": port.token({ aud: undefined }),
    "the audience of a client, as an ID token has": port.token({ aud: "c" }),
    "the origin alone": port.token({ aud: PUBLIC }),
    "another path of this office": port.token({ aud: `${MCP}/search` }),
    "another office": port.token({ aud: `${MCP}/o/lab` }),
    "a slash at the end": port.token({ aud: `${MCP}/` }),
    "another case of letters": port.token({ aud: "https://HUB.example/mcp" }),
    "another port": port.token({ aud: "https://hub.example:8443/mcp" }),
    "no TLS": port.token({ aud: "http://hub.example/mcp" }),
    "a query": port.token({ aud: `${MCP}?x` }),
    "a host of a stranger": port.token({ aud: "https://evil.example/mcp" }),
    "a key of the client that nobody has shown": port.token({ cnf: { jkt: "x" } }),
    "no JWT": "0123456789",
    "too many letters": "x".repeat(20_000),
    "two tokens": `${await port.token()} ${await port.token()}`,
  };
  for (const [what, token] of Object.entries(tokens)) {
    const { status, headers } = await port.ask({ token: await token });
    assertEquals(status, 401, what);
    assert(headers.get("www-authenticate")?.includes('error="invalid_token"'), what);
  }
  const opened = await port.token();
  for (const path of ["/mcp/search", "/mcp/c/mcp", "/mcp/c/..%2Fmcp", "/mcp%2F", "//mcp"]) {
    assertEquals((await port.ask({ token: opened, path })).status, 401, path);
  }
});

Deno.test("a genuine token without the office, or without a scope, gets in nowhere", async () => {
  await using port = await Protected.open();
  const statusOf = async (claims: Record<string, unknown>) =>
    (await port.ask({ token: await port.token(claims) })).status;
  assertEquals(await statusOf({ a2c_offices: ["den"] }), 403);
  assertEquals(await statusOf({ a2c_offices: undefined }), 403);
  assertEquals(await statusOf({ a2c_offices: { "*": true } }), 403);
  assertEquals(await statusOf({ scope: "openid" }), 403);
  assertEquals(await statusOf({ a2c_offices: "*" }), 200);
});

Deno.test("a token anywhere else than in its header is no token", async () => {
  await using port = await Protected.open();
  const token = await port.token();
  const tries: Parameters<Protected["ask"]>[0][] = [
    { path: `/mcp?access_token=${token}` },
    { path: `/mcp?token=${token}` },
    { headers: { cookie: `token=${token}` } },
    { headers: { "x-api-key": token } },
    { headers: { "proxy-authorization": `Bearer ${token}` } },
    { headers: { authorization: `DPoP ${token}` } },
    { headers: { authorization: token } },
    { body: { ...INITIALIZE, access_token: token } },
  ];
  for (const each of tries) assertEquals((await port.ask(each)).status, 401, JSON.stringify(each));
  assert(!JSON.stringify(port.logger.lines).includes(token), "the log has a token");
});

Deno.test("what exists and what does not is answered alike to whoever has no token, or a wrong one", async () => {
  await using port = await Protected.open();
  const seen = async (name: string, token?: string) => {
    const path = `/mcp/c/${name}`;
    const asked = await port.ask({ path, ...(token === undefined ? {} : { token }) });
    const described = await port.ask({ path: `/.well-known/oauth-protected-resource${path}`, method: "GET" });
    const all = [
      asked.status,
      [...asked.headers],
      asked.text,
      described.status,
      [...described.headers],
      described.text,
    ];
    return JSON.stringify(all).replaceAll(name, "NAME");
  };
  for (const token of [undefined, "wrong", await port.token({ aud: `${PUBLIC}/mcp/o/lab` })]) {
    assertEquals(await seen("laptop", token), await seen("nobody", token));
  }
  const about = JSON.parse(
    (await port.ask({
      path: "/.well-known/oauth-protected-resource/mcp/c/laptop",
      method: "GET",
    })).text,
  );
  assertEquals([about.resource, about.authorization_servers], [`${PUBLIC}/mcp/c/laptop`, [port.issuer]]);
});

Deno.test("each refusal is in the audit log by its reason, and says nothing of the token", async () => {
  await using port = await Protected.open();
  const expired = await port.token({ exp: 5 });
  await port.ask({});
  await port.ask({ token: expired });
  await port.ask({ token: await port.token({ a2c_offices: ["den"] }) });
  const path = "/mcp/c/laptop";
  const limited = await port.token({ aud: `${PUBLIC}${path}`, a2c_computers: ["desk"] });
  assertEquals((await port.ask({ token: limited, path })).status, 403);
  const lines = port.logger.lines.map((
    { level, module, fields: { reason, path } },
  ) => [level, module, reason, path]);
  assertEquals(lines, [
    // Each client that signs in begins so.
    ["info", "audit", "no token", "/mcp"],
    ["warn", "audit", "token expired", "/mcp"],
    ["warn", "audit", "not for this office", "/mcp"],
    ["warn", "audit", "not for this Computer", "/mcp/c/laptop"],
  ]);
  assert(!JSON.stringify(port.logger.lines).includes(expired));
});

Deno.test("somebody else's session is an unknown one, also with a genuine token", async () => {
  await using port = await Protected.open();
  const ada = await port.ask({ token: await port.token() });
  const session = { "mcp-session-id": ada.headers.get("mcp-session-id") ?? "" };
  const ping = { jsonrpc: "2.0", id: 2, method: "ping" };
  const again = await port.ask({ token: await port.token(), headers: session, body: ping });
  assertEquals(again.status, 200);
  for (const claims of [{ sub: "eve" }, { client_id: "d" }]) {
    const token = await port.token(claims);
    assertEquals((await port.ask({ token, headers: session, body: ping })).status, 404);
    assertEquals((await port.ask({ token, headers: session, method: "DELETE" })).status, 404);
  }
});
