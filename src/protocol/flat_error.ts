/** Errors as peers of protocol 0.3 and later read them (`docs/protocol/versions.md#errors`). */
import { ErrorCode } from "./error_codes.ts";
import type { ErrorAck, FailedRequest } from "./errors.ts";
import {
  GET_BLOB_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILL_EVENT,
  GET_SKILLS_EVENT,
  GET_TOOLS_EVENT,
  PUT_BLOB_EVENT,
  TOOL_CALL_EVENT,
} from "./events.ts";

/** The codes that those peers take for an error in the ack of a request. */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ErrorCode.NOT_FOUND,
  ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
  ErrorCode.TOOL_AUTHORIZATION_FAILED,
  ErrorCode.PROTOCOL_VERSION_MISMATCH,
  ErrorCode.MCP_SERVER_NOT_FOUND,
  ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED,
  4016,
  4017,
  ErrorCode.BLOB_NOT_ACCESSIBLE,
  ErrorCode.BLOB_WRITE_FAILED,
]);

/** The requests of those peers besides tool calls; only our own Agents send the others. */
const THEIR_EVENTS: ReadonlySet<string> = new Set([
  GET_TOOLS_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILLS_EVENT,
  GET_SKILL_EVENT,
  GET_BLOB_EVENT,
  PUT_BLOB_EVENT,
]);

/**
 * The ack of a failed request for peers that take an ack with the `req_id` for a success, and that know few codes: an
 * unknown code becomes 404 in the flat members. The member `error` keeps the code, and our own Agents read it there.
 */
export function toFlatErrorAck(ack: ErrorAck, { event }: FailedRequest): unknown {
  if (event === TOOL_CALL_EVENT) return ack;
  const { req_id: _reqId, ...rest } = ack;
  const { mcp_server, capability } = ack.details ?? {};
  return {
    ...rest,
    ...(THEIR_EVENTS.has(event) && !KNOWN_CODES.has(ack.code) ? { code: ErrorCode.NOT_FOUND } : {}),
    ...(typeof mcp_server === "string" ? { mcp_server } : {}),
    ...(typeof capability === "string" ? { capability } : {}),
  };
}
