/** The tools of an office for the helpers of the Anthropic SDK: as an MCP client. */
import { isRecord } from "../../json/json.ts";
import type { ToolParts } from "./ai_sdk.ts";
import type { McpTool, McpToolResult } from "../../local_tools/mcp.ts";
import { type ModelContent, toModelContent } from "./model_content.ts";

/** A tool, as an MCP client lists it. */
export interface ClientTool {
  /** The name to call it by. */
  name: string;
  /** The description, for the model. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema: { type: "object"; [member: string]: unknown };
  /** MCP's hints. */
  annotations?: Record<string, unknown>;
}

/** A result, as an MCP client returns it. */
export interface ClientResult {
  /** Texts and pictures. */
  content: ModelContent[];
  /** The result for programs. */
  structuredContent?: object;
  /** Whether the tool failed. */
  isError?: boolean;
}

/** An MCP client as the helpers of the Anthropic SDK take it: `mcpTools((await client.listTools()).tools, client)`. */
export interface ToolkitMcpClient {
  /** Lists the tools, all on one page. */
  listTools(): Promise<{ tools: ClientTool[] }>;
  /** Calls a tool. A failure is a result with `isError`, whose text tells a model what to do. */
  callTool(
    call: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: unknown,
    options?: { signal?: AbortSignal },
  ): Promise<ClientResult>;
}

/**
 * Makes the object for the Anthropic SDK, whose helpers pass no signal on: `signal` ends all calls of this object.
 */
export function makeMcpClient(
  { list, call }: ToolParts,
  signal: AbortSignal | undefined,
): ToolkitMcpClient {
  return {
    listTools: async () => ({ tools: (await list()).map(toClientTool) }),
    callTool: async ({ name, arguments: args = {} }, _resultSchema, options = {}) => {
      const signals = [signal, options.signal].filter((each) => each !== undefined);
      return toClientResult(await call(name, args, { signal: AbortSignal.any(signals) }));
    },
  };
}

function toClientTool({ name, description, inputSchema, annotations }: McpTool): ClientTool {
  return structuredClone({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { ...inputSchema },
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  });
}

function toClientResult(result: McpToolResult): ClientResult {
  const { structuredContent, isError } = result;
  return {
    content: toModelContent(result),
    ...(isRecord(structuredContent) ? { structuredContent } : {}),
    ...(isError === true ? { isError } : {}),
  };
}
