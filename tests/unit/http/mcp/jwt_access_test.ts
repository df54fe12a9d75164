import { assertEquals } from "@std/assert";
import { type JwtClaimOptions, readAccess, readOperator } from "../../../../src/http/mcp/jwt_access.ts";

const CLAIMS = {
  sub: "ada",
  client_id: "desktop",
  scope: "openid a2c:read a2c:call",
  a2c_offices: ["lab"],
};

function read(claims: Record<string, unknown> = {}, options: JwtClaimOptions = {}) {
  return readAccess({ ...CLAIMS, ...claims }, { ...options, expiresAtMs: 5_000 });
}

function accessOf(claims?: Record<string, unknown>, options?: JwtClaimOptions) {
  const answer = read(claims, options);
  return "access" in answer ? answer.access : answer.refused;
}

function rightsOf(claims: Record<string, unknown>, options?: JwtClaimOptions) {
  const answer = read(claims, options);
  return "access" in answer ? [answer.access.rights, answer.mayGrow] : answer.lacks ?? answer.refused;
}

Deno.test("readAccess() tells whose token it is, and its offices, Computers and rights", () => {
  assertEquals(accessOf(), {
    id: "ada/desktop",
    client: "desktop",
    offices: ["lab"],
    computers: undefined,
    rights: "call",
    expiresAt: 5_000,
  });
});

Deno.test("readAccess() reads offices and Computers from a text, a list, a path, or * for all", () => {
  const places = (claims: Record<string, unknown>, options?: JwtClaimOptions) => {
    const access = accessOf(claims, options);
    return typeof access === "string" ? access : [access.offices, access.computers];
  };
  assertEquals(places({ a2c_offices: "the lab", a2c_computers: "laptop" }), [["the lab"], ["laptop"]]);
  assertEquals(places({ a2c_offices: "*", a2c_computers: ["*"] }), ["all", undefined]);
  assertEquals(places({ a2c_computers: [] }), [["lab"], []]);
  assertEquals(places({ a2c_offices: undefined }), [[], undefined]);
  assertEquals(places({ a2c_offices: undefined }, { defaultOffices: ["den"] }), [["den"], undefined]);
  assertEquals(places({ app: { rooms: ["cafe\u0301"] } }, { officesClaim: "app.rooms" }), [
    ["café"],
    undefined,
  ]);
});

Deno.test("readAccess() takes rights from the scopes, and no more than the claim of rights allows", () => {
  const all: readonly [Record<string, unknown>, unknown][] = [
    [{}, ["call", false]],
    [{ scope: "a2c:read" }, ["read", true]],
    [{ scope: undefined, scp: ["a2c:call"] }, ["call", false]],
    [{ scope: undefined, scp: "a2c:read x" }, ["read", true]],
    [{ scope: "a2c:callx" }, "scope"],
    [{ scope: undefined }, "scope"],
    [{ a2c_rights: "confirm" }, ["confirm", false]],
    [{ a2c_rights: "read" }, ["read", false]],
    [{ scope: "a2c:read", a2c_rights: "call" }, ["read", true]],
    [{ scope: "a2c:read", a2c_rights: "read" }, ["read", false]],
  ];
  for (const [claims, expected] of all) assertEquals(rightsOf(claims), expected, JSON.stringify(claims));
  const named = { readScope: "office.read", callScope: "office.use" };
  assertEquals(rightsOf({ scope: "office.use" }, named), ["call", false]);
  assertEquals(rightsOf({ scope: "a2c:call" }, named), "scope");
  assertEquals(rightsOf({ scope: "openid" }, { defaultRights: "confirm" }), ["confirm", false]);
});

Deno.test("readAccess() refuses a claim of a wrong type: it does not count as absent", () => {
  const wrong = [
    { sub: undefined },
    { sub: "" },
    { sub: 5 },
    { sub: "a\u0007b" },
    { a2c_offices: 5 },
    { a2c_offices: [5] },
    { a2c_offices: { lab: true } },
    { a2c_computers: true },
    { a2c_rights: "all" },
    { a2c_rights: ["call"] },
  ];
  for (const claims of wrong) assertEquals(rightsOf(claims), "forbidden", JSON.stringify(claims));
});

Deno.test("readAccess() refuses a token that is bound to a key: its bearer has not shown the key", () => {
  assertEquals(
    rightsOf({ cnf: { jkt: "x" } }),
    "the token is bound to a key, which is not supported here",
  );
});

Deno.test("readAccess() names the client as its issuer does, and tells clients of one person apart", () => {
  const ofClient = (claims: Record<string, unknown>) => {
    const access = accessOf({ client_id: undefined, ...claims });
    return typeof access === "string" ? access : [access.client, access.id];
  };
  assertEquals(ofClient({ client_name: "Claude", client_id: "c-1" }), ["Claude", "ada/c-1"]);
  assertEquals(ofClient({ azp: "https://x.example/client" }), [
    "https://x.example/client",
    "ada/https%3A%2F%2Fx.example%2Fclient",
  ]);
  assertEquals(ofClient({}), ["", "ada/"]);
  assertEquals(ofClient({ sub: "a/b", client_id: "c" }), ["c", "a%2Fb/c"]);
  assertEquals(ofClient({ client_name: 5, client_id: "c" }), ["c", "ada/c"]);
});

Deno.test("readOperator() takes the offices from the claim that was named, and nobody else for an operator", () => {
  const operatorClaim = "app.operates";
  const read = (operates: unknown, more: Record<string, unknown> = {}) =>
    readOperator({ ...CLAIMS, app: { operates }, ...more }, { operatorClaim });
  assertEquals(read("lab"), { name: "ada", offices: ["lab"] });
  assertEquals(read(["lab", "den"]), { name: "ada", offices: ["lab", "den"] });
  assertEquals(read("*"), { name: "ada", offices: "all" });
  for (const wrong of [undefined, true, 1, [], ["lab", 1], null]) assertEquals(read(wrong), undefined);
  assertEquals(read("*", { sub: "" }), undefined);
  assertEquals(read("*", { cnf: {} }), undefined);
  assertEquals(readOperator({ ...CLAIMS, a2c_operator: "*" }, {}), undefined);
});
