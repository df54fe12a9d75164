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
/** The key of a result's metadata whose value is what the server's VRL script made of the result, as a JSON string. */
export const A2C_VRL_TRANSFORMED = "a2c_vrl_transformed";

/** `client:tool_call`. */
export interface ToolCallReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** The name as listed. */
  tool_name: string;
  /** The arguments. */
  params: Record<string, unknown>;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** A tool as an Agent sees it. */
export interface SMCPTool {
  /** What to call it by: the alias where one is configured. */
  name: string;
  /** What it does, for the model. */
  description: string;
  /** JSON Schema of the arguments. */
  params_schema: Record<string, unknown>;
  /** JSON Schema of `structuredContent`, or null. */
  return_schema: Record<string, unknown> | null;
  /** What is known beyond: {@linkcode A2C_TOOL_META}, {@linkcode MCP_TOOL_ANNOTATION}, and what its MCP server tells. */
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
  /** For sorting tools. */
  tags?: string[] | null;
}

/** `client:get_tools`. */
export interface GetToolsReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
}

/** The answer to `client:get_tools`. */
export interface GetToolsRet {
  /** All tools of the Computer. */
  tools: SMCPTool[];
  /** The id of the request that this answers. */
  req_id: string;
}

/** One item of a tool result: MCP's text, image, audio, resource link or embedded resource. */
export interface ContentItem {
  /** `text`, `image`, `audio`, `resource_link` or `resource`. */
  type: string;
  /** Of a `text`. */
  text?: string;
  /** Base64, of an `image` or `audio`. */
  data?: string;
  /** The media type of `data`. */
  mimeType?: string;
  /** Of a `resource_link`. */
  uri?: string;
  /** Of an embedded `resource`. */
  resource?: Record<string, unknown>;
  /** Hints for whoever shows it. */
  annotations?: Record<string, unknown> | null;
  /** Whatever else its MCP server tells. */
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
  /** What the server's VRL script made of the result and the call, as a JSON string. */
  a2c_vrl_transformed?: string;
  /** Whatever else its MCP server or Computer tells. */
  [key: string]: unknown;
}

/**
 * The answer to `client:tool_call`: an MCP `CallToolResult`, whose own metadata is spelled `meta` on this wire.
 * A tool that fails is `isError`, never a rejected request.
 */
export interface CallToolResult {
  /** For the model. */
  content: ContentItem[];
  /** For programs, as the tool's `return_schema` says. */
  structuredContent?: Record<string, unknown> | null;
  /** Whether the tool failed. */
  isError?: boolean;
  /** What is known of the result itself. */
  meta?: ToolResultMeta | null;
}
