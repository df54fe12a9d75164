import { assertEquals } from "@std/assert";
import { readChallenge, scopesIn } from "../../../../src/mcp/auth/challenge.ts";

function read(header: string) {
  return readChallenge(new Headers({ "www-authenticate": header }));
}

Deno.test("readChallenge() reads the parameters of the scheme Bearer, wherever it stands", () => {
  const url = "https://mcp.example/.well-known/oauth-protected-resource";
  for (
    const header of [
      `Bearer error="insufficient_scope", scope="read write", resource_metadata="${url}"`,
      `bearer scope="read write",error=insufficient_scope,  resource_metadata="${url}"`,
      `Basic realm="a, Bearer b", Bearer error="insufficient_scope", scope="read write", resource_metadata="${url}"`,
      `Negotiate abc==, Bearer scope="read write", resource_metadata="${url}", error="insufficient_scope", Basic realm="x"`,
      `Bearer scope="read write", scope="later", resource_metadata="${url}", error="insufficient\\_scope"`,
    ]
  ) {
    assertEquals(
      read(header),
      { error: "insufficient_scope", scope: "read write", resourceMetadata: url, isDpop: false },
      header,
    );
  }
});

Deno.test("readChallenge() reads a challenge without parameters, and none where there is none", () => {
  const empty = { error: undefined, scope: undefined, resourceMetadata: undefined, isDpop: false };
  assertEquals(read("Bearer"), empty);
  assertEquals(read('Bearer realm="x"'), empty);
  assertEquals(read('Basic realm="x"'), undefined);
  assertEquals(read('"broken'), undefined);
  assertEquals(read(`Bearer scope="${"x".repeat(10_000)}"`), undefined);
  assertEquals(readChallenge(new Headers()), undefined);
});

Deno.test("readChallenge() reads a challenge of DPoP, which alone wants bound tokens", () => {
  const resourceMetadata = "https://mcp.example/here";
  const only = read(`DPoP algs="ES256", error=use_dpop_nonce, resource_metadata="${resourceMetadata}"`);
  assertEquals(only, { error: "use_dpop_nonce", scope: undefined, resourceMetadata, isDpop: true });
  const either = read(`Bearer, DPoP scope=read, resource_metadata="${resourceMetadata}"`);
  assertEquals(either, { error: undefined, scope: "read", resourceMetadata, isDpop: false });
});

Deno.test("readChallenge() reads long hostile headers to their end", () => {
  const found = ['a="', "Bearer ", ", ", "a=b, ", '\\"', "x y z "].filter((part) =>
    read(part.repeat(Math.floor(8_000 / part.length))) !== undefined
  );
  assertEquals(found, ["Bearer "]);
});

Deno.test("scopesIn() names each scope once", () => {
  assertEquals(scopesIn("read  write", undefined, "write admin", ""), ["read", "write", "admin"]);
});
