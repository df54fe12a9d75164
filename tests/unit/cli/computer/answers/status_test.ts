import { assertEquals, assertStringIncludes } from "@std/assert";
import { showHistory } from "../../../../../src/cli/computer/answers/status.ts";
import type { HostedComputer } from "../../../../../src/cli/computer/hosted_computer.ts";
import type { AgentReadRecord, ToolCallRecord } from "../../../../../src/computer/shared/computer_events.ts";

const READ: AgentReadRecord = {
  kind: "read",
  id: 1,
  callId: "r1",
  reqId: "a",
  agent: "ada",
  client: undefined,
  server: undefined,
  read: "finder",
  query: "toner",
  documents: ["a", "b", "c", "d"].map((name) => `dpe://host/${name}.txt`),
  moreDocuments: 3,
  reads: 2,
  firstAt: new Date(60_000),
  lastAt: new Date(137_000),
  outcome: "ok",
};

Deno.test("a search in the history has its query, the first documents in the answer, and the last time", () => {
  const hosted = { computer: { history: [READ, { ...READ, id: 2, outcome: "refused" }] } };
  const { text, value } = showHistory(hosted as unknown as HostedComputer, { sinceId: 0 });
  assertStringIncludes(text, "1970-01-01T00:02:17.000Z");
  assertStringIncludes(text, "finder toner → dpe://host/a.txt, dpe://host/b.txt, dpe://host/c.txt, 4 more");
  assertStringIncludes(text, "read 2 times");
  assertStringIncludes(text, "refused 2 times");
  const { history: [entry] } = value as { history: Record<string, unknown>[] };
  assertEquals([entry?.["query"], entry?.["more_documents"], entry?.["first_at"], entry?.["last_at"]], [
    "toner",
    3,
    "1970-01-01T00:01:00.000Z",
    "1970-01-01T00:02:17.000Z",
  ]);
});

Deno.test("calls that a pause refused have their count, and the last time", () => {
  const { id, callId, reqId, agent, client, server } = READ;
  const refused: ToolCallRecord = {
    ...{ id, callId, reqId, agent, client, server },
    kind: "call",
    tool: "rm",
    startedAt: READ.firstAt,
    lastAt: READ.lastAt,
    calls: 3,
    durationMs: 0,
    outcome: "refused",
    errorCode: 4006,
    arguments: "{}",
    isCut: false,
  };
  const hosted = { computer: { history: [refused] } };
  const { text, value } = showHistory(hosted as unknown as HostedComputer, { sinceId: 0 });
  assertStringIncludes(text, "1970-01-01T00:02:17.000Z");
  assertStringIncludes(text, "refused 3 times");
  const { history: [entry] } = value as { history: Record<string, unknown>[] };
  assertEquals([entry?.["calls"], entry?.["last_at"]], [3, "1970-01-01T00:02:17.000Z"]);
});
