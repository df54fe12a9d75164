import { assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { reconnectBackoff, rejoinBackoff, returnDelayMs } from "../../../src/link/retry.ts";

const CASES = [
  { what: "reconnectBackoff()", open: reconnectBackoff, firstMs: 500, maxMs: 10_000, fixed: 0 },
  { what: "rejoinBackoff()", open: rejoinBackoff, firstMs: 250, maxMs: 5_000, fixed: 1 / 2 },
] as const;

for (const { what, open, firstMs, maxMs, fixed } of CASES) {
  Deno.test(`${what} begins with the default or with the option, and doubles up to its longest wait`, () => {
    for (
      const [options, startMs] of [[{}, firstMs], [{ reconnectDelayMs: 20, rejoinDelayMs: 20 }, 20]] as const
    ) {
      const backoff = open(options);
      for (let stepMs = startMs; stepMs < 4 * maxMs; stepMs *= 2) {
        const waitMs = backoff.next();
        const limitMs = Math.min(stepMs, maxMs);
        assertGreaterOrEqual(waitMs, limitMs * fixed);
        assertLessOrEqual(waitMs, limitMs);
      }
    }
  });
}

Deno.test("returnDelayMs() waits as long as the Server asked, and spreads the return of its clients", () => {
  const waits = (retryAfterMs?: number) =>
    Array.from({ length: 400 }, () => returnDelayMs({}, { retryAfterMs })).toSorted((a, b) => a - b);
  const [lost, told] = [waits(), waits(5_000)];
  assertLessOrEqual(lost.at(0) ?? NaN, 200);
  assertGreaterOrEqual(lost.at(-1) ?? NaN, 800);
  assertGreaterOrEqual(told.at(0) ?? NaN, 5_000);
  assertGreaterOrEqual(told.at(-1) ?? NaN, 9_000);
  assertLessOrEqual(told.at(-1) ?? NaN, 10_000);
});
