import { assertEquals, assertThrows } from "@std/assert";
import { parseMilliseconds, parseSeconds } from "../../../src/cli/options.ts";
import { InvalidArgumentError } from "commander";

Deno.test("parseSeconds() takes a number as seconds, and any unit", () => {
  const read = ["2", "0.2", "500ms", "5s", "1.5m", "1h", "0.3s"].map(parseSeconds);
  assertEquals(read, [2, 0.2, 0.5, 5, 90, 3600, 0.3]);
  for (const raw of ["", "0", "-1", "0s", "5 s", "5d", "s", "1e400", "5sm"]) {
    assertThrows(() => parseSeconds(raw), InvalidArgumentError, "500ms", raw);
  }
});

Deno.test("parseMilliseconds() takes a number as milliseconds, and any unit", () => {
  assertEquals(["25000", "500ms", "0.5s", "1.001s", "2m"].map(parseMilliseconds), [
    25_000,
    500,
    500,
    1_001,
    120_000,
  ]);
  for (const raw of ["", " ", "0", "1.5", "0.5ms", "-1s", "5S"]) {
    assertThrows(() => parseMilliseconds(raw), InvalidArgumentError, "5s", raw);
  }
});
