import { assertEquals, assertMatch } from "@std/assert";
import { callsText } from "../../../../src/cli/server/answers.ts";
import type { RateSample } from "../../../../src/server/observe/rates.ts";

function sample(refusals: RateSample["refusals"], callsPerS = 0): RateSample {
  return { at: "2026-01-01T00:00:00.000Z", callsPerS, p50Ms: undefined, p95Ms: undefined, refusals };
}

Deno.test("callsText() tells the rate of now, and the refusals of all samples by reason", () => {
  const text = callsText([
    sample({ credentials: 2 }),
    sample({ credentials: 1, body_size: 4 }),
    sample({}, 2),
  ]);
  assertMatch(text, /^2\.0 per second; refused .*15 minutes: 3 credentials, 4 body_size$/);
  assertEquals(callsText([sample({})]), "0.0 per second");
});
