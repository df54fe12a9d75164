import { assertEquals, assertMatch } from "@std/assert";
import { callsText } from "../../../../src/cli/server/answers.ts";
import type { RateSample } from "../../../../src/server/observe/rates.ts";

function sample(
  refusals: RateSample["refusals"],
  { callsPerS = 0, errors = {} }: Partial<RateSample> = {},
): RateSample {
  return { at: "2026-01-01T00:00:00.000Z", callsPerS, p50Ms: undefined, p95Ms: undefined, errors, refusals };
}

Deno.test("callsText() tells the rate of now, and the errors and refusals of all samples", () => {
  const text = callsText([
    sample({ credentials: 2 }, { errors: { 404: 1 } }),
    sample({ credentials: 1, body_size: 4 }, { errors: { 404: 1, 4003: 3 } }),
    sample({}, { callsPerS: 2 }),
  ]);
  assertMatch(
    text,
    /^2\.0 per second; failed .*15 minutes: 2 with 404, 3 with 4003; refused .*15 minutes: 3 credentials, 4 body_size$/,
  );
  assertEquals(callsText([sample({})]), "0.0 per second");
});
