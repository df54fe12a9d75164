import { assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import {
  createLogger,
  LOG_MODULES,
  type LoggerOptions,
  parseLogLevels,
  withFields,
  withModule,
} from "../../src/log.ts";

/** A logger and the lines that it wrote, without their times. */
function logged(options: LoggerOptions = {}) {
  const lines: string[] = [];
  const log = createLogger({ ...options, write: (line) => lines.push(line) });
  return { log, lines, texts: () => lines.map((line) => line.replace(/^[\d-]{10}T[\d:]{8}\.\d{3}Z /, "")) };
}

Deno.test("parseLogLevels() parses a level for all modules, levels of modules, and both", () => {
  assertEquals(parseLogLevels("warn"), { level: "warn", modules: {} });
  assertEquals(parseLogLevels("mcp=debug"), { level: "info", modules: { mcp: "debug" } });
  assertEquals(parseLogLevels("error, mcp=debug,link=warn"), {
    level: "error",
    modules: { mcp: "debug", link: "warn" },
  });
});

Deno.test("parseLogLevels() uses the last of several levels", () => {
  assertEquals(parseLogLevels("mcp=debug,warn,mcp=error,info"), { level: "info", modules: { mcp: "error" } });
});

Deno.test("parseLogLevels() lists the known levels and modules in its errors", () => {
  assertThrows(() => parseLogLevels("loud"), RangeError, `"loud" (levels: debug, info, warn, error`);
  assertThrows(() => parseLogLevels("mcp=loud"), RangeError, `"loud"`);
  assertThrows(
    () => parseLogLevels("mpc=info"),
    RangeError,
    `"mpc" (modules: server, audit, hub, computer, agent`,
  );
  for (const text of ["", "info,", "mcp=", "=info", "mcp=info=warn", "toString=info"]) {
    assertThrows(() => parseLogLevels(text), RangeError, "Unknown log");
  }
});

Deno.test("a logger writes lines of its level and above, with its module", () => {
  const { log, texts } = logged({ module: "computer" });
  log.debug("one");
  log.info("two");
  log.error("three", { server: "files", why: "no such file", nothing: undefined });
  assertEquals(texts(), ["INFO  computer: two", 'ERROR computer: three server=files why="no such file"']);
});

Deno.test("a record with a module is filtered and named by that", () => {
  const { log, texts } = logged({
    module: "computer",
    levels: parseLogLevels("warn,mcp=debug,computer=error"),
  });
  withModule(log, "mcp").debug("listing", { server: "files" });
  withModule(log, "link").info("connection is back");
  withModule(log, "link").warn("connection lost");
  log.warn("nobody is asked");
  assertEquals(texts(), ["DEBUG mcp: listing server=files", "WARN  link: connection lost"]);
});

Deno.test("the innermost module of a record applies", () => {
  const { log, texts } = logged({ module: "computer" });
  withModule(withFields(withModule(log, "computer"), { server: "files" }), "mcp").info("running");
  withModule(log, "resources").info("taken", { module: "tools" });
  assertEquals(texts(), ["INFO  mcp: running server=files", "INFO  tools: taken"]);
});

Deno.test("an unknown module is named, and filtered by the general level", () => {
  const { log, texts } = logged({ levels: parseLogLevels("warn") });
  log.info("quiet", { module: "billing" });
  log.warn("heard", { module: "billing" });
  log.warn("odd", { module: 7 });
  assertEquals(texts(), ["WARN  billing: heard", "WARN  smcp: odd"]);
});

Deno.test("a JSON line is an object with the module", () => {
  const { log, lines } = logged({ module: "computer", format: "json" });
  withModule(log, "tools").warn("tool call\nrefused", { req_id: "r1", module: "tools" });
  assertEquals(lines.length, 1);
  assertMatch(
    lines[0] ?? "",
    /^{"time":"[^"]+Z","level":"warn","module":"tools","message":"tool call\\nrefused","req_id":"r1"}$/,
  );
});

Deno.test("withModule() adds a field that custom loggers receive", () => {
  const seen: unknown[] = [];
  const note = (...line: unknown[]) => void seen.push(line);
  withModule({ debug: note, info: note, warn: note, error: note }, "mcp").info("running", {
    server: "files",
  });
  assertEquals(seen, [["running", { module: "mcp", server: "files" }]]);
});

Deno.test("each log module has a description", () => {
  assertEquals(Object.keys(LOG_MODULES), [
    "server",
    "audit",
    "hub",
    "computer",
    "agent",
    "link",
    "mcp",
    "tools",
    "resources",
    "config",
    "documents",
  ]);
  for (const what of Object.values(LOG_MODULES)) assertMatch(what, /^[a-zA-Z]/);
});

Deno.test("a record is one line in both formats, with any characters in its message and fields", () => {
  const forged =
    "x\n12:00:00.000 INFO  server: joined\r\u2028\u2029\u0085\u009b2J\u001b[2J\u202e\u200f\ud800\u0000";
  for (const format of ["text", "json"] as const) {
    const { log, lines } = logged({ module: "server", format });
    log.warn(`event ${forged}`, { event: forged, list: [forged] });
    assertEquals(lines.length, 1);
    assertMatch(lines[0] ?? "", /^[^\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]+$/u);
    assertMatch(lines[0] ?? "", /x\\n12:00:00.000 INFO {2}server: joined\\r\\u2028\\u2029\\u0085\\u009b2J/);
  }
});

Deno.test("a JSON line parses to the logged values", () => {
  const { log, lines } = logged({ format: "json" });
  log.info("a\u2028b\u202ec", { name: "d\u009be" });
  const { message, name } = JSON.parse(lines[0] ?? "");
  assertEquals([message, name], ["a\u2028b\u202ec", "d\u009be"]);
});

Deno.test("no field replaces the time, the level or the message of a JSON line", () => {
  const { log, lines } = logged({ format: "json" });
  log.warn("said", { message: "not said", level: "debug", time: "never", other: 1 });
  const { time, ...rest } = JSON.parse(lines[0] ?? "");
  assertEquals(rest, { level: "warn", module: "smcp", message: "said", other: 1 });
  assertMatch(time, /Z$/);
});

Deno.test("a logger writes a line also for fields that JSON cannot have", () => {
  const cycle: Record<string, unknown> = {};
  cycle["self"] = cycle;
  for (const format of ["text", "json"] as const) {
    const { log, lines } = logged({ format });
    log.warn("refused a connection", { user: 7n, cycle, place: "lab" });
    const [line = ""] = lines;
    for (const part of ["7", "(cannot be written as JSON)", "lab"]) assertStringIncludes(line, part);
  }
});
