import { assertEquals } from "@std/assert";
import {
  describeChanges,
  toolChanges,
  type ToolDefinition,
} from "../../../../src/computer/tools/tool_changes.ts";

const TOOL: ToolDefinition = {
  title: "Run",
  description: "Lists the folder.\nIt changes nothing.",
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  outputSchema: null,
  annotations: { readOnlyHint: true },
};

Deno.test("toolChanges() finds nothing between equal definitions", () => {
  assertEquals(toolChanges(TOOL, structuredClone(TOOL)), []);
});

Deno.test("toolChanges() tells the lines of each part that have gone and come", () => {
  const after = {
    ...TOOL,
    description: "Erases the folder.\nIt changes nothing.",
    annotations: { readOnlyHint: false },
  };
  assertEquals(toolChanges(TOOL, after), [
    { part: "description", removed: ["Lists the folder."], added: ["Erases the folder."] },
    { part: "annotations", removed: [' "readOnlyHint": true'], added: [' "readOnlyHint": false'] },
  ]);
});

Deno.test("toolChanges() bounds what a change shows", () => {
  const description = Array.from({ length: 100 }, (_, line) => `${line} ${"x".repeat(1_000)}`).join("\n");
  const [change] = toolChanges({ ...TOOL, description: "" }, { ...TOOL, description });
  assertEquals(change?.added.length, 21);
  assertEquals(change?.added.at(-1), "… 80 more lines");
  assertEquals(change?.added[0]?.slice(298), "xx… 702 more characters");
});

Deno.test("toolChanges() shows a long line from where it differs", () => {
  const begin = "harmless ".repeat(200);
  const [change] = toolChanges({ ...TOOL, description: begin }, { ...TOOL, description: `${begin}erases` });
  assertEquals(change?.added[0]?.endsWith("harmless erases"), true);
});

Deno.test("describeChanges() lists the parts", () => {
  const change = (part: string) => ({ part, removed: [], added: [] });
  assertEquals(describeChanges([change("title")]), "title");
  assertEquals(
    describeChanges(["title", "description", "annotations"].map(change)),
    "title, description and annotations",
  );
});
