import { assertEquals } from "@std/assert";
import type { McpTool } from "../../../../src/local_tools/mcp.ts";
import { toOpenAiTool } from "../../../../src/agent/toolkit/openai.ts";

function schemaOf(tool: McpTool) {
  const parts = {
    list: () => Promise.resolve([tool]),
    call: () => Promise.resolve({ content: [] }),
    needsApproval: () => false,
  };
  return toOpenAiTool(tool, parts).parameters;
}

Deno.test("toOpenAiTool() gives a schema that a toolkit may modify", () => {
  const tool: McpTool = {
    name: "send",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  };
  const before = structuredClone(tool);
  const schema = schemaOf(tool);
  schema.properties["cc"] = { type: "string" };
  schema.required.push("cc");
  assertEquals(tool, before);
});

Deno.test("toOpenAiTool() adds what a schema leaves out", () => {
  const schema = schemaOf({ name: "stop", inputSchema: { type: "object" } });
  assertEquals<unknown>(schema, { type: "object", properties: {}, required: [] });
});
