import { assertEquals } from "@std/assert";
import { rateOf, TokenBucket } from "../../../src/async/token_bucket.ts";

Deno.test("a bucket allows a burst, and then its rate per second", () => {
  let nowMs = 0;
  const bucket = new TokenBucket({ burst: 10, perSecond: 2 }, () => nowMs);
  assertEquals([bucket.take(6), bucket.take(4), bucket.take()], [true, true, false]);
  nowMs = 500;
  assertEquals([bucket.take(), bucket.take()], [true, false]);
  nowMs = 3_600_000;
  assertEquals([bucket.take(11), bucket.take(10), bucket.take()], [false, true, false]);
});

Deno.test("waitMs() tells when so many tokens will be left, also after a charge that nothing was left for", () => {
  let nowMs = 0;
  const bucket = new TokenBucket(rateOf(1, 100), () => nowMs);
  assertEquals(bucket.waitMs(), 0);
  bucket.charge();
  assertEquals(bucket.waitMs(), 100);
  bucket.charge();
  assertEquals(bucket.waitMs(), 200);
  nowMs = 150;
  assertEquals([bucket.waitMs(), bucket.take()], [50, false]);
  nowMs = 200;
  assertEquals([bucket.waitMs(), bucket.take()], [0, true]);
});

Deno.test("a rate of none allows nothing", () => {
  const bucket = new TokenBucket({ burst: 0, perSecond: 0 });
  assertEquals([bucket.take(), bucket.waitMs()], [false, Infinity]);
});
