import { assertEquals } from "@std/assert";
import { ToolCallHistory } from "../../../src/computer/history.ts";

Deno.test("the last 100 calls are remembered, oldest first, and their servers one entry a call", () => {
  const history = new ToolCallHistory();
  for (let i = 0; i < 150; i++) {
    const startedAt = new Date(0);
    history.push({ reqId: `${i}`, server: `s${i % 2}`, tool: "t", startedAt, durationMs: 1, outcome: "ok" });
  }
  assertEquals([history.records.length, history.records[0]?.reqId, history.records[99]?.reqId], [
    100,
    "50",
    "149",
  ]);
  assertEquals([history.servers.length, history.servers.slice(0, 3)], [100, ["s0", "s1", "s0"]]);
});

Deno.test("the history that was handed out does not change", () => {
  const history = new ToolCallHistory();
  const before = history.records;
  const servers = history.servers;
  history.push({ reqId: "a", server: "s", tool: "t", startedAt: new Date(0), durationMs: 1, outcome: "ok" });
  assertEquals([before, servers, history.servers], [[], [], ["s"]]);
});
