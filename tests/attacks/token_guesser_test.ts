/** Attacker: a client that guesses tokens, and knows parts of them, or their hashes */
import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { type AuthProvider, staticTokens } from "../../server.ts";

const TOKEN = "9f2c4e60b7d1a853";
const HASH = createHash("sha256").update(TOKEN).digest("hex");
const nothing = { auth: {}, headers: {}, query: {}, address: "127.0.0.1" };

async function isAdmitted(provider: AuthProvider, token: unknown): Promise<boolean> {
  return "principal" in await provider.authenticate({ ...nothing, auth: { token } });
}

Deno.test("nothing but the token itself is accepted, whether the file has it or its hash", async () => {
  const guesses: readonly unknown[] = [
    TOKEN.slice(0, -1),
    `${TOKEN} `,
    ` ${TOKEN}`,
    TOKEN.toUpperCase(),
    `${TOKEN}\u0000`,
    HASH,
    `sha256:${HASH}`,
    `sha256:${HASH.toUpperCase()}`,
    "",
    "__proto__",
    "toString",
    [TOKEN],
    { toString: () => TOKEN },
    new Uint8Array(8),
    null,
    true,
  ];
  for (const tokens of [[TOKEN], [`sha256:${HASH}`]]) {
    const provider = staticTokens({ tokens });
    assert(await isAdmitted(provider, TOKEN));
    for (const guess of guesses) assert(!await isAdmitted(provider, guess), Deno.inspect(guess));
  }
});

Deno.test("a token in the query of the URL is not accepted: URLs stand in logs", async () => {
  const provider = staticTokens({ tokens: [TOKEN] });
  const decision = await provider.authenticate({ ...nothing, query: { token: TOKEN } });
  assertEquals(decision, { refused: "no token" });
});

Deno.test("a refusal is the same for a guess that is close and one that is not", async () => {
  const provider = staticTokens({ tokens: [{ token: TOKEN, expiresAtMs: 1 }, "other"] });
  const answers = await Promise.all(
    [TOKEN.slice(0, -1), `${TOKEN.slice(0, -1)}0`, "x", "x".repeat(16_384)].map((token) =>
      provider.authenticate({ ...nothing, auth: { token } })
    ),
  );
  assertEquals(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1);
});
