/** `client:tool_call`. */
import { parseToolCallReq } from "../../protocol/parse.ts";
import type { CallToolResult } from "../../protocol/tools.ts";
import type { McpHost } from "../host.ts";

export async function handleToolCall(host: McpHost, body: unknown): Promise<CallToolResult> {
  return await host.calls.call(parseToolCallReq(body));
}
