/** Reading and listing MCP resources through a Computer, and fetching large binary items of newer peers. */
import type { AgentCallData } from "./call.ts";

/** A resource as `resources/list` returns it; unknown keys are kept. */
export interface McpResource {
  /** Its URI. */
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
  /** Hints for whoever shows it. */
  annotations?: ResourceAnnotations | null;
  /** Whatever else its MCP server tells. */
  _meta?: Record<string, unknown> | null;
}

/** MCP's hints about a resource. */
export interface ResourceAnnotations {
  /** For whom it is: `user`, `assistant`. */
  audience?: string[] | null;
  /** From 0 to 1. */
  priority?: number | null;
  /** ISO 8601. */
  lastModified?: string | null;
}

/** A picture that stands for something. */
export interface ResourceIcon {
  /** Where it is: `https:` or `data:`. */
  src: string;
  /** The media type. */
  mimeType?: string;
  /** Such as `48x48`, or `any`. */
  sizes?: string[];
}

/** One piece of a resource's content: `text`, or `blob` in base64. */
export interface ResourceContents {
  /** Its URI. */
  uri: string;
  /** The media type. */
  mimeType?: string;
  /** The content, if it is text. */
  text?: string;
  /** The content in base64, if it is not. */
  blob?: string;
  /** Whatever else its MCP server tells. */
  _meta?: Record<string, unknown> | null;
}

/** `client:read_resource`. */
export interface ReadResourceReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** `dpe://` and `window://`; any scheme when `mcp_server` is given. */
  uri: string;
  /** The MCP server to read from; found by the URI's host when absent. */
  mcp_server?: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** The answer to `client:read_resource`: MCP's `ReadResourceResult`. */
export interface ReadResourceRet {
  /** One or several pieces. */
  contents: ResourceContents[];
  /** The id of the request that this answers. */
  req_id?: string;
}

/** `client:get_resources`: one page of an MCP server's `resources/list`. */
export interface GetResourcesReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** The MCP server to list. */
  mcp_server: string;
  /** Where the page begins; the first page when absent. */
  cursor?: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** A resource in the answer to `client:get_resources`; this wire spells `mime_type`. */
export interface ResourceInfo {
  /** Its URI. */
  uri: string;
  /** For programs. */
  name?: string;
  /** For people. */
  title?: string;
  /** What it holds. */
  description?: string;
  /** The media type. */
  mime_type?: string;
  /** Bytes. */
  size?: number;
  /** Pictures for whoever shows it. */
  icons?: ResourceIcon[];
  /** Hints for whoever shows it. */
  annotations?: ResourceAnnotations | null;
  /** Whatever else its MCP server tells. */
  _meta?: Record<string, unknown> | null;
}

/** The answer to `client:get_resources`. */
export interface GetResourcesRet {
  /** A page of the list. */
  resources: ResourceInfo[];
  /** Where the next page begins; absent on the last. */
  next_cursor?: string;
  /** The id of the request that this answers. */
  req_id?: string;
}

/** `client:get_dpe`: where an Agent can fetch a document by itself. */
export interface GetDpeReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** Its URI. */
  uri: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** An address that an Agent can fetch from by itself. */
export interface DpeResource {
  /** Its URI. */
  uri: string;
  /** The media type. */
  mime_type?: string;
  /** Bytes. */
  size?: number;
  /** Changes when the content changes. */
  etag?: string;
}

/** The answer to `client:get_dpe`. */
export interface GetDpeRet {
  /** Where to fetch it from. */
  resource: DpeResource;
  /** The id of the request that this answers. */
  req_id: string;
}

/** `client:get_blob`: a chunk of what a Computer left out of an answer that was too large. */
export interface GetBlobReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** What the tool result called it. */
  blob_handle: string;
  /** Where the chunk begins, in bytes. */
  chunk_offset?: number;
  /** The most bytes of a chunk. */
  max_chunk_bytes?: number;
}

/** The answer to `client:get_blob`. */
export interface GetBlobRet {
  /** What the tool result called it. */
  blob_handle: string;
  /** The media type. */
  mime_type?: string;
  /** Bytes of the whole item. */
  total_size: number;
  /** Of the whole item, in hexadecimal. */
  sha256: string;
  /** Where the chunk begins, in bytes. */
  chunk_offset: number;
  /** Whether this is the last chunk. */
  eof: boolean;
  /** Base64. */
  blob: string;
  /** The id of the request that this answers. */
  req_id?: string;
}
