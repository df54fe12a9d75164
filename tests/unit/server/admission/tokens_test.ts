import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { createHash } from "node:crypto";
import {
  type Admission,
  anonymous,
  type AuthProvider,
  type Credentials,
  CredentialsEndedError,
} from "../../../../src/server/admission/provider.ts";
import { parseTokenList } from "../../../../src/server/admission/token_list.ts";
import { staticTokens, TokenTable } from "../../../../src/server/admission/tokens.ts";
import { FileContentError } from "../../../../src/files/watched_files.ts";

const nothing: Credentials = { auth: {}, headers: {}, query: {}, address: "127.0.0.1" };

/** The principal, or why it was refused. */
async function decide(provider: AuthProvider, presented: Partial<Credentials>): Promise<string> {
  const decision = await provider.authenticate({ ...nothing, ...presented });
  return "refused" in decision ? decision.refused : decision.principal;
}

Deno.test("staticTokens() knows each of its tokens by a principal of its own", async () => {
  const provider = staticTokens({ tokens: ["a", "b"] });
  assertEquals(await decide(provider, { auth: { token: "a" } }), "token-1");
  assertEquals(await decide(provider, { auth: { token: "b" } }), "token-2");
  assertEquals(await decide(provider, { auth: { token: "A" } }), "wrong token");
  assertEquals(await decide(provider, {}), "no token");
});

Deno.test("staticTokens() looks into the auth field first and then into the header", async () => {
  const provider = staticTokens({ tokens: ["good"] });
  const headers = { "x-api-key": "good" };
  assertEquals(await decide(provider, { auth: { token: "bad" }, headers }), "wrong token");
  assertEquals(await decide(provider, { headers }), "token-1");
  assertEquals(await decide(provider, { auth: { token: 5 }, headers }), "token-1");
});

Deno.test("staticTokens() skips the word Bearer of an authorization header, and of no other", async () => {
  const bearer = "Bearer good";
  const standard = staticTokens({ tokens: ["good"], header: "Authorization" });
  assertEquals(await decide(standard, { headers: { authorization: bearer } }), "token-1");
  const own = staticTokens({ tokens: ["good"] });
  assertEquals(await decide(own, { headers: { "x-api-key": bearer } }), "wrong token");
});

Deno.test("staticTokens() takes no inherited member for a token", async () => {
  const provider = staticTokens({ tokens: ["x"], field: "toString" });
  assertEquals(await decide(provider, {}), "no token");
});

Deno.test("staticTokens() wants tokens, none empty, and no member that it does not know", () => {
  const misspelt = { token: "a", office: ["lab"] };
  for (const tokens of [[], ["a", ""], [misspelt]]) {
    assertThrows(() => staticTokens({ tokens }), TypeError, "static tokens");
  }
});

Deno.test("anonymous admits everyone as one principal", async () => {
  assertEquals(await anonymous.authenticate(nothing), { principal: "anonymous" });
});

/** How the connections of a token have ended; `undefined` while they go on. */
function endOf(signal: AbortSignal | undefined): string | undefined {
  if (!signal?.aborted) return undefined;
  assertInstanceOf(signal.reason, CredentialsEndedError);
  return signal.reason.kind;
}

function tableOf(text: string): TokenTable {
  const table = new TokenTable();
  table.replace(parseTokenList(text));
  return table;
}

function find(table: TokenTable, token: string): Admission | undefined {
  const decision = table.authenticate({ ...nothing, auth: { token } });
  return "refused" in decision ? undefined : decision;
}

Deno.test("a token that is given by its hash admits the token, and not the hash", () => {
  const hash = createHash("sha256").update("s3cret").digest("hex");
  const table = tableOf(`sha256:${hash} name=ada\nsha256:${"A".repeat(64)}`);
  assertEquals(find(table, "s3cret")?.principal, "ada");
  for (const guess of [`sha256:${hash}`, hash, "", "s3cret "]) assertEquals(find(table, guess), undefined);
});

Deno.test("a token that is removed ends its connections, and no others", () => {
  const table = tableOf("a name=ada\nb name=bob");
  const [ada, bob] = ["a", "b"].map((token) => find(table, token)?.signal);
  table.replace(parseTokenList("b name=bob"));
  assertEquals([endOf(ada), endOf(bob)], ["revoked", undefined]);
  assertEquals(find(table, "a"), undefined);
  assertEquals(find(table, "b")?.signal, bob);
});

Deno.test("a token whose permissions change ends its connections, so that they come back with the new ones", () => {
  const table = tableOf("a name=ada offices=lab,den");
  const before = find(table, "a");
  table.replace(parseTokenList("a name=ada offices=den,lab"));
  assertEquals(endOf(before?.signal), undefined);
  table.replace(parseTokenList("a name=ada offices=den"));
  assertEquals(endOf(before?.signal), "changed");
  assertEquals(find(table, "a")?.grant?.offices, ["den"]);
});

Deno.test("a token without a name keeps its principal, and one in the place of another takes over that of the other", () => {
  const table = tableOf("a\nb");
  table.replace(parseTokenList("c\nb offices=lab\nd"));
  assertEquals(["a", "b", "c", "d"].map((token) => find(table, token)?.principal), [
    undefined,
    "token-2",
    "token-1",
    "token-3",
  ]);
});

Deno.test("two tokens may have one principal, and one token may stand there twice", () => {
  const table = tableOf("old name=ada\nnew name=ada\nnew name=ada\nplain\nplain");
  assertEquals(["old", "new", "plain"].map((token) => find(table, token)?.principal), [
    "ada",
    "ada",
    "token-1",
  ]);
});

Deno.test("a token with two sets of permissions is refused, and changes nothing", () => {
  const table = tableOf("a name=ada");
  const { signal } = find(table, "a") ?? {};
  for (const text of ["a offices=lab\nb\na offices=den", "a name=ada\na name=bob"]) {
    assertThrows(() => table.replace(parseTokenList(text)), FileContentError, "line");
  }
  assertEquals(find(table, "a")?.signal, signal);
  assert(!signal?.aborted);
});
