import { assertEquals, assertLess } from "@std/assert";
import { toWaitingEntry, type WaitingCall } from "../../../../../src/cli/computer/people/waiting.ts";

const LONG = "x".repeat(1_000_000);

function waitingCall(lines: readonly string[]): WaitingCall {
  const changes = [{ part: "description", removed: lines, added: lines }];
  return {
    id: "c1",
    since: new Date(0),
    kind: "call",
    changed: { what: "description", changes },
    request: {
      agent: "ada",
      claimedAgent: `ada/${LONG}`,
      client: LONG,
      isLocal: false,
      mustAsk: false,
      reqId: "1",
      callId: "c1",
      server: "shell",
      tool: "run",
      name: "run",
      title: LONG,
      description: LONG,
      annotations: { readOnlyHint: true, destructiveHint: LONG, further: LONG },
      fingerprint: "f",
      definition: {
        title: LONG,
        description: LONG,
        inputSchema: {},
        outputSchema: null,
        annotations: undefined,
      },
      changes,
      params: {},
      timeLeftMs: 1_000,
      signal: new AbortController().signal,
    },
  };
}

Deno.test("what others say of a call is told in bounds, however long it is", () => {
  for (const lines of [[LONG], Array.from({ length: 100_000 }, () => "a line")]) {
    const entry = toWaitingEntry(waitingCall(lines));
    assertLess(JSON.stringify(entry).length, 150_000);
    assertEquals(entry["annotations"], { readOnlyHint: true });
  }
});

Deno.test("the lines of a change are told whole where they fit", () => {
  const lines = ["one", "y".repeat(10_000), "three"];
  const { changes } = toWaitingEntry(waitingCall(lines));
  assertEquals(changes, [{ member: "description", removed: lines, added: lines }]);
});
