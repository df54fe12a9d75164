import { assertGreaterOrEqual, assertLessOrEqual } from "@std/assert";
import { reconnectBackoff, rejoinBackoff } from "../../../src/link/retry.ts";

const CASES = [
  { what: "reconnectBackoff()", open: reconnectBackoff, firstMs: 500, maxMs: 10_000 },
  { what: "rejoinBackoff()", open: rejoinBackoff, firstMs: 250, maxMs: 5_000 },
] as const;

for (const { what, open, firstMs, maxMs } of CASES) {
  Deno.test(`${what} begins with the default or with the option, and doubles up to its longest wait`, () => {
    for (
      const [options, startMs] of [[{}, firstMs], [{ reconnectDelayMs: 20, rejoinDelayMs: 20 }, 20]] as const
    ) {
      const backoff = open(options);
      for (let stepMs = startMs; stepMs < 4 * maxMs; stepMs *= 2) {
        const waitMs = backoff.next();
        const limitMs = Math.min(stepMs, maxMs);
        assertGreaterOrEqual(waitMs, limitMs / 2);
        assertLessOrEqual(waitMs, limitMs);
      }
    }
  });
}
