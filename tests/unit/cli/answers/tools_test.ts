import { assertEquals } from "@std/assert";
import { noToolsText, toolsText } from "../../../../src/cli/answers/tools.ts";

Deno.test("toolsText() shows parameters and which may be left out", () => {
  const params_schema = {
    type: "object",
    properties: { message: { type: "string" }, times: { type: "integer" }, any: {} },
    required: ["message"],
  };
  assertEquals(
    toolsText([
      { name: "echo", description: "Says it\nagain", params_schema, return_schema: null },
      { name: "now", description: "", params_schema: {}, return_schema: null },
    ]),
    "echo(message: string, times?: integer, any?)\n    Says it\n    again\nnow()",
  );
});

Deno.test("noToolsText() names the MCP servers that do not run, or says how to see them", () => {
  const textOf = (states: Record<string, string>) =>
    noToolsText(new Map(Object.entries(states).map(([name, status]) => [name, { status }])));
  assertEquals(textOf({}), "no tools");
  assertEquals(textOf({ shop: "running" }), "no tools");
  assertEquals(textOf({ shop: "running", x: "starting" }), 'no tools: server "x" is starting');
  assertEquals(
    textOf({ x: "failed", "y\nz": "stopped" }),
    'no tools: server "x" failed, server "y z" is stopped; "status" shows why',
  );
  assertEquals(textOf({ x: "retrying" }), 'no tools: server "x" is retrying; "status" shows why');
  assertEquals(
    noToolsText(undefined),
    'no tools; MCP servers of the Computer may still be starting: "a2c-smcp computer status" on that machine shows them',
  );
});
