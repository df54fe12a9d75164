/** Reading and listing MCP resources through a Computer, and fetching large binary items of newer peers. */
import type { AgentCallData } from "./call.ts";

/** A resource as `resources/list` returns it; unknown keys are kept. */
export interface McpResource {
  uri: string;
  name?: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
  annotations?: ResourceAnnotations | null;
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

/** One piece of a resource's content: `text`, or `blob` in base64. */
export interface ResourceContents {
  uri: string;
  mimeType?: string;
  text?: string;
  blob?: string;
  _meta?: Record<string, unknown> | null;
}

/** `client:read_resource`. */
export interface ReadResourceReq extends AgentCallData {
  computer: string;
  /** `dpe://` and `window://`; any scheme when `mcp_server` is given. */
  uri: string;
  /** The MCP server to read from; found by the URI's host when absent. */
  mcp_server?: string;
  timeout?: number;
}

/** The answer to `client:read_resource`: MCP's `ReadResourceResult`. */
export interface ReadResourceRet {
  contents: ResourceContents[];
  req_id?: string;
}

/** `client:get_resources`: one page of an MCP server's `resources/list`. */
export interface GetResourcesReq extends AgentCallData {
  computer: string;
  mcp_server: string;
  cursor?: string;
  timeout?: number;
}

/** A resource in the answer to `client:get_resources`; this wire spells `mime_type`. */
export interface ResourceInfo {
  uri: string;
  name?: string;
  description?: string;
  mime_type?: string;
  size?: number;
  annotations?: ResourceAnnotations | null;
  _meta?: Record<string, unknown> | null;
}

/** The answer to `client:get_resources`. */
export interface GetResourcesRet {
  resources: ResourceInfo[];
  next_cursor?: string;
  req_id?: string;
}

/** `client:get_dpe`: where an Agent can fetch a document by itself. */
export interface GetDpeReq extends AgentCallData {
  computer: string;
  uri: string;
  timeout?: number;
}

/** An address that an Agent can fetch from by itself. */
export interface DpeResource {
  uri: string;
  mime_type?: string;
  size?: number;
  etag?: string;
}

/** The answer to `client:get_dpe`. */
export interface GetDpeRet {
  resource: DpeResource;
  req_id: string;
}

/** `client:get_blob`: a chunk of a large binary item that a newer peer left out of a tool result. */
export interface GetBlobReq extends AgentCallData {
  computer: string;
  blob_handle: string;
  chunk_offset?: number;
  max_chunk_bytes?: number;
}

/** The answer to `client:get_blob`. */
export interface GetBlobRet {
  blob_handle: string;
  mime_type?: string;
  /** Bytes of the whole item. */
  total_size: number;
  /** Of the whole item, in hexadecimal. */
  sha256: string;
  chunk_offset: number;
  eof: boolean;
  /** Base64. */
  blob: string;
  req_id?: string;
}
