import { assertEquals } from "@std/assert";
import { Drain } from "../../../src/server/drain.ts";
import { LogBook } from "../../fixtures/log_book.ts";

Deno.test("the log tells the time of a drain in whole milliseconds", async () => {
  const logger = new LogBook();
  const engine = { size: 0, terminate: () => {} };
  await new Drain().run({ connections: new Map(), engine, timeoutMs: 3999.68, logger });
  assertEquals(logger.lines[0]?.fields["timeout_ms"], 4_000);
});
