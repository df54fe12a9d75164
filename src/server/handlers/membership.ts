/** Joining and leaving: the notifications to the office and the log lines. */
import { ENTER_OFFICE_NOTIFICATION, LEAVE_OFFICE_NOTIFICATION } from "../../protocol/events.ts";
import type { EnterOfficeNotification } from "../../protocol/office.ts";
import type { LogFields } from "../../log.ts";
import type { Connection } from "../connection.ts";
import type { Hub } from "../hub.ts";
import type { Member } from "../office_store.ts";

/** Notifies the office of its new member, unless it is an observer, and adds the connection to the office. */
export function arrive(hub: Hub, connection: Connection, member: Member): void {
  if (!member.isObserver) {
    hub.broadcast(member.officeId, { event: ENTER_OFFICE_NOTIFICATION, body: describe(member) });
  }
  connection.enter(member);
  hub.logger.info("joined office", fieldsOf(member));
}

/** Removes a former member's connection from the office, ends its requests, and notifies the office. */
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
