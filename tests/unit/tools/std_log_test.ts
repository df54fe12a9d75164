// The stand-in has to behave as `jsr:@std/log` does in what `src/log.ts` and its users rely on.

import { assertEquals } from "@std/assert";
import { BaseHandler, Logger } from "@std/log";

class MemoryHandler extends BaseHandler {
  readonly lines: string[] = [];

  override log(line: string): void {
    this.lines.push(line);
  }
}

Deno.test("a logger passes on what reaches its own level and its handlers' levels", () => {
  const all = new MemoryHandler("DEBUG");
  const errors = new MemoryHandler("ERROR");
  const logger = new Logger("app", "INFO", { handlers: [all, errors] });
  logger.debug("one");
  logger.warn("two");
  logger.critical("three");
  assertEquals(all.lines, ["WARN two", "CRITICAL three"]);
  assertEquals(errors.lines, ["CRITICAL three"]);
});

Deno.test("a logger returns the message and evaluates a lazy one only if it is logged", () => {
  const memory = new MemoryHandler("DEBUG");
  const logger = new Logger("app", "INFO", { handlers: [memory] });
  assertEquals(logger.info({ a: 1 }), { a: 1 });
  assertEquals(logger.info(() => "lazy"), "lazy");
  assertEquals(logger.debug(() => "never"), undefined);
  assertEquals(memory.lines, ['INFO {"a":1}', "INFO lazy"]);
});
