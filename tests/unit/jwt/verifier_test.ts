import { assertEquals } from "@std/assert";
import { JwtVerifier } from "../../../src/jwt/verifier.ts";
import { AUDIENCE, SigningKey } from "../../fixtures/issuer.ts";
import { eventually } from "../../fixtures/within.ts";

async function openWith(
  keys: { readonly publicKey: string } | { readonly publicKeyFile: string },
  nowMs?: () => number,
) {
  const verifier = await JwtVerifier.open({ ...keys, clockToleranceMs: 0, httpFlag: "", nowMs });
  const decide = async (token: string, audience: string | readonly string[] = AUDIENCE) => {
    const answer = await verifier.verify(token, { audience });
    return "refused" in answer ? answer.refused : answer.claims.sub;
  };
  return { decide, [Symbol.asyncDispose]: () => verifier.close() };
}

Deno.test("a JWT that was accepted a moment ago is refused when it has expired", async () => {
  const key = await SigningKey.generate();
  const exp = Math.floor(Date.now() / 1_000) + 10;
  let now = Date.now();
  await using verifier = await openWith({ publicKey: JSON.stringify(key.jwk) }, () => now);
  const token = await key.sign({ exp });
  assertEquals([await verifier.decide(token), await verifier.decide(token)], ["ada", "ada"]);
  now = exp * 1_000;
  assertEquals(await verifier.decide(token), "token expired");
});

Deno.test("a JWT that was accepted for one audience is refused for another", async () => {
  const key = await SigningKey.generate();
  await using verifier = await openWith({ publicKey: JSON.stringify(key.jwk) });
  const token = await key.sign();
  assertEquals(await verifier.decide(token), "ada");
  const refused = 'the claim "aud" of the token is not the expected one';
  assertEquals(await verifier.decide(token, "other"), refused);
  assertEquals(await verifier.decide(token, ["other", `${AUDIENCE} `]), refused);
  assertEquals(await verifier.decide(token), "ada");
});

Deno.test("a JWT that was accepted a moment ago is refused when its key is gone", async () => {
  const [old, key] = [await SigningKey.generate("ES256", "a"), await SigningKey.generate("ES256", "a")];
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, JSON.stringify(old.jwk));
    await using verifier = await openWith({ publicKeyFile: file });
    const token = await old.sign();
    assertEquals([await verifier.decide(token), await verifier.decide(token)], ["ada", "ada"]);
    await Deno.writeTextFile(file, JSON.stringify(key.jwk));
    const newer = await key.sign();
    await eventually(() => verifier.decide(newer), (answer) => answer === "ada", "the new key");
    assertEquals(await verifier.decide(token), "wrong token");
  } finally {
    await Deno.remove(file);
  }
});
