/** The checks that follow the shape, in the protocol's order: 4103, then 403. And the ack of whatever fails. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type FailedRequest, SmcpError, toErrorAck } from "../../protocol/errors.ts";
import { READ_RESOURCE_EVENT, READING_EVENT_PREFIX } from "../../protocol/events.ts";
import type { Role } from "../../protocol/office.ts";
import type { Answer } from "../pending.ts";
import type { Call } from "../hub.ts";
import { quoted } from "../limits.ts";
import { PACKET_BYTES } from "../outbox.ts";
import type { Member } from "../offices.ts";

/** The caller's membership; refuses with 4103 when there is none. */
export function requireMember({ connection, event }: Call): Member {
  const { member } = connection;
  if (member !== undefined) return member;
  throw new SmcpError(ErrorCode.NOT_IN_ROOM, `Cannot handle "${quoted(event)}": the sender is in no office`);
}

/** The caller's membership; refuses with 403 when it has another role, or is an observer and the event does not only read. */
export function requireRole(call: Call, role: Role): Member {
  const member = requireMember(call);
  if (member.isObserver && !isReading(call.event)) {
    throw new SmcpError(
      ErrorCode.FORBIDDEN,
      `Cannot handle "${quoted(call.event)}": the sender is an observer, which may only read`,
    );
  }
  if (member.role === role) return member;
  throw new SmcpError(
    ErrorCode.FORBIDDEN,
    `Cannot handle "${quoted(call.event)}": the sender is no ${role}`,
  );
}

/** Refuses to tell the office more than one connection may cause: it would wait for members that read slowly. */
export function requirePace({ connection, event }: Call, notification: unknown): void {
  const bytes = PACKET_BYTES + 2 * JSON.stringify(notification).length;
  if (connection.notifying.take(bytes)) return;
  throw new SmcpError(
    ErrorCode.BAD_REQUEST,
    `Cannot handle "${quoted(event)}": the sender tells its office too much at once`,
    { details: { field: "event" } },
  );
}

/** What an observer may ask of a Computer. */
function isReading(event: string): boolean {
  return event.startsWith(READING_EVENT_PREFIX) || event === READ_RESOURCE_EVENT;
}

/** The ack of a refused request. */
export function toErrorAnswer(error: SmcpError, request: FailedRequest): Answer {
  return [toErrorAck(error, request)];
}

/** The ack of a refused join or leave. */
export function toTextAnswer(error: SmcpError): Answer {
  return [false, error.message];
}
