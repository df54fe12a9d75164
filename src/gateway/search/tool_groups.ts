/** Tools that several Computers have, told once: with many equal Computers, one tool would fill the whole answer. */
import type { OfficeTool } from "../../agent/toolkit/toolset.ts";

/** A tool, and the same one on other Computers. */
export interface ToolGroup {
  readonly tool: OfficeTool;
  readonly elsewhere: readonly OfficeTool[];
}

const MAX_LOOKED_AT = 2_000;

/** The first `limit` groups of these tools, in their order. */
export function groupEqual(tools: readonly OfficeTool[], limit: number): ToolGroup[] {
  const groups = new Map<string, { tool: OfficeTool; elsewhere: OfficeTool[] }>();
  const names = new Set<string>();
  for (const tool of tools.slice(0, MAX_LOOKED_AT)) {
    const isFull = groups.size >= limit;
    // To write a definition takes time, and most tools have another name.
    if (isFull && !names.has(tool.tool)) continue;
    const key = keyOf(tool);
    const group = groups.get(key);
    if (group !== undefined) {
      group.elsewhere.push(tool);
    } else if (!isFull) {
      groups.set(key, { tool, elsewhere: [] });
      names.add(tool.tool);
    }
  }
  return [...groups.values()];
}

/** What is the same in equal tools: all that a model reads, apart from the name that the gateway gave. */
function keyOf({ tool, definition }: OfficeTool): string {
  const { title, description, inputSchema, outputSchema, annotations } = definition;
  return JSON.stringify([tool, title, description, inputSchema, outputSchema, annotations]);
}
