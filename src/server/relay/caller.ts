/** Checks of the caller, in the order of the protocol (4103, then 403), and the acks of refusals. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { toErrorAckFor } from "../../protocol/flat_error.ts";
import { buildRefusalText } from "../../protocol/refusal_text.ts";
import { CLIENT_EVENT_PREFIX, READ_RESOURCE_EVENT } from "../../protocol/events.ts";
import type { Role } from "../../protocol/office.ts";
import type { Answer } from "./pending_requests.ts";
import type { Call, RefusedRequest } from "./hub.ts";
import { outOfReach } from "../offices/offices.ts";
import { quoted } from "../limits.ts";
import { PACKET_BYTES } from "../outbox.ts";
import type { Member } from "../offices/office.ts";

/**
 * The requests of observers: those that read, and make no Computer and no MCP server do anything else. `client:get_dpe`
 * may write files, and `client:get_prompt` has an MCP server run what fills the prompt in. Requests of newer peers are not
 * among them (`docs/protocol/extensions.md#observers`).
 */
const OBSERVER_EVENTS: ReadonlySet<string> = new Set([
  READ_RESOURCE_EVENT,
  ...("tools config desktop windows finder resources resource_templates resource_updates mcp_servers prompts " +
    "completion blob skills skill").split(" ").map((what) => `${CLIENT_EVENT_PREFIX}get_${what}`),
]);

/** Returns the membership of the caller; throws 4103 outside of any office. */
export function requireMember({ connection, event }: Call): Member {
  const { member } = connection;
  if (member !== undefined) return member;
  throw new SmcpError(
    ErrorCode.NOT_IN_ROOM,
    `Cannot handle "${quoted(event)}": the sender is not in an office`,
  );
}

/** Throws 503 while this process may not act for the caller. */
function requireServing({ hub, connection, event }: Call): void {
  if (!hub.offices.isServing(connection.sid)) throw outOfReach(`handle "${quoted(event)}"`);
}

/** Returns the membership of the caller; throws 403 for another role, and for an observer whose event does not only read. */
export function requireRole(call: Call, role: Role): Member {
  const member = requireMember(call);
  requireServing(call);
  if (member.isObserver && !OBSERVER_EVENTS.has(call.event)) {
    throw new SmcpError(
      ErrorCode.FORBIDDEN,
      `Cannot handle "${quoted(call.event)}": observers may only read`,
    );
  }
  if (member.role === role) return member;
  throw new SmcpError(
    ErrorCode.FORBIDDEN,
    `Cannot handle "${quoted(call.event)}": only the role "${role}" may send it`,
  );
}

/** Limits the notifications that one connection causes: they fill the buffers of members that read slowly. */
export function requirePace({ connection, event }: Call, notification: unknown): void {
  const bytes = PACKET_BYTES + 2 * JSON.stringify(notification).length;
  if (connection.notifying.take(bytes)) return;
  throw new SmcpError(
    ErrorCode.BAD_REQUEST,
    `Cannot handle "${quoted(event)}": too many notifications from this sender`,
    { details: { field: "event" } },
  );
}

export function toErrorAnswer(error: SmcpError, request: RefusedRequest): Answer {
  return [toErrorAckFor(request.connection.identity.version, error, request.event)];
}

export function toTextAnswer(error: SmcpError): Answer {
  return [false, buildRefusalText(error)];
}
