import { assertEquals } from "@std/assert";
import { tellingLines } from "../../../../src/mcp/supervision/server_state.ts";

const frames = (count: number) =>
  Array.from({ length: count }, (_, index) => `    at frame ${index} (file.js:1:1)`);

Deno.test("tellingLines() keeps the line that tells the error above a stack trace", () => {
  for (
    const line of [
      "Error: Cannot find module '/x/server.mjs'",
      "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
      "TypeError: x is not a function",
      "java.lang.IllegalStateException: no config",
      "panic: runtime error: index out of range",
      "thread 'main' panicked at src/main.rs:2:5:",
      "error: unknown option --x",
      "npm error: nothing",
      "FATAL: cannot bind",
      "Fatal error: Uncaught exception",
      "sqlite3.OperationalError: no such table",
    ]
  ) {
    assertEquals(tellingLines(["starting", line, ...frames(20)].join("\n"), 2), [
      line,
      ...frames(20).slice(-2),
    ]);
    assertEquals(tellingLines(["starting", line].join("\n"), 2), ["starting", line]);
  }
});

Deno.test("tellingLines() has no colours and no empty lines, and needs no error", () => {
  assertEquals(tellingLines("\x1b[0m\x1b[1m\x1b[31merror\x1b[0m: no\r\n\n  a\nb\n", 2), [
    "error: no",
    "  a",
    "b",
  ]);
  assertEquals(tellingLines("one\ntwo\nthree", 2), ["two", "three"]);
  assertEquals(tellingLines("", 2), []);
});
