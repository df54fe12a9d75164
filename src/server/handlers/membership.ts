/** What a member's coming and going means for the rest of its office. */
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import type { EnterOfficeNotification } from "../../protocol/office.ts";
import type { LogFields } from "../../log.ts";
import type { Connection } from "../connection.ts";
import type { Hub } from "../hub.ts";
import type { Member } from "../office_store.ts";

/** Tells the office of its new member, unless that only looks on, and makes that hear the office from now on. */
export function arrive(hub: Hub, connection: Connection, member: Member): void {
  if (!member.isObserver) {
    hub.broadcast(member.officeId, { event: ENTER_OFFICE_NOTIFICATION, body: describe(member) });
  }
  connection.enter(member);
  hub.logger.info("joined office", fieldsOf(member));
}

/** Makes a former member hear the office no more, fails what it owes, and tells the office. */
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

/** Exactly one of `computer` and `agent` is there: strict peers refuse a null. */
function describe({ officeId, role, name }: Member): EnterOfficeNotification {
  return role === "agent" ? { office_id: officeId, agent: name } : { office_id: officeId, computer: name };
}
