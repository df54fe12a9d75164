import { assertEquals } from "@std/assert";
import { emptyText } from "../../../../src/cli/answers/requests.ts";

Deno.test("emptyText() names the MCP servers that do not run, or says how to see them", () => {
  const textOf = (states: Record<string, string>) =>
    emptyText("no tools", new Map(Object.entries(states).map(([name, status]) => [name, { status }])));
  assertEquals(textOf({}), "no tools");
  assertEquals(textOf({ shop: "running" }), "no tools");
  assertEquals(textOf({ shop: "running", x: "starting" }), 'no tools: server "x" is starting');
  assertEquals(
    textOf({ x: "failed", "y\nz": "stopped" }),
    'no tools: server "x" failed, server "y z" is stopped; "status" shows why',
  );
  assertEquals(textOf({ x: "retrying" }), 'no tools: server "x" is retrying; "status" shows why');
  assertEquals(
    emptyText("no windows", undefined),
    'no windows; MCP servers of the Computer may still be starting: "a2c-smcp computer status" on that machine shows them',
  );
});
