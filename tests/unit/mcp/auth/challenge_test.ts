import { assertEquals } from "@std/assert";
import { scopesIn, toChallenge } from "../../../../src/mcp/auth/challenge.ts";

const BEARER = {
  scheme: "bearer",
  parameters: { error: "insufficient_scope", scope: "read write" },
} as const;
const DPOP = {
  scheme: "dpop",
  parameters: { scope: "later", resource_metadata: "https://mcp.example/here" },
} as const;

Deno.test("toChallenge() reads the challenges of Bearer and DPoP as one, which of DPoP alone wants bound tokens", () => {
  assertEquals(toChallenge([{ scheme: "basic", parameters: { scope: "x" } }, DPOP, BEARER]), {
    error: "insufficient_scope",
    scope: "read write",
    resourceMetadata: "https://mcp.example/here",
    isDpop: false,
  });
  assertEquals(toChallenge([DPOP]), {
    error: undefined,
    scope: "later",
    resourceMetadata: "https://mcp.example/here",
    isDpop: true,
  });
  assertEquals(toChallenge([{ scheme: "basic", parameters: {} }]), undefined);
});

Deno.test("scopesIn() names each scope once", () => {
  assertEquals(scopesIn("read  write", undefined, "write admin", ""), ["read", "write", "admin"]);
});
