/** Tools and their calls (`docs/protocol/data-structures.md#tools`). */
import type { AgentCallData } from "./call.ts";
import type { ResourceContents } from "./resources.ts";

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
/** The key of a tool's and a result's metadata, and of a window's, whose value is the name of its MCP server. */
export const A2C_MCP_SERVER = "a2c_mcp_server";
/** The key of {@linkcode SMCPTool.meta} whose value is the title of the tool, for people. */
export const MCP_TOOL_TITLE = "MCP_TOOL_TITLE";
/** The key of {@linkcode SMCPTool.meta} whose value is the tool's MCP icons as a JSON string. */
export const MCP_TOOL_ICONS = "MCP_TOOL_ICONS";
/** The key of a result's metadata whose value is the output of the server's VRL script, as a JSON string. */
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
  /**
   * What is known beyond, flat: {@linkcode A2C_TOOL_META}, {@linkcode A2C_MCP_SERVER}, {@linkcode MCP_TOOL_ANNOTATION},
   * {@linkcode MCP_TOOL_TITLE}, {@linkcode MCP_TOOL_ICONS}, and what its MCP server tells. `toolDetails()` parses it.
   */
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

/** What every item of a tool result may have. */
export interface ContentItemBase {
  /** Hints for whoever shows it. */
  annotations?: Record<string, unknown>;
  /** Whatever else its MCP server tells. */
  _meta?: Record<string, unknown>;
}

/** An item of a tool result: a text. */
export interface TextItem extends ContentItemBase {
  /** The kind, by which the items are told apart. */
  type: "text";
  /** For the model. */
  text: string;
}

/** An item of a tool result: an image. */
export interface ImageItem extends ContentItemBase {
  /** The kind, by which the items are told apart. */
  type: "image";
  /** Base64. */
  data: string;
  /** The media type of `data`. */
  mimeType: string;
}

/** An item of a tool result: a piece of sound. */
export interface AudioItem extends ContentItemBase {
  /** The kind, by which the items are told apart. */
  type: "audio";
  /** Base64. */
  data: string;
  /** The media type of `data`. */
  mimeType: string;
}

/** An item of a tool result: a resource with its contents. */
export interface ResourceItem extends ContentItemBase {
  /** The kind, by which the items are told apart. */
  type: "resource";
  /** Its URI, and `text` or `blob`. */
  resource: ResourceContents;
}

/** An item of a tool result: where a resource can be read, with `readResource(uri, { mcpServer })`. */
export interface ResourceLinkItem extends ContentItemBase {
  /** The kind, by which the items are told apart. */
  type: "resource_link";
  /** The resource's URI, of the MCP server that {@linkcode A2C_MCP_SERVER} names in the result's `meta`. */
  uri: string;
  /** For programs. */
  name?: string;
  /** For people. */
  title?: string;
  /** What it holds. */
  description?: string;
  /** The media type. */
  mimeType?: string;
  /** Bytes. */
  size?: number;
}

/** An item of a tool result that is of no kind known here, or not as its kind should be. It is kept as it came. */
export interface UnknownItem {
  /** The kind, by which the items are told apart. Never on the wire. */
  type: "unknown";
  /** The item as it came: any JSON. */
  item: unknown;
}

/**
 * One item of a tool result. `type` tells the kinds apart.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import type { ContentItem } from "@a2c-smcp/sdk/agent";
 *
 * function toText(item: ContentItem): string {
 *   if (item.type === "text") return item.text;
 *   if (item.type === "image" || item.type === "audio") return `[${item.mimeType}]`;
 *   return item.type === "resource" ? item.resource.text ?? "[binary]" : `[${item.type}]`;
 * }
 *
 * assertEquals(toText({ type: "text", text: "hi" }), "hi");
 * assertEquals(toText({ type: "image", data: "AA==", mimeType: "image/png" }), "[image/png]");
 * ```
 */
export type ContentItem =
  | Only<TextItem>
  | Only<ImageItem>
  | Only<AudioItem>
  | Only<ResourceItem>
  | Only<ResourceLinkItem>
  | Only<UnknownItem>;

/** An item whose other kinds' members can be asked for, too: `content[0]?.text` is `undefined` for an image. */
export type Only<Item> =
  & Item
  & {
    [Member in Exclude<"text" | "data" | "mimeType" | "uri" | "resource" | "_meta" | "item", keyof Item>]?:
      undefined;
  };

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
  /** The name of the MCP server that the tool belongs to. */
  a2c_mcp_server?: string;
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
  /** For programs, as the tool's `return_schema` says: an object in MCP, any JSON of other peers. */
  structuredContent?: unknown;
  /** Whether the tool failed. */
  isError?: boolean;
  /** What is known of the result itself. */
  meta?: ToolResultMeta | null;
}
