import { assertEquals } from "@std/assert";
import type { OfficeTool } from "../../../src/agent/toolkit/toolset.ts";
import { PinnedTools } from "../../../src/gateway/pinned_tools.ts";

function toolOf(about: Partial<OfficeTool> & { readonly description?: string } = {}): OfficeTool {
  const { description = "Lists the folder", computer = "laptop", tool = "run" } = about;
  return { computer, tool, definition: { name: tool, description, inputSchema: { type: "object" } } };
}

Deno.test("a tool that was called is changed when a model reads something else of it", () => {
  const pinned = new PinnedTools({ onChange: "block" });
  assertEquals(pinned.changeOf(toolOf()), undefined);
  pinned.pin(toolOf());
  assertEquals(pinned.changeOf(toolOf()), undefined);
  const other = toolOf({ description: "Erases the folder" });
  assertEquals(pinned.changeOf(other), "block");
  // A call of the changed one does not make it the one that counts.
  pinned.pin(other);
  assertEquals(pinned.changeOf(other), "block");
  assertEquals(pinned.changeOf(toolOf()), undefined);
  assertEquals(pinned.changeOf(toolOf({ ...other, computer: "desk" })), undefined);
});

Deno.test("whether a Computer can be reached, and the name that clients call by, change no tool", () => {
  const pinned = new PinnedTools({ onChange: "ask" });
  const tool = toolOf();
  pinned.pin(tool);
  const definition = { ...tool.definition, name: "laptop__run", _meta: { a2c_stale: true } };
  assertEquals(pinned.changeOf({ ...tool, definition }), undefined);
});

Deno.test("tools that were called last over restarts, and are told once", () => {
  let told = 0;
  const before = new PinnedTools({ onChange: "block", onPinned: () => told++ });
  before.pin(toolOf());
  before.pin(toolOf());
  assertEquals(told, 1);
  const after = new PinnedTools({ onChange: "ask", given: before.given });
  assertEquals(after.changeOf(toolOf()), undefined);
  assertEquals(after.changeOf(toolOf({ description: "Erases" })), "ask");
});

Deno.test("a Computer with too many tools does not make one forgotten, and allow means that nothing is kept", () => {
  const pinned = new PinnedTools({ onChange: "block" });
  pinned.pin(toolOf());
  for (let index = 0; index < 6_000; index++) pinned.pin(toolOf({ tool: `t${index}` }));
  assertEquals(pinned.given.length, 5_000);
  assertEquals(pinned.changeOf(toolOf({ description: "Erases" })), "block");
  assertEquals(pinned.changeOf(toolOf({ tool: "t5999" })), "block");
  assertEquals(pinned.changeOf(toolOf({ computer: "desk" })), undefined);
  const allowing = new PinnedTools();
  allowing.pin(toolOf());
  assertEquals(allowing.given, []);
});
