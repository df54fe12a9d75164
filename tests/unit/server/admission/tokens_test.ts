import { assertEquals, assertThrows } from "@std/assert";
import { anonymous, type Credentials } from "../../../../src/server/admission/provider.ts";
import { staticTokens } from "../../../../src/server/admission/tokens.ts";

const nothing: Credentials = { auth: {}, headers: {}, query: {}, address: "127.0.0.1" };

Deno.test("staticTokens() knows each of its tokens by a principal of its own", async () => {
  const provider = staticTokens({ tokens: ["a", "b"] });
  assertEquals(await provider.authenticate({ ...nothing, auth: { token: "a" } }), { principal: "token-1" });
  assertEquals(await provider.authenticate({ ...nothing, auth: { token: "b" } }), { principal: "token-2" });
  assertEquals(await provider.authenticate({ ...nothing, auth: { token: "A" } }), { refused: "wrong token" });
  assertEquals(await provider.authenticate(nothing), { refused: "no token" });
});

Deno.test("staticTokens() looks into the auth field first and then into the header", async () => {
  const provider = staticTokens({ tokens: ["good"] });
  const header = (token: string) => ({ "x-api-key": token });
  const both = { ...nothing, auth: { token: "bad" }, headers: header("good") };
  assertEquals(await provider.authenticate(both), { refused: "wrong token" });
  assertEquals(await provider.authenticate({ ...nothing, headers: header("good") }), {
    principal: "token-1",
  });
  assertEquals(await provider.authenticate({ ...nothing, auth: { token: 5 }, headers: header("good") }), {
    principal: "token-1",
  });
});

Deno.test("staticTokens() skips the word Bearer of an authorization header, and of no other", async () => {
  const bearer = "Bearer good";
  const standard = staticTokens({ tokens: ["good"], header: "Authorization" });
  assertEquals(await standard.authenticate({ ...nothing, headers: { authorization: bearer } }), {
    principal: "token-1",
  });
  const own = staticTokens({ tokens: ["good"] });
  assertEquals(await own.authenticate({ ...nothing, headers: { "x-api-key": bearer } }), {
    refused: "wrong token",
  });
});

Deno.test("staticTokens() takes no inherited member for a token", async () => {
  const provider = staticTokens({ tokens: ["x"], field: "toString" });
  assertEquals(await provider.authenticate(nothing), { refused: "no token" });
});

Deno.test("staticTokens() wants tokens, and none empty", () => {
  assertThrows(() => staticTokens({ tokens: [] }), TypeError, "static tokens");
  assertThrows(() => staticTokens({ tokens: ["a", ""] }), TypeError, "static tokens");
});

Deno.test("anonymous admits everyone as one principal", async () => {
  assertEquals(await anonymous.authenticate(nothing), { principal: "anonymous" });
});
