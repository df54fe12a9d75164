import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { createHash } from "node:crypto";
import { CredentialsEndedError } from "../../../../src/server/admission/provider.ts";
import { parseTokenList } from "../../../../src/server/admission/token_list.ts";
import { TokenTable } from "../../../../src/server/admission/tokens.ts";
import { FileContentError } from "../../../../src/server/admission/watched_files.ts";

/** How the connections of a token have ended; `undefined` while they go on. */
function endOf(signal: AbortSignal | undefined): string | undefined {
  if (!signal?.aborted) return undefined;
  assertInstanceOf(signal.reason, CredentialsEndedError);
  return signal.reason.kind;
}

Deno.test("a token that is given by its hash admits the token, and not the hash", () => {
  const hash = createHash("sha256").update("s3cret").digest("hex");
  const table = new TokenTable(parseTokenList(`sha256:${hash} name=ada\nsha256:${"A".repeat(64)}`));
  assertEquals(table.find("s3cret")?.principal, "ada");
  for (const guess of [`sha256:${hash}`, hash, "", "s3cret "]) assertEquals(table.find(guess), undefined);
});

Deno.test("a new list tells how many tokens it has, and what it changed", () => {
  const table = new TokenTable(parseTokenList("a name=ada\nb name=bob\nc"));
  const counts = table.replace(parseTokenList("b name=bob offices=lab\nc\nd\ne\ne"));
  assertEquals(counts, { tokens: 4, added: 2, removed: 1, changed: 1 });
  assertEquals(table.replace([]), { tokens: 0, added: 0, removed: 4, changed: 0 });
});

Deno.test("a token that is removed ends its connections, and no others", () => {
  const table = new TokenTable(parseTokenList("a name=ada\nb name=bob"));
  const [ada, bob] = ["a", "b"].map((token) => table.find(token)?.signal);
  table.replace(parseTokenList("b name=bob"));
  assertEquals([endOf(ada), endOf(bob)], ["revoked", undefined]);
  assertEquals(table.find("a"), undefined);
  assertEquals(table.find("b")?.signal, bob);
});

Deno.test("a token whose permissions change ends its connections, so that they come back with the new ones", () => {
  const table = new TokenTable(parseTokenList("a name=ada offices=lab,den"));
  const before = table.find("a");
  table.replace(parseTokenList("a name=ada offices=den,lab"));
  assertEquals(endOf(before?.signal), undefined);
  table.replace(parseTokenList("a name=ada offices=den"));
  assertEquals(endOf(before?.signal), "changed");
  assertEquals(table.find("a")?.grant?.offices, ["den"]);
});

Deno.test("a token without a name keeps its principal when others are added and removed", () => {
  const table = new TokenTable(parseTokenList("a\nb"));
  table.replace(parseTokenList("c\nb"));
  assertEquals(["a", "b", "c"].map((token) => table.find(token)?.principal), [
    undefined,
    "token-2",
    "token-3",
  ]);
});

Deno.test("two tokens may have one principal, and one token may stand there twice", () => {
  const table = new TokenTable(parseTokenList("old name=ada\nnew name=ada\nnew name=ada\nplain\nplain"));
  assertEquals(["old", "new", "plain"].map((token) => table.find(token)?.principal), [
    "ada",
    "ada",
    "token-1",
  ]);
});

Deno.test("a token with two sets of permissions is refused, and changes nothing", () => {
  const table = new TokenTable(parseTokenList("a name=ada"));
  const { signal } = table.find("a") ?? {};
  for (const text of ["a offices=lab\nb\na offices=den", "a name=ada\na name=bob"]) {
    assertThrows(() => table.replace(parseTokenList(text)), FileContentError, "line");
  }
  assertEquals(table.find("a")?.signal, signal);
  assert(!signal?.aborted);
});
