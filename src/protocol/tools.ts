/** Tools and their calls (`data-structures.md`, 工具相关结构). */
import type { AgentCallData } from "./call.ts";

/** The name of an MCP server. */
export type SERVER_NAME = string;
/** The name of a tool. */
export type TOOL_NAME = string;
/** A value that tool metadata may hold: nested structures travel as JSON strings. */
export type AttributeValue = string | number | boolean | null | string[];
/** Flat tool metadata. */
export type Attributes = Record<string, AttributeValue>;

/** The key of {@linkcode SMCPTool.meta} whose value is a {@linkcode ToolMeta} as a JSON string. */
export const A2C_TOOL_META = "a2c_tool_meta";
/** The key of {@linkcode SMCPTool.meta} whose value is the MCP tool annotations as a JSON string. */
export const MCP_TOOL_ANNOTATION = "MCP_TOOL_ANNOTATION";

/** `client:tool_call`. */
export interface ToolCallReq extends AgentCallData {
  computer: string;
  tool_name: string;
  params: Record<string, unknown>;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** A tool as an Agent sees it. */
export interface SMCPTool {
  /** What to call it by: the alias where one is configured. */
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  params_schema: Record<string, unknown>;
  /** JSON Schema of `structuredContent`, or null. */
  return_schema: Record<string, unknown> | null;
  meta?: Attributes | null;
}

/** What a Computer's configuration says of a tool. */
export interface ToolMeta {
  /** Run without a second confirmation. */
  auto_apply?: boolean | null;
  /** How to map results of different tools onto one shape; travels as data. */
  ret_object_mapper?: Record<string, unknown> | null;
  /** The name to list and call the tool by, in place of its own. */
  alias?: string | null;
  tags?: string[] | null;
}

/** `client:get_tools`. */
export interface GetToolsReq extends AgentCallData {
  computer: string;
}

/** The answer to `client:get_tools`. */
export interface GetToolsRet {
  tools: SMCPTool[];
  req_id: string;
}

/** One item of a tool result: MCP's text, image, audio, resource link or embedded resource. */
export interface ContentItem {
  type: string;
  text?: string;
  data?: string;
  mimeType?: string;
  uri?: string;
  resource?: Record<string, unknown>;
  annotations?: Record<string, unknown> | null;
  _meta?: Record<string, unknown> | null;
}

/** What {@linkcode CallToolResult.meta} may say; peers may add keys of their own. */
export interface ToolResultMeta {
  /** Which of 4001–4007 made the call fail; absent when the MCP server itself marked the result. */
  error_code?: number;
  /** The call ran out of time. */
  a2c_timeout?: boolean;
  /** The call was cancelled. */
  a2c_cancelled?: boolean;
  [key: string]: unknown;
}

/**
 * The answer to `client:tool_call`: an MCP `CallToolResult`, whose own metadata is spelled `meta` on this wire.
 * A tool that fails is `isError`, never a rejected request.
 */
export interface CallToolResult {
  content: ContentItem[];
  structuredContent?: Record<string, unknown> | null;
  isError?: boolean;
  meta?: ToolResultMeta | null;
}
