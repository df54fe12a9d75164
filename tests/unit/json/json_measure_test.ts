import { assert } from "@std/assert";
import { approximateSizeBytes } from "../../../src/json/json.ts";

Deno.test("the approximate size grows with texts, keys and members", () => {
  assert(approximateSizeBytes("x".repeat(1_000)) >= 1_000);
  assert(approximateSizeBytes({ ["k".repeat(1_000)]: 1 }) >= 1_000);
  assert(approximateSizeBytes(Array(1_000).fill(1)) >= 1_000);
  assert(approximateSizeBytes(null) > 0);
});
