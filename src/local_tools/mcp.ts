/** What MCP clients get, in MCP's own shapes: the same in 2025-11-25 and 2026-07-28. */
import type { ContentItem, Only, ResourceItem, ResourceLinkItem, ToolResultMeta } from "../protocol/tools.ts";
import type { ToolIcon } from "../protocol/tool_details.ts";

/** Any JSON object. */
export type Json = Readonly<Record<string, unknown>>;

/** A tool, as `tools/list` has it. */
export interface McpTool {
  /** The name to call it by. */
  readonly name: string;
  /** The title, for display. */
  readonly title?: string;
  /** The description, for the model. */
  readonly description?: string;
  /** The JSON Schema of the arguments. */
  readonly inputSchema: Json & { readonly type: "object" };
  /** The JSON Schema of `structuredContent`. */
  readonly outputSchema?: Json;
  /** MCP's hints. */
  readonly annotations?: Json;
  /** Icons for display. */
  readonly icons?: ToolIcon[];
  /** Metadata: that of the MCP server, and keys that begin with `a2c_`. */
  readonly _meta?: Json;
}

/** An item of a result: a text, an image, audio, a resource or a link to one. */
export type McpContent =
  | Exclude<ContentItem, { type: "unknown" | "resource" | "resource_link" }>
  | Only<ResourceLinkItem & { name: string }>
  | Only<Omit<ResourceItem, "resource"> & { resource: McpContents }>;

/** What an item of a result embeds: a text, or bytes in base64. */
export type McpContents =
  & { uri: string; mimeType?: string; _meta?: Record<string, unknown> }
  & ({ text: string; blob?: undefined } | { blob: string; text?: undefined });

/** A result, as `tools/call` answers it. */
export type McpToolResult = {
  /** The content, for the model. */
  readonly content: McpContent[];
  /** The result for programs. */
  readonly structuredContent?: unknown;
  /** Whether the tool failed. */
  readonly isError?: boolean;
  /** Metadata of the result; of a refused call, how long to wait in milliseconds. */
  readonly _meta?: Readonly<ToolResultMeta> & { readonly retry_after_ms?: number };
};

/** A result that is one text. */
export function textResult(text: string): McpToolResult {
  return { content: [{ type: "text", text: text.toWellFormed() }] };
}

/** A failure: the text says what to do, for a model. */
export function errorResult(text: string, meta?: McpToolResult["_meta"]): McpToolResult {
  return { ...textResult(text), isError: true, ...(meta === undefined ? {} : { _meta: meta }) };
}
