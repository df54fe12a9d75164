import { assertEquals } from "@std/assert";
import { type ClaimOptions, readClaims } from "../../../../src/server/admission/jwt.ts";

const ALL_ROLES = ["agent", "computer", "observer"];

function grantOf(claims: Record<string, unknown>, options: ClaimOptions = {}): unknown {
  const reading = readClaims({ sub: "ada", ...claims }, options);
  return "refused" in reading ? "refused" : reading.grant;
}

Deno.test("readClaims() reads offices from a text or a list, and roles also from words", () => {
  assertEquals(grantOf({ a2c_offices: "the lab" }), { offices: ["the lab"], roles: ALL_ROLES });
  assertEquals(grantOf({ a2c_offices: ["lab", "den"], a2c_roles: ["agent"] }), {
    offices: ["lab", "den"],
    roles: ["agent"],
  });
  assertEquals(grantOf({ a2c_offices: [], a2c_roles: "computer  observer" }), {
    offices: [],
    roles: ["computer", "observer"],
  });
  assertEquals(grantOf({ a2c_offices: "*" }), { roles: ALL_ROLES });
  assertEquals(grantOf({ a2c_offices: "cafe\u0301" }), { offices: ["café"], roles: ALL_ROLES });
});

Deno.test("readClaims() gives a token without the claim no office, unless a default says otherwise", () => {
  assertEquals(grantOf({}), { offices: [], roles: ALL_ROLES });
  assertEquals(grantOf({}, { defaultOffices: ["lab"], defaultRoles: ["computer"] }), {
    offices: ["lab"],
    roles: ["computer"],
  });
  assertEquals(grantOf({}, { defaultOffices: ["*"] }), { roles: ALL_ROLES });
  assertEquals(grantOf({ a2c_offices: [] }, { defaultOffices: ["*"] }), { offices: [], roles: ALL_ROLES });
});

Deno.test("readClaims() ignores roles of other programs", () => {
  const all = { a2c_offices: "*" };
  assertEquals(grantOf({ ...all, a2c_roles: ["admin", "agent"] }), { roles: ["agent"] });
  assertEquals(grantOf({ ...all, a2c_roles: ["admin"] }), { roles: [] });
});

Deno.test("readClaims() finds a claim by its name, or by a path, and inherits none", () => {
  const url = "https://example.com/offices";
  assertEquals(grantOf({ [url]: ["lab"] }, { officesClaim: url }), { offices: ["lab"], roles: ALL_ROLES });
  const keycloak = { a2c_offices: "*", realm_access: { roles: ["agent"] } };
  assertEquals(grantOf(keycloak, { rolesClaim: "realm_access.roles" }), { roles: ["agent"] });
  for (
    const officesClaim of ["constructor.name", "__proto__", "toString", "realm_access.roles.0.length", "a..b"]
  ) {
    assertEquals(grantOf(keycloak, { officesClaim }), { offices: [], roles: ALL_ROLES }, officesClaim);
  }
});

Deno.test("readClaims() refuses claims of a wrong type: they do not count as absent", () => {
  for (const wrong of [null, 5, true, {}, ["lab", 5], [["lab"]], [null]]) {
    assertEquals(
      grantOf({ a2c_offices: wrong }, { defaultOffices: ["*"] }),
      "refused",
      JSON.stringify(wrong),
    );
    assertEquals(grantOf({ a2c_offices: "*", a2c_roles: wrong }), "refused", JSON.stringify(wrong));
  }
});

Deno.test("readClaims() wants a principal", () => {
  for (const sub of [undefined, "", 5, ["ada"], "a\nb", "x".repeat(257)]) {
    assertEquals("refused" in readClaims({ sub }, {}), true, String(sub));
  }
  const reading = readClaims({ sub: "1", email: "ada@example.com" }, { principalClaim: "email" });
  assertEquals("principal" in reading && reading.principal, "ada@example.com");
});
