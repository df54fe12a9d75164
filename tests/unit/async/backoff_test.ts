import { assert, assertRejects } from "@std/assert";
import { Backoff, delay } from "../../../src/async/backoff.ts";

function assertBetween(value: number, low: number, high: number): void {
  assert(value >= low && value <= high, `${value} is not in [${low}, ${high}]`);
}

Deno.test("a back-off doubles up to its maximum, each wait in the upper half of its step", () => {
  const backoff = new Backoff({ firstMs: 1_000, maxMs: 5_000 });
  for (const stepMs of [1_000, 2_000, 4_000, 5_000, 5_000]) assertBetween(backoff.next(), stepMs / 2, stepMs);
});

Deno.test("a back-off with full jitter spreads its waits over the whole step", () => {
  const waits = Array.from(
    { length: 400 },
    () => new Backoff({ firstMs: 1_000, maxMs: 5_000, jitter: "full" }).next(),
  );
  for (const wait of waits) assertBetween(wait, 0, 1_000);
  const early = waits.filter((wait) => wait < 500).length;
  assertBetween(early, 100, 300);
});

Deno.test("a back-off that is reset starts again with its first wait", () => {
  const backoff = new Backoff({ firstMs: 10, maxMs: 1_000 });
  for (let i = 0; i < 5; i++) backoff.next();
  backoff.reset();
  assertBetween(backoff.next(), 5, 10);
});

Deno.test("delay() resolves after its time and leaves no timer when it is aborted", async () => {
  const abort = new AbortController();
  await delay(1, abort.signal);
  const long = delay(60_000, abort.signal);
  abort.abort(new TypeError("enough"));
  await assertRejects(() => long, TypeError, "enough");
  await assertRejects(() => delay(60_000, abort.signal), TypeError, "enough");
});
