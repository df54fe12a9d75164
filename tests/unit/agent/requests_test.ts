import { assertEquals, assertThrows } from "@std/assert";
import { toTimeoutSeconds } from "../../../src/agent/requests.ts";

// proves: data-timeout-seconds
Deno.test("toTimeoutSeconds() rounds up to whole seconds", () => {
  assertEquals([1, 1000, 1001, 86_400_000].map(toTimeoutSeconds), [1, 1, 2, 86_400]);
});

Deno.test("toTimeoutSeconds() refuses what is no time that a peer accepts", () => {
  for (const timeoutMs of [0, -1, NaN, Infinity, 86_400_001]) {
    assertThrows(() => toTimeoutSeconds(timeoutMs), RangeError, "timeoutMs");
  }
});
