import { assertEquals } from "@std/assert";
import type { McpTool } from "../../../../src/agent/toolkit/mcp.ts";
import { toListedTool } from "../../../../src/agent/toolkit/openai.ts";

Deno.test("toListedTool() gives a schema that a toolkit may modify", () => {
  const tool: McpTool = {
    name: "send",
    inputSchema: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  };
  const before = structuredClone(tool);
  const { inputSchema } = toListedTool(tool);
  inputSchema.properties["cc"] = { type: "string" };
  inputSchema.required.push("cc");
  assertEquals(tool, before);
});

Deno.test("toListedTool() adds what a schema leaves out", () => {
  const { inputSchema } = toListedTool({ name: "stop", inputSchema: { type: "object" } });
  assertEquals<unknown>(inputSchema, { type: "object", properties: {}, required: [] });
});
