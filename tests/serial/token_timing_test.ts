/** How long the refusal of a token takes, as a ratio within one run: it must not tell anything of the accepted tokens. */
import { assert } from "@std/assert";
import { type AuthProvider, staticTokens } from "../../server.ts";

const TOKEN = "9f2c4e60b7d1a853";
const nothing = { auth: {}, headers: {}, query: {}, address: "127.0.0.1" };

/** The median time of a refusal in each class, measured in turns. */
async function medians(provider: AuthProvider, classes: readonly string[]): Promise<number[]> {
  const times = classes.map((): number[] => []);
  for (let round = 0; round < 3_000; round++) {
    for (const [index, token] of classes.entries()) {
      const startMs = performance.now();
      await provider.authenticate({ ...nothing, auth: { token } });
      times[index]?.push(performance.now() - startMs);
    }
  }
  return times.map((each) => each.toSorted((a, b) => a - b)[each.length >> 1] ?? NaN);
}

Deno.test("the time of a refusal does not tell how close a guess is, nor how many tokens there are", async () => {
  const many = Array.from({ length: 2_000 }, (_, i) => `token number ${i}`);
  const provider = staticTokens({ tokens: [TOKEN, ...many] });
  const close = `${TOKEN.slice(0, -1)}0`;
  const far = `${"0".repeat(TOKEN.length - 1)}1`;
  const [closeMs = NaN, farMs = NaN] = await medians(provider, [close, far]);
  // As a ratio within one run, and wide: a comparison that stops early, or of all tokens, is far outside.
  const ratio = closeMs / farMs;
  assert(ratio > 0.5 && ratio < 2, `close ${closeMs} ms, far ${farMs} ms`);
});
