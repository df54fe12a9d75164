import { assertEquals } from "@std/assert";
import { silentLogger } from "../../../src/log.ts";
import { RefusalLog } from "../../../src/server/refusal_log.ts";

Deno.test("RefusalLog writes the first lines of a window, then how many more there were", () => {
  const lines: unknown[] = [];
  const logger = { ...silentLogger, warn: (...line: unknown[]) => void lines.push(line) };
  const log = new RefusalLog(logger, { maxLines: 2, windowMs: 60_000 });
  for (let i = 0; i < 5; i++) log.warn("Refused", { i });
  log.close();
  assertEquals(lines, [
    ["Refused", { i: 0 }],
    ["Refused", { i: 1 }],
    ["left out log lines of refused connections", { lines_left_out: 3 }],
  ]);
});
