// The stand-in has to behave as `jsr:@std/log` does in what `src/log.ts` and its users rely on.

import { assertEquals } from "@std/assert";
import { BaseHandler, ConsoleHandler, formatters, getLogger, LogLevels, LogRecord, setup } from "@std/log";

class MemoryHandler extends BaseHandler {
  readonly lines: string[] = [];

  override log(line: string): void {
    this.lines.push(line);
  }
}

Deno.test("a logger passes on what reaches its own level and its handlers' levels", () => {
  const all = new MemoryHandler("DEBUG");
  const errors = new MemoryHandler("ERROR");
  setup({ handlers: { all, errors }, loggers: { app: { level: "INFO", handlers: ["all", "errors"] } } });
  getLogger("app").debug("one");
  getLogger("app").warn("two");
  getLogger("app").critical("three");
  assertEquals(all.lines, ["WARN two", "CRITICAL three"]);
  assertEquals(errors.lines, ["CRITICAL three"]);
  setup({});
});

Deno.test("a logger returns the message and evaluates a lazy one only if it is logged", () => {
  const memory = new MemoryHandler("DEBUG");
  setup({ handlers: { memory }, loggers: { app: { level: "INFO", handlers: ["memory"] } } });
  assertEquals(getLogger("app").info({ a: 1 }), { a: 1 });
  assertEquals(getLogger("app").info(() => "lazy"), "lazy");
  assertEquals(getLogger("app").debug(() => "never"), undefined);
  assertEquals(memory.lines, ['INFO {"a":1}', "INFO lazy"]);
  setup({});
});

Deno.test("a logger that no configuration names is silent", () => {
  assertEquals(getLogger("nobody").handlers, []);
});

Deno.test("setup() sets up the new handlers and destroys the old ones", () => {
  const calls: string[] = [];
  class CallHandler extends MemoryHandler {
    override setup(): void {
      calls.push("setup");
    }

    override destroy(): void {
      calls.push("destroy");
    }
  }
  setup({ handlers: { one: new CallHandler("INFO") } });
  setup({});
  assertEquals(calls, ["setup", "destroy"]);
});

Deno.test("jsonFormatter() writes level, time, message and arguments", () => {
  const record = new LogRecord({ msg: "hello", args: [{ a: 1 }], level: LogLevels.INFO, loggerName: "app" });
  assertEquals(JSON.parse(formatters.jsonFormatter(record)), {
    level: "INFO",
    datetime: record.datetime.getTime(),
    message: "hello",
    args: { a: 1 },
  });
});

Deno.test("a console handler formats without colours when told so", () => {
  const record = new LogRecord({ msg: "hello", args: [], level: LogLevels.ERROR, loggerName: "app" });
  assertEquals(new ConsoleHandler("INFO", { useColors: false }).format(record), "ERROR hello");
});
