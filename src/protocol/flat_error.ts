/** Errors as peers of protocol 0.3 and later read them (`docs/protocol/versions.md#errors`). */
import { TOOL_CALL_EVENTS } from "./call.ts";
import { ErrorCode } from "./error_codes.ts";
import { type ErrorAck, toErrorAck } from "./errors.ts";
import {
  GET_BLOB_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILL_EVENT,
  GET_SKILLS_EVENT,
  GET_TOOLS_EVENT,
  LIST_ROOM_EVENT,
  PUT_BLOB_EVENT,
} from "./events.ts";
import { isVersionFrom } from "./version.ts";

/** The codes that those peers take for an error in the ack of a request. */
const KNOWN_CODES: ReadonlySet<number> = new Set([
  ErrorCode.NOT_FOUND,
  ErrorCode.TOOL_AUTHORIZATION_REQUIRED,
  ErrorCode.TOOL_AUTHORIZATION_FAILED,
  ErrorCode.PROTOCOL_VERSION_MISMATCH,
  ErrorCode.MCP_SERVER_NOT_FOUND,
  ErrorCode.MCP_CAPABILITY_NOT_SUPPORTED,
  ErrorCode.SKILL_NAME_INVALID,
  ErrorCode.SKILL_RESOURCE_NOT_ACCESSIBLE,
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
  LIST_ROOM_EVENT,
]);

/**
 * Builds the ack of a failed request as a peer that speaks this version reads it: without a version as at 0.2, at a later
 * version than this package speaks as at 0.3.
 */
export function toErrorAckFor(version: string | undefined, error: unknown, event: string): ErrorAck {
  const ack = toErrorAck(error, event);
  return isVersionFrom(version, "0.3") ? toFlatErrorAck(ack, event) : ack;
}

/**
 * The ack of a failed request for peers that know few codes: an unknown code becomes 404 in the flat members. The member
 * `error` keeps the code, and our own Agents read it there.
 */
export function toFlatErrorAck(ack: ErrorAck, event: string): ErrorAck {
  if (TOOL_CALL_EVENTS.has(event)) return ack;
  const { mcp_server, capability } = ack.details ?? {};
  return {
    ...ack,
    ...(THEIR_EVENTS.has(event) && !KNOWN_CODES.has(ack.code) ? { code: ErrorCode.NOT_FOUND } : {}),
    ...(typeof mcp_server === "string" ? { mcp_server } : {}),
    ...(typeof capability === "string" ? { capability } : {}),
  };
}
