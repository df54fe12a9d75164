import { assertEquals, assertMatch } from "@std/assert";
import { type Access, AccessRefusal } from "../../../../src/http/mcp/access.ts";
import {
  protectResource,
  type TokenAccess,
  type TokenRefusal,
  type TokenVerifier,
} from "../../../../src/http/mcp/resource_server.ts";

const RESOURCE = "https://hub.example/mcp/o/caf%C3%A9";
const ACCESS: Access = { id: "a", client: "A", offices: "all", rights: "read" };

/** Verifies tokens by their text. */
function verifier(answers: Readonly<Record<string, TokenAccess | TokenRefusal | Error>>): TokenVerifier {
  return {
    issuer: "https://issuer.example",
    verify(token) {
      const answer = answers[token] ?? { refused: "wrong token" };
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
}

const good = verifier({
  reader: { access: ACCESS, mayGrow: true },
  limited: { access: ACCESS, mayGrow: false },
  poor: { refused: "the token has no scope", lacks: "scope" },
  banned: { refused: 'the claim "x" is not usable', lacks: "forbidden" },
  late: new Error("connection refused at 10.0.0.1"),
});

async function ask(authorization?: string, rule = protectResource([good])) {
  const request = new Request(RESOURCE, { headers: authorization === undefined ? {} : { authorization } });
  const answer = await rule.admit(request, RESOURCE);
  if (!(answer instanceof Response)) return { access: answer };
  return {
    status: answer.status,
    challenge: answer.headers.get("www-authenticate"),
    log: answer instanceof AccessRefusal ? answer.log : undefined,
    text: await answer.text(),
  };
}

const WHERE =
  'resource_metadata="https://hub.example/.well-known/oauth-protected-resource/mcp/o/caf%C3%A9", scope="a2c:read a2c:call"';

Deno.test("protectResource() describes a path by its URL, its issuers and its scopes", () => {
  const other = { ...verifier({}), issuer: "https://own.example" };
  assertEquals(protectResource([good, other]).metadata?.(RESOURCE), {
    resource: RESOURCE,
    authorization_servers: ["https://issuer.example", "https://own.example"],
    scopes_supported: ["a2c:read", "a2c:call"],
    bearer_methods_supported: ["header"],
    resource_name: "A2C-SMCP office",
  });
  const unscoped = protectResource([{ ...good, scopes: [] }]);
  assertEquals(unscoped.metadata?.(RESOURCE)["scopes_supported"], undefined);
});

Deno.test("protectResource() tells a client without a token where to get one, and what to ask for", async () => {
  const { status, challenge, log } = await ask();
  assertEquals([status, challenge], [401, `Bearer realm="a2c-smcp", ${WHERE}`]);
  assertEquals(log, { reason: "no token" });
  assertEquals((await ask("Basic YTpi")).challenge, challenge);
});

Deno.test("protectResource() says what is wrong with a token, as RFC 6750 has it", async () => {
  const wrong = await ask("Bearer nobody's");
  assertEquals([wrong.status, wrong.log?.["reason"]], [401, "wrong token"]);
  assertMatch(wrong.challenge ?? "", /error="invalid_token", error_description="wrong token"$/);
  const poor = await ask("Bearer poor");
  assertEquals(poor.status, 403);
  assertMatch(poor.challenge ?? "", /scope="a2c:read a2c:call", error="insufficient_scope"/);
  const banned = await ask("Bearer banned");
  assertEquals([banned.status, banned.challenge], [403, null]);
  const long = await ask(`Bearer ${"x".repeat(20_000)}`);
  assertEquals([long.status, long.log?.["reason"]], [401, "the token is too long"]);
});

Deno.test("protectResource() lets a client ask for more only where it may get more", async () => {
  const { access } = await ask("Bearer reader");
  const refusal = access?.challenge?.();
  assertEquals(refusal?.status, 403);
  assertMatch(refusal?.headers.get("www-authenticate") ?? "", /error="insufficient_scope"/);
  assertEquals((await ask("Bearer limited")).access?.challenge, undefined);
});

Deno.test("protectResource() answers 503 while a token cannot be verified, and keeps the reason for the log", async () => {
  const { status, text, log } = await ask("Bearer late");
  assertEquals(status, 503);
  assertEquals([text?.includes("10.0.0.1"), log?.["error"]], [false, "connection refused at 10.0.0.1"]);
});

Deno.test("protectResource() admits what one of several authorization servers admits", async () => {
  const rule = protectResource([verifier({ late: new Error("down") }), good]);
  assertEquals((await ask("Bearer reader", rule)).access?.id, "a");
  const other = protectResource([good, verifier({ late: { access: ACCESS, mayGrow: false } })]);
  assertEquals((await ask("Bearer late", other)).access?.id, "a");
  // It may be a token of the one that cannot decide now.
  assertEquals((await ask("Bearer late", protectResource([good, verifier({})]))).status, 503);
});
