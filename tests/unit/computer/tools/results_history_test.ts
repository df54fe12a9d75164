import { assertEquals } from "@std/assert";
import { ToolCallHistory, type ToolCallRecord } from "../../../../src/computer/tools/results.ts";

function record(changes: Partial<ToolCallRecord>): ToolCallRecord {
  return {
    reqId: "a",
    agent: "ada",
    client: undefined,
    server: "s",
    tool: "t",
    startedAt: new Date(0),
    durationMs: 1,
    outcome: "ok",
    errorCode: undefined,
    ...changes,
  };
}

Deno.test("the last 100 calls are kept, oldest first, and their servers with one entry for each call", () => {
  const history = new ToolCallHistory();
  for (let i = 0; i < 150; i++) history.push(record({ reqId: `${i}`, server: `s${i % 2}` }));
  assertEquals([history.records.length, history.records[0]?.reqId, history.records[99]?.reqId], [
    100,
    "50",
    "149",
  ]);
  assertEquals([history.servers.length, history.servers.slice(0, 3)], [100, ["s0", "s1", "s0"]]);
});

Deno.test("a call of a tool that does not exist is kept, and does not change the order of servers", () => {
  const history = new ToolCallHistory();
  history.push(record({}));
  for (let i = 0; i < 150; i++) {
    history.push(record({ server: undefined, outcome: "error", errorCode: 4001 }));
  }
  assertEquals(history.records.length, 100);
  assertEquals(history.servers, ["s"]);
});

Deno.test("a list of records does not change after it was returned", () => {
  const history = new ToolCallHistory();
  const before = history.records;
  const servers = history.servers;
  history.push(record({}));
  assertEquals([before, servers, history.servers], [[], [], ["s"]]);
});
