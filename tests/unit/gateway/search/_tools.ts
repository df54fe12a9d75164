/** Tools of Computers for the tests of the search. */
import type { Json } from "../../../../src/local_tools/mcp.ts";
import type { OfficeTool } from "../../../../src/agent/toolkit/toolset.ts";

/** A tool of a Computer. */
export function officeTool(
  name: string,
  description: string,
  { computer = "laptop", clientName = name, schema = {}, annotations = {}, meta = {} }: {
    readonly computer?: string;
    /** The name for clients. */
    readonly clientName?: string;
    readonly schema?: Json;
    readonly annotations?: Json;
    readonly meta?: Json;
  } = {},
): OfficeTool {
  const inputSchema = { type: "object" as const, ...schema };
  const definition = { name: clientName, description, inputSchema, annotations, _meta: meta };
  return { computer, tool: name, definition };
}
