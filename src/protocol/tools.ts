/** Tools and their calls (`docs/protocol/data-structures.md#tools`). */
import type { AgentCallData, ComputerCallData } from "./call.ts";
import type { ResourceContents } from "./resources.ts";

/** The name of an MCP server. */
export type SERVER_NAME = string;
/** The name of a tool. */
export type TOOL_NAME = string;
/** A value of tool metadata. Nested values are sent as JSON strings. */
export type AttributeValue = string | number | boolean | null | string[];
/** Tool metadata, which is flat. */
export type Attributes = Record<string, AttributeValue>;

/** The key of {@linkcode SMCPTool.meta} whose value is a {@linkcode ToolMeta} as a JSON string. */
export const A2C_TOOL_META = "a2c_tool_meta";
/** The key of {@linkcode SMCPTool.meta} whose value is the MCP tool annotations as a JSON string. */
export const MCP_TOOL_ANNOTATION = "MCP_TOOL_ANNOTATION";
/** The key in the metadata of a window, template or prompt whose value is the name of its MCP server. */
export const A2C_MCP_SERVER = "a2c_mcp_server";
/** The key of {@linkcode SMCPTool.meta} whose value is the title of the tool, for display. */
export const MCP_TOOL_TITLE = "MCP_TOOL_TITLE";
/** The key of {@linkcode SMCPTool.meta} whose value is the tool's MCP icons as a JSON string. */
export const MCP_TOOL_ICONS = "MCP_TOOL_ICONS";
/** The key of {@linkcode SMCPTool.meta} whose value is MCP's `execution` of the tool as a JSON string. */
export const MCP_TOOL_EXECUTION = "MCP_TOOL_EXECUTION";
/** The key of a result's metadata whose value is the output of the server's VRL script, as a JSON string. */
export const A2C_VRL_TRANSFORMED = "a2c_vrl_transformed";

/** `client:tool_call`. */
export interface ToolCallReq extends ComputerCallData {
  /** The name of the tool as listed. */
  tool_name: string;
  /** The arguments. */
  params: Record<string, unknown>;
}

/** A tool in the answer to `client:get_tools`. */
export interface SMCPTool {
  /** The name to call the tool by: its alias, if one is configured. From 0.3 on it begins with the `bundle_id` and `__`. */
  name: string;
  /** The identity of its MCP server, from protocol 0.3 on. */
  bundle_id?: string;
  /** The name of its MCP server, which `getTools()` adds where the Computer tells it; never on the wire. */
  server?: string;
  /** The description, for the model. */
  description: string;
  /** The JSON Schema of the arguments. */
  params_schema: Record<string, unknown>;
  /** The JSON Schema of `structuredContent`; null when the tool has none. */
  return_schema: Record<string, unknown> | null;
  /**
   * Flat metadata: {@linkcode A2C_TOOL_META}, {@linkcode MCP_TOOL_ANNOTATION}, {@linkcode MCP_TOOL_TITLE},
   * {@linkcode MCP_TOOL_ICONS}, {@linkcode MCP_TOOL_EXECUTION}, and the MCP server's own keys, such as `ui`.
   * `toolDetails()` parses it.
   */
  meta?: Attributes | null;
}

/** The metadata of a tool in a Computer's configuration (`docs/protocol/data-structures.md#toolmeta`). */
export interface ToolMeta {
  /** Whether calls run without confirmation. */
  auto_apply?: boolean | null;
  /** How to map the results of different tools to one shape. The Computer passes it on and does not apply it. */
  ret_object_mapper?: Record<string, unknown> | null;
  /** The name to list and call the tool by, instead of the name from its MCP server. */
  alias?: string | null;
  /** Tags for grouping tools. */
  tags?: string[] | null;
}

/** `client:get_tools`. */
export interface GetToolsReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
}

/** The answer to `client:get_tools`. */
export interface GetToolsRet {
  /** All tools of the Computer. */
  tools: SMCPTool[];
  /** The id of the request. */
  req_id: string;
}

/** The members that every item of a tool result may have. */
export interface ContentItemBase {
  /** MCP's hints for display and ranking. */
  annotations?: Record<string, unknown>;
  /** Other members that the MCP server sends. */
  _meta?: Record<string, unknown>;
}

/** An item of a tool result: a text. */
export interface TextItem extends ContentItemBase {
  /** The discriminator of the union. */
  type: "text";
  /** The text, for the model. */
  text: string;
}

/** An item of a tool result: an image. */
export interface ImageItem extends ContentItemBase {
  /** The discriminator of the union. */
  type: "image";
  /** The bytes in base64. */
  data: string;
  /** The media type of `data`. */
  mimeType: string;
}

/** An item of a tool result: audio. */
export interface AudioItem extends ContentItemBase {
  /** The discriminator of the union. */
  type: "audio";
  /** The bytes in base64. */
  data: string;
  /** The media type of `data`. */
  mimeType: string;
}

/** An item of a tool result: a resource with its contents. */
export interface ResourceItem extends ContentItemBase {
  /** The discriminator of the union. */
  type: "resource";
  /** The URI of the resource, and its `text` or `blob`. */
  resource: ResourceContents;
}

/** An item of a tool result: a link to a resource, to read with `readResource(uri, { mcpServer })`. */
export interface ResourceLinkItem extends ContentItemBase {
  /** The discriminator of the union. */
  type: "resource_link";
  /** The URI of the resource, of the MCP server of the tool ({@linkcode SMCPTool.server}). */
  uri: string;
  /** The name, for programs. */
  name?: string;
  /** The title, for display. */
  title?: string;
  /** A description. */
  description?: string;
  /** The media type. */
  mimeType?: string;
  /** The size in bytes. */
  size?: number;
}

/** An item of a tool result that is invalid or has an unknown type. */
export interface UnknownItem {
  /** The discriminator of the union; never on the wire. */
  type: "unknown";
  /** The unchanged item: any JSON. */
  item: unknown;
}

/**
 * One item of a tool result: a union discriminated by `type`.
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

/** An item with the members of all other types as optional `undefined`, so that `content[0]?.text` compiles for any item. */
export type Only<Item> =
  & Item
  & {
    [Member in Exclude<"text" | "data" | "mimeType" | "uri" | "resource" | "_meta" | "item", keyof Item>]?:
      undefined;
  };

/**
 * With 4003: the arguments do not match the tool's schema; the MCP server does not run, or has ended; too many calls run at
 * once; the owner has paused the Computer. With 4005: a person has declined the call; nobody could be asked, or has
 * decided. Of a cancelled call: its Agent had gone, and did not ask for it again. Others may be added.
 */
export type ToolFailureReason =
  | "arguments"
  | "not_running"
  | "busy"
  | "paused"
  | "declined"
  | "unconfirmed"
  | "caller_gone";

/** The metadata of a tool result. Peers may add keys. */
export interface ToolResultMeta {
  /** The error code of a failed call, 4001–4007 or 413; absent when the MCP server itself set `isError`. */
  error_code?: number;
  /** Why a call was not made, or was cancelled: see {@linkcode ToolFailureReason}. */
  a2c_reason?: ToolFailureReason;
  /** Whether the tool of a failed or cancelled call may have run. Absent from a failure of ours: it has not. */
  may_have_run?: boolean;
  /** Whether the call timed out. */
  a2c_timeout?: boolean;
  /** Whether the call was cancelled. */
  a2c_cancelled?: boolean;
  /** The output of the MCP server's VRL script, as a JSON string. */
  a2c_vrl_transformed?: string;
  /** The name of the MCP server that asks, in a result that is an open question. */
  a2c_mcp_server?: string;
  /** Other members that the MCP server or the Computer adds. */
  [key: string]: unknown;
}

/**
 * The answer to `client:tool_call`: an MCP `CallToolResult`, with `meta` in place of MCP's `_meta`. When a tool fails,
 * `isError` is true, and the request itself succeeds (`docs/protocol/data-structures.md#calltoolresult`).
 */
export interface CallToolResult {
  /** The content, for the model. */
  content: ContentItem[];
  /** The result for programs, matching the tool's `return_schema`. An object in MCP; other peers may send any JSON. */
  structuredContent?: unknown;
  /** Whether the tool failed. */
  isError?: boolean;
  /** Metadata of the result. */
  meta?: ToolResultMeta | null;
}
