import { assertEquals, assertThrows } from "@std/assert";
import { parseMilliseconds, parseSeconds, sizeOf } from "../../../src/cli/options.ts";
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

Deno.test("sizeOf() takes a number as bytes, and units of 1,000 and of 1,024", () => {
  const read = ["5000", "16MB", "16MiB", "1.5 kib", "1.1mb", "1GB", "64KiB", "4096B"].map(sizeOf(1_000));
  assertEquals(read, [5_000, 16_000_000, 16_777_216, 1_536, 1_100_000, 1_000_000_000, 65_536, 4_096]);
  for (const raw of ["", "MB", "16M", "1.5", "1.5B", "-1MB", "16 TB", "1e6", "99999999999GB"]) {
    assertThrows(() => sizeOf(1_000)(raw), InvalidArgumentError, "16MiB", raw);
  }
  for (const raw of ["999", "0.5kb", "0"]) {
    assertThrows(() => sizeOf(1_000)(raw), InvalidArgumentError, "1000 bytes or more", raw);
  }
});
