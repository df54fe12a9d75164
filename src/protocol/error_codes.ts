/** The protocol's error codes. */

/** The error codes of the protocol by name. Each line says when the code is used and by which role (`docs/protocol/errors.md`). */
export const ErrorCode = {
  /** Malformed body, or an unknown event. Server, Computer; `details.field`. */
  BAD_REQUEST: 400,
  /** Refused credentials. Server, at connect. */
  UNAUTHORIZED: 401,
  /** Wrong role, or another office. Server. Or the owner has paused the Computer; `details.state`. Computer. */
  FORBIDDEN: 403,
  /** No such Computer in the caller's office (`details.computer_name`), or no such resource (`details.uri`). */
  NOT_FOUND: 404,
  /** The Computer (`details.computer_name`) or an MCP server (`details.mcp_server`) did not answer in time. */
  TIMEOUT: 408,
  /**
   * A message over the size limit; `details.size` and `details.limit` in bytes. Or a message with too many values for
   * the Server; `details.field` is `body`.
   */
  PAYLOAD_TOO_LARGE: 413,
  /**
   * Too many connections or requests of one principal or address, or members of an office; `details.limit`,
   * `details.option`, and `details.retry_after_ms` where waiting helps. Server.
   */
  TOO_MANY_REQUESTS: 429,
  /** An unexpected error. Server, Computer. */
  INTERNAL_ERROR: 500,
  /** The Server shuts down, or cannot relay now. Nothing was done unless the request was in flight. Server. */
  UNAVAILABLE: 503,
  /** In a tool result: no such tool. */
  TOOL_NOT_FOUND: 4001,
  /** In a tool result: the tool is forbidden or its server disabled. */
  TOOL_DISABLED: 4002,
  /** In a tool result: the call failed, or its MCP server is not running. */
  TOOL_EXECUTION_FAILED: 4003,
  /** In a tool result: the call timed out. */
  TOOL_TIMEOUT: 4004,
  /** In a tool result: the call was not confirmed. */
  TOOL_REQUIRES_CONFIRMATION: 4005,
  /** The MCP server requires a credential (HTTP 401). */
  TOOL_AUTHORIZATION_REQUIRED: 4006,
  /** The MCP server refused the credential (HTTP 403). */
  TOOL_AUTHORIZATION_FAILED: 4007,
  /** The protocol versions are not compatible. Server, in the HTTP handshake. */
  PROTOCOL_VERSION_MISMATCH: 4008,
  /** `client:get_dpe`: the Computer has no resolver. */
  DPE_RESOLVER_NOT_CONFIGURED: 4011,
  /** `client:get_dpe`: the URI is not a document URI. */
  DPE_RESOLVER_INVALID_URI: 4012,
  /** `client:get_dpe`: the resolver failed. */
  DPE_RESOLUTION_FAILED: 4013,
  /** No MCP server of that name (`details.mcp_server`), or no skill of that name (`details.name`). */
  MCP_SERVER_NOT_FOUND: 4014,
  /** The MCP server lacks a capability; `details.mcp_server`, `details.capability`. */
  MCP_CAPABILITY_NOT_SUPPORTED: 4015,
  /** `client:get_skill`: the name of a skill is malformed; `details.name`. */
  SKILL_NAME_INVALID: 4016,
  /**
   * `client:get_skill`: a file of a skill cannot be read; `details.rel_path`, and `details.reason`: `traversal`,
   * `forbidden`, `not_found`, `too_large` (with `details.total_size`) or `io_error`.
   */
  SKILL_RESOURCE_NOT_ACCESSIBLE: 4017,
  /** A blob handle that does not exist, or no longer exists; `details.reason`: `invalid_handle`, `gone`, `forbidden`, `range`. */
  BLOB_NOT_ACCESSIBLE: 4018,
  /** An upload failed; `details.reason`, such as `forbidden`, `too_large`, `busy`, `range` or `integrity`. Since 0.4. */
  BLOB_WRITE_FAILED: 4019,
  /** In the text of a refused join: the office already has an Agent. */
  ROOM_FULL: 4101,
  /** Reserved by the protocol; never sent. */
  ROOM_NOT_FOUND: 4102,
  /** The caller is not in an office. Server. */
  NOT_IN_ROOM: 4103,
  /** Reserved by the protocol; never sent. */
  CROSS_ROOM_ACCESS: 4104,
  /** No such document; `details.doc_ref`. */
  DOCUMENT_NOT_FOUND: 4201,
  /** No such page; `details.page_index`, `details.page_count`. */
  PAGE_OUT_OF_RANGE: 4202,
  /** No such element; `details.element_id`. */
  ELEMENT_NOT_FOUND: 4203,
  /** A malformed `dpe://` URI; `details.uri`. */
  INVALID_DPE_URI: 4204,
} as const;

/** One of the protocol's error codes. */
export type ErrorCode = typeof ErrorCode[keyof typeof ErrorCode];
