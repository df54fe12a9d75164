import { assertEquals } from "@std/assert";
import { ToolCallHistory, type ToolCallRecord } from "../../../../src/computer/tools/history.ts";

function record(changes: Partial<ToolCallRecord>): ToolCallRecord {
  return {
    reqId: "a",
    agent: "ada",
    server: "s",
    tool: "t",
    startedAt: new Date(0),
    durationMs: 1,
    outcome: "ok",
    errorCode: undefined,
    ...changes,
  };
}

Deno.test("the last 100 calls are remembered, oldest first, and their servers one entry a call", () => {
  const history = new ToolCallHistory();
  for (let i = 0; i < 150; i++) history.push(record({ reqId: `${i}`, server: `s${i % 2}` }));
  assertEquals([history.records.length, history.records[0]?.reqId, history.records[99]?.reqId], [
    100,
    "50",
    "149",
  ]);
  assertEquals([history.servers.length, history.servers.slice(0, 3)], [100, ["s0", "s1", "s0"]]);
});

Deno.test("a call of a tool that does not exist is remembered, and changes nothing in the order of servers", () => {
  const history = new ToolCallHistory();
  history.push(record({}));
  for (let i = 0; i < 150; i++) {
    history.push(record({ server: undefined, outcome: "error", errorCode: 4001 }));
  }
  assertEquals(history.records.length, 100);
  assertEquals(history.servers, ["s"]);
});

Deno.test("the history that was handed out does not change", () => {
  const history = new ToolCallHistory();
  const before = history.records;
  const servers = history.servers;
  history.push(record({}));
  assertEquals([before, servers, history.servers], [[], [], ["s"]]);
});
