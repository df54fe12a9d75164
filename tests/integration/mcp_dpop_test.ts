/** Tokens that are bound to a key: each request for a token, and each one with it, carries a proof (RFC 9449). */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { Computer, fileTokenStore, SignInError, type TokenStore } from "../../computer.ts";
import { AuthorizationServer, signIn } from "../fixtures/authorization_server.ts";
import { HttpMcpServer } from "../fixtures/http_server.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const NONCE = "nonce-of-the-server";
const echo = { name: "echo", inputSchema: { type: "object" } };

/** What a proof says, once its signature is checked. */
interface Proof {
  readonly key: string;
  readonly jti: string;
  readonly nonce: string | undefined;
  readonly about: readonly [method: unknown, url: unknown, tokenDigest: unknown];
}

const toBytes = (text: string) => Uint8Array.fromBase64(text, { alphabet: "base64url" });

async function readProof(request: Request): Promise<Proof> {
  const [head = "", body = "", signature = ""] = request.headers.get("dpop")?.split(".") ?? [];
  const decode = (part: string) => JSON.parse(new TextDecoder().decode(toBytes(part)));
  const { jwk, alg, typ } = decode(head);
  assertEquals([alg, typ, "d" in jwk], ["ES256", "dpop+jwt", false]);
  const key = await crypto.subtle.importKey("jwk", jwk, { name: "ECDSA", namedCurve: "P-256" }, false, [
    "verify",
  ]);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  assert(
    await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, toBytes(signature), signed),
  );
  const { jti, nonce, htm, htu, ath } = decode(body);
  return { key: jwk.x, jti, nonce, about: [htm, htu, ath] };
}

/** An MCP server that takes bound tokens alone, and what was proven to it and to its authorization server. */
class BoundServer implements AsyncDisposable {
  readonly as = new AuthorizationServer();
  readonly mcp: HttpMcpServer;
  /** The requests for tokens, and those with one. */
  readonly tokenRequests: Request[] = [];
  readonly requests: Request[] = [];
  needsNonce = false;

  constructor() {
    const { as } = this;
    as.tokenType = "DPoP";
    as.metadata = { dpop_signing_alg_values_supported: ["RS256", "ES256"] };
    as.resource = { dpop_bound_access_tokens_required: true };
    as.answers.set("/token", (_form, request) => {
      this.tokenRequests.push(request);
      if (this.#hasNonce(request)) return undefined;
      const headers = { "dpop-nonce": NONCE };
      return Response.json({ error: "use_dpop_nonce" }, { status: 400, headers });
    });
    this.mcp = new HttpMcpServer("streamable", { tools: [echo] }, {
      intercept: (message, request) => {
        if (request.headers.has("authorization")) this.requests.push(request);
        const refusal = as.guard(message, request);
        if (refusal !== undefined || this.#hasNonce(request)) return refusal;
        const headers = { "dpop-nonce": NONCE, "www-authenticate": 'DPoP error="use_dpop_nonce"' };
        return new Response(null, { status: 401, headers });
      },
    });
    as.mcpUrl = this.mcp.url;
  }

  #hasNonce(request: Request): boolean {
    return !this.needsNonce || atob(request.headers.get("dpop")?.split(".")[1] ?? "").includes(NONCE);
  }

  open(tokens: TokenStore, logger = new LogBook()): Computer {
    return Computer.open({
      name: "laptop",
      config: { servers: { shop: this.mcp.config() } },
      tokens,
      logger,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.mcp[Symbol.asyncDispose]();
    await this.as[Symbol.asyncDispose]();
  }
}

async function signInAt(server: BoundServer, tokens: TokenStore): Promise<Computer> {
  const log = new LogBook();
  const computer = server.open(tokens, log);
  await computer.ready();
  const running = log.next(stateOf("shop", "running"));
  await signIn(computer, "shop");
  await running;
  await computer.ready();
  return computer;
}

Deno.test("bound tokens, and the key that they are bound to, outlive the Computer", async () => {
  using folder = new TempFolder();
  await using server = new BoundServer();
  const tokens = fileTokenStore(join(folder.path, "tokens.json"));
  {
    await using computer = await signInAt(server, tokens);
    assertEquals((await computer.callTool("echo", {})).isError, false);
  }
  await using computer = server.open(tokens);
  await computer.ready();
  assertEquals((await computer.callTool("echo", {})).isError, false);
  server.as.endAccessTokens();
  assertEquals((await computer.callTool("echo", {})).isError, false);
  assertEquals([server.as.count("authorization_code"), server.as.count("refresh_token")], [1, 1]);

  const proofs = await Promise.all([...server.tokenRequests, ...server.requests].map(readProof));
  assertEquals(new Set(proofs.map(({ key }) => key)).size, 1);
  assertEquals(new Set(proofs.map(({ jti }) => jti)).size, proofs.length);
  assertEquals(proofs[0]?.about, ["POST", `${server.as.issuer}/token`, undefined]);
  const [, token = ""] = server.requests[0]?.headers.get("authorization")?.split(" ") ?? [];
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  const ath = digest.toBase64({ alphabet: "base64url", omitPadding: true });
  assertEquals(proofs[2]?.about, ["POST", server.mcp.url, ath]);
});

Deno.test("a server that wants its nonce in a proof gets the request once more, and the nonce from then on", async () => {
  await using server = new BoundServer();
  server.needsNonce = true;
  using folder = new TempFolder();
  await using computer = await signInAt(server, fileTokenStore(join(folder.path, "tokens.json")));
  assertEquals((await computer.callTool("echo", {})).isError, false);
  const asked = await Promise.all(server.tokenRequests.map(readProof));
  assertEquals(asked.map(({ nonce }) => nonce), [undefined, NONCE]);
  const [first, ...later] = await Promise.all(server.requests.map(readProof));
  assertEquals(first?.nonce, undefined);
  assertNotEquals(later, []);
  assertEquals(later.filter(({ nonce }) => nonce !== NONCE), []);
});

Deno.test("a server that wants bound tokens, and whose authorization server issues none, is told apart", async () => {
  using folder = new TempFolder();
  await using server = new BoundServer();
  server.as.metadata = {};
  await using computer = server.open(fileTokenStore(join(folder.path, "tokens.json")));
  await computer.ready();
  await assertRejects(
    () => computer.signIns.start("shop"),
    SignInError,
    "does not issue them for keys of ES256",
  );
});
