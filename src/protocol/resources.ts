/** Messages for reading and listing MCP resources, and for fetching blobs (`docs/protocol/data-structures.md#resources`). */
import type { AgentCallAnswer, AgentCallData, ComputerCallData } from "./call.ts";

/** What an MCP server calls a thing of its own. */
export interface McpNamed {
  /** The name, for programs. */
  name?: string;
  /** The title, for display. */
  title?: string;
  /** A description. */
  description?: string;
}

/** An entry of a list of an MCP server. */
export interface McpListed extends McpNamed {
  /** Icons for display. */
  icons?: ResourceIcon[];
  /** Other members that the MCP server sends; from our Computer, `a2c_mcp_server` is its name. */
  _meta?: Record<string, unknown> | null;
}

/** A resource as `resources/list` returns it; unknown keys are kept. */
export interface McpResource extends McpListed {
  /** The URI. */
  uri: string;
  /** The media type. */
  mimeType?: string;
  /** The size in bytes. */
  size?: number;
  /** MCP's hints for display and ranking. */
  annotations?: ResourceAnnotations | null;
}

/** MCP's hints about a resource. */
export interface ResourceAnnotations {
  /** The intended readers: `user`, `assistant` or both. */
  audience?: string[] | null;
  /** The importance, from 0 to 1. */
  priority?: number | null;
  /** When it was last changed, in ISO 8601. */
  lastModified?: string | null;
}

/** An icon. */
export interface ResourceIcon {
  /** Where it is: `https:` or `data:`. */
  src: string;
  /** The media type. */
  mimeType?: string;
  /** The sizes, such as `48x48` or `any`. */
  sizes?: string[];
}

/** One item of a resource's contents: `text`, or `blob` in base64. */
export interface ResourceContents {
  /** The URI. */
  uri: string;
  /** The media type. */
  mimeType?: string;
  /** The content of a text item. */
  text?: string;
  /** The content of a binary item, in base64. */
  blob?: string;
  /** Other members that the MCP server sends. */
  _meta?: Record<string, unknown> | null;
}

/** `client:read_resource`. */
export interface ReadResourceReq extends ComputerCallData {
  /** A `dpe://` or `window://` URI; with `mcp_server`, a URI of any scheme. */
  uri: string;
  /** The MCP server to read from; found by the URI's host when absent. */
  mcp_server?: string;
}

/** The answer to `client:read_resource`: MCP's `ReadResourceResult`. */
export interface ReadResourceRet extends AgentCallAnswer {
  /** The items of the contents. */
  contents: ResourceContents[];
}

/** `client:get_resources`: one page of an MCP server's `resources/list`. */
export interface GetResourcesReq extends ComputerCallData {
  /** The MCP server to list. */
  mcp_server: string;
  /** The `next_cursor` of the previous page; the first page when absent. */
  cursor?: string;
}

/** A resource in the answer to `client:get_resources`. MCP spells `mimeType`. */
export interface ResourceInfo extends McpListed {
  /** The URI. */
  uri: string;
  /** The media type. */
  mime_type?: string;
  /** The size in bytes. */
  size?: number;
  /** MCP's hints for display and ranking. */
  annotations?: ResourceAnnotations | null;
}

/** The answer to `client:get_resources`. */
export interface GetResourcesRet extends AgentCallAnswer {
  /** A page of the list. */
  resources: ResourceInfo[];
  /** The `cursor` of the next page; absent on the last page. */
  next_cursor?: string;
}

/** `client:get_dpe`: requests an address from which the Agent can download a document itself. */
export interface GetDpeReq extends ComputerCallData {
  /** The URI. */
  uri: string;
}

/** An address from which an Agent can download a document itself. */
export interface DpeResource {
  /** The URI. */
  uri: string;
  /** The media type. */
  mime_type?: string;
  /** The size in bytes. */
  size?: number;
  /** An identifier of the content: it changes when the content changes. */
  etag?: string;
}

/** The answer to `client:get_dpe`. */
export interface GetDpeRet {
  /** The address of the document. */
  resource: DpeResource;
  /** The id of the request. */
  req_id: string;
}

/** `client:get_blob`: fetches a chunk of a blob, a part that a Computer left out of a large answer. */
export interface GetBlobReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** The handle of the blob. */
  blob_handle: string;
  /** The offset of the chunk, in bytes; 0 when absent. */
  chunk_offset?: number;
  /** The most bytes of the chunk. */
  max_chunk_bytes?: number;
}

/** The answer to `client:get_blob`. */
export interface GetBlobRet extends AgentCallAnswer {
  /** The handle of the blob. */
  blob_handle: string;
  /** The media type. */
  mime_type?: string;
  /** The size of the whole blob, in bytes. */
  total_size: number;
  /** The SHA-256 of the whole blob, in hexadecimal. */
  sha256: string;
  /** The offset of the chunk, in bytes. */
  chunk_offset: number;
  /** Whether this is the last chunk. */
  eof: boolean;
  /** The bytes of the chunk, in base64. */
  blob: string;
}
