/** `server:join_office`, `server:leave_office` and `server:list_room`. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { parseEnterOfficeReq, parseLeaveOfficeReq, parseListRoomReq } from "../../protocol/parse.ts";
import { isGranted, type WantedSeat } from "../auth/grant.ts";
import type { Hub, Route } from "../hub.ts";
import type { Member } from "../offices.ts";
import { requireMember, requirePace, toErrorAnswer, toTextAnswer } from "./caller.ts";
import type { EnterOfficeNotification, ListRoomRet, SessionInfo } from "../../protocol/office.ts";
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import { FarewellCode } from "../../protocol/farewell.ts";
import type { LogFields } from "../../log.ts";
import type { Connection } from "../connection.ts";

/** `server:join_office`: makes the caller a member of an office; acks `(true, null)` or `(false, "reason")`. */
export const joinOffice: Route = {
  handle(call) {
    const { hub, connection, body } = call;
    const { role, name, office_id: officeId } = parseEnterOfficeReq(body);
    requirePace(call, { name, officeId });
    const isObserver = connection.identity.isObserver && role === "agent";
    requireGrant(connection, { officeId, role, isObserver });
    const outcome = hub.offices.join({
      ...connection.identity,
      isObserver,
      joinedAt: new Date().toISOString(),
      sid: connection.sid,
      role,
      name,
      officeId,
    });
    if (outcome.kind === "refused") throw new SmcpError(ErrorCode.FORBIDDEN, outcome.reason);
    if (outcome.kind === "joined") {
      if (outcome.left !== undefined) depart(hub, outcome.left);
      if (outcome.replaced !== undefined) replace(hub, outcome.replaced);
      arrive(hub, connection, outcome.member);
    }
    return [true, null];
  },
  refuse: toTextAnswer,
};

/** The refusal is the same for an office that exists and one that does not. */
function requireGrant({ grant }: Connection, seat: WantedSeat): void {
  if (grant === undefined || isGranted(grant, seat)) return;
  const role = seat.isObserver ? "observer" : seat.role;
  throw new SmcpError(
    ErrorCode.FORBIDDEN,
    `Cannot join room '${seat.officeId}' as ${role}: the credentials do not allow it`,
  );
}

/** Ends the old connection of a member that has reconnected. */
function replace(hub: Hub, ghost: Member): void {
  depart(hub, ghost);
  hub.connection(ghost.sid)?.dismiss({
    code: FarewellCode.SESSION_REPLACED,
    message: "A newer connection of this member has taken its place",
    reconnect: true,
  });
}

/** `server:leave_office`: ends the membership of the caller; acks `(true, null)` or `(false, "reason")`. */
export const leaveOffice: Route = {
  handle(call) {
    const { hub, connection } = call;
    const { office_id } = parseLeaveOfficeReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot leave room '${office_id}': the sender is not in it`);
    }
    const member = hub.offices.leave(connection.sid);
    if (member !== undefined) depart(hub, member);
    return [true, null];
  },
  refuse: toTextAnswer,
};

/** `server:list_room`: lists the members of the caller's office, for any role. */
export const listRoom: Route = {
  handle(call) {
    const { office_id, req_id } = parseListRoomReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot list room '${office_id}': the sender is not in it`);
    }
    const members = call.hub.offices.members(office_id);
    const answer: ListRoomRet = { sessions: members.map(toSessionInfo), req_id };
    return [answer];
  },
  refuse: toErrorAnswer,
};

function toSessionInfo({ sid, name, role, officeId, version }: Member): SessionInfo {
  const session = { sid, name, role, office_id: officeId };
  return version === undefined ? session : { ...session, a2c_version: version };
}

/** Notifies the office of a new member, unless it is an observer, and adds its connection. */
function arrive(hub: Hub, connection: Connection, member: Member): void {
  if (!member.isObserver) {
    hub.broadcast(member.officeId, { event: ENTER_OFFICE_NOTIFICATION, body: describe(member) });
  }
  connection.enter(member);
  hub.logger.info("joined office", fieldsOf(member));
}

/** Removes the connection of a former member, ends its requests, and notifies the office. */
export function depart(hub: Hub, member: Member): void {
  hub.connection(member.sid)?.exit();
  if (!member.isObserver) {
    hub.broadcast(member.officeId, { event: LEAVE_OFFICE_NOTIFICATION, body: describe(member) });
  }
  hub.logger.info("left office", fieldsOf(member));
}

function fieldsOf({ officeId, role, name, version, principal, isObserver }: Member): LogFields {
  return { office: officeId, role: isObserver ? "observer" : role, name, version, principal };
}

/** Sets either `computer` or `agent`: strict peers reject a null. */
function describe({ officeId, role, name }: Member): EnterOfficeNotification {
  return role === "agent" ? { office_id: officeId, agent: name } : { office_id: officeId, computer: name };
}
