/** `server:join_office`, `server:leave_office` and `server:list_room`. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { parseEnterOfficeReq, parseLeaveOfficeReq, parseListRoomReq } from "../../protocol/parse.ts";
import { LoggedRefusal } from "../observe/audit.ts";
import { describeGrant, isGranted, type WantedSeat } from "../admission/grant.ts";
import type { Departure } from "../offices/offices.ts";
import type { Connection } from "./connection.ts";
import type { Hub, Route } from "./hub.ts";
import type { Member } from "../offices/office.ts";
import { requireMember, requirePace, toErrorAnswer, toTextAnswer } from "./caller.ts";
import type { EnterOfficeNotification, ListRoomRet, SessionInfo } from "../../protocol/office.ts";
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import { type Farewell, FarewellCode } from "../../protocol/farewell.ts";
import type { LogFields } from "../../log.ts";

/** `server:join_office`: makes the caller a member of an office; acks `(true, null)` or `(false, "reason")`. */
export const joinOffice: Route = {
  async handle(call) {
    const { hub, connection, body } = call;
    const { role, name, office_id: officeId } = parseEnterOfficeReq(body);
    requirePace(call, { name, officeId });
    const isObserver = connection.identity.isObserver && role === "agent";
    requireGrant(connection, { officeId, role, isObserver });
    const { principal } = connection.identity;
    const leaving = connection.member?.officeId;
    hub.quotas.join({ officeId, principal, leaving });
    let isJoined = false;
    try {
      const outcome = await hub.offices.join({
        ...connection.identity,
        isObserver,
        joinedAt: new Date().toISOString(),
        sid: connection.sid,
        role,
        name,
        officeId,
      });
      if (outcome.kind === "refused") throw new SmcpError(outcome.code, outcome.reason);
      isJoined = outcome.kind === "joined";
      return [true, null];
    } finally {
      if (!isJoined) hub.quotas.leave({ officeId, principal });
    }
  },
  refuse: toTextAnswer,
};

/** The refusal is the same for an office that exists and one that does not. */
function requireGrant({ grant }: Connection, seat: WantedSeat): void {
  if (grant === undefined || isGranted(grant, seat)) return;
  const role = seat.isObserver ? "observer (an agent that only reads)" : seat.role;
  throw new LoggedRefusal(
    ErrorCode.FORBIDDEN,
    `The credentials do not allow the role ${role} in office "${seat.officeId}"; ` +
      "ask who runs the Server for credentials of this office and role",
    { log: describeGrant(grant) },
  );
}

/** `server:leave_office`: ends the membership of the caller; acks `(true, null)` or `(false, "reason")`. */
export const leaveOffice: Route = {
  async handle(call) {
    const { hub, connection } = call;
    const { office_id } = parseLeaveOfficeReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot leave office "${office_id}": the sender is not in it`);
    }
    await hub.offices.leave(connection.sid);
    return [true, null];
  },
  refuse: toTextAnswer,
};

/** `server:list_room`: lists the members of the caller's office, for any role. */
export const listRoom: Route = {
  async handle(call) {
    const { office_id, req_id } = parseListRoomReq(call.body);
    if (requireMember(call).officeId !== office_id) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot list office "${office_id}": the sender is not in it`);
    }
    const members = await call.hub.offices.members(office_id);
    const answer: ListRoomRet = { sessions: members.map(toSessionInfo), req_id };
    return [answer];
  },
  refuse: toErrorAnswer,
};

function toSessionInfo({ sid, name, role, officeId, version }: Member): SessionInfo {
  const session = { sid, name, role, office_id: officeId };
  return version === undefined ? session : { ...session, a2c_version: version };
}

type MembershipContext = Pick<Hub, "connection" | "departureReasons" | "deliver" | "audit" | "quotas">;

/** Notifies the members on this process of a new member, unless it is an observer, and makes its connection enter. */
export function arrive(
  hub: MembershipContext,
  member: Member,
  { isHere }: { readonly isHere: boolean },
): void {
  if (!member.isObserver) {
    hub.deliver(member.officeId, { event: ENTER_OFFICE_NOTIFICATION, body: describe(member) });
  }
  if (!isHere) return;
  hub.connection(member.sid)?.enter(member);
  hub.audit.write("info", "joined office", { action: "join", fields: fieldsOf(member) });
}

/** Ends the requests of a former member, and notifies the members on this process; its connection may have to be closed. */
export function depart(hub: MembershipContext, member: Member, { isHere, reason }: Departure): void {
  const connection = isHere ? hub.connection(member.sid) : undefined;
  if (isHere) hub.quotas.leave(member);
  // A connection that moved has entered the other office already.
  if (connection?.member?.officeId === member.officeId) connection.exit();
  if (!member.isObserver) {
    hub.deliver(member.officeId, { event: LEAVE_OFFICE_NOTIFICATION, body: describe(member) });
  }
  const farewell = reason === "left" ? undefined : farewells[reason];
  if (isHere) {
    const fields = {
      ...fieldsOf(member),
      reason: farewell?.code ?? hub.departureReasons.get(member.sid) ?? "left",
    };
    hub.audit.write("info", "left office", { action: "leave", fields });
  }
  if (farewell !== undefined) connection?.dismiss(farewell);
}

const farewells: Readonly<Record<Exclude<Departure["reason"], "left">, Farewell>> = {
  replaced: {
    code: FarewellCode.SESSION_REPLACED,
    message: "A newer connection of this member has taken its place",
    reconnect: true,
  },
  lost: {
    code: FarewellCode.LEASE_LOST,
    message:
      "The place of this member was given away while the Server process was frozen, or could not reach Redis",
    reconnect: true,
  },
};

function fieldsOf({ sid, officeId, role, name, version, principal, isObserver }: Member): LogFields {
  return { sid, office: officeId, role: isObserver ? "observer" : role, name, version, principal };
}

/** Sets either `computer` or `agent`: strict peers reject a null. */
function describe({ officeId, role, name }: Member): EnterOfficeNotification {
  return role === "agent" ? { office_id: officeId, agent: name } : { office_id: officeId, computer: name };
}
