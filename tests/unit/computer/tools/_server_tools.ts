/** MCP servers with tools, for tests of what a Computer makes of them. */
import { parseConfig } from "../../../../src/config/config.ts";
import type { ServerTools } from "../../../../src/computer/tools/names.ts";
import { readTool } from "../../../../src/mcp/entries.ts";

/** A server with tools, which are given by name or as `tools/list` has them. */
export function serverTools(
  name: string,
  tools: readonly (string | Record<string, unknown>)[],
  settings: Record<string, unknown> = {},
  isListed = true,
): ServerTools {
  const entry = { type: "stdio", server_parameters: { command: "x" }, ...settings, name };
  const [config] = parseConfig({ servers: [entry] }).servers;
  if (config === undefined) throw new TypeError("no server");
  const entries = tools.map((tool) =>
    typeof tool === "string" ? { name: tool, inputSchema: { type: "object" } } : tool
  );
  return {
    server: { name, config, use: () => Promise.reject(new TypeError("not called")) },
    tools: entries.map((tool) => readTool(tool, () => {})).filter((tool) => tool !== undefined),
    isListed,
  };
}
