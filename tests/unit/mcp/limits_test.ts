/** How often a list that changes all the time is read. */
import { assertEquals } from "@std/assert";
import { relistIntervalMs } from "../../../src/mcp/limits.ts";

const MIB = 1024 * 1024;

Deno.test("a short list is read again soon, and a long one at no more than 1 MiB per second", () => {
  const cases: [bytes: number, intervalMs: number][] = [[0, 200], [100_000, 200], [MIB, 1_000], [
    8 * MIB,
    8_000,
  ]];
  for (const [bytes, intervalMs] of cases) assertEquals(relistIntervalMs(bytes), intervalMs, `${bytes}`);
});
