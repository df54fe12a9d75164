/** What the connections of a Server share: its offices, and what happens when a member arrives or departs. */
import { Followers } from "../../async/followers.ts";
import { Timeouts } from "../../async/timeouts.ts";
import type { BoundedLog } from "../../bounded_log.ts";
import type { LogFields, Logger } from "../../log.ts";
import {
  CANCEL_TOOL_CALL_NOTIFICATION,
  ENTER_OFFICE_NOTIFICATION,
  LEAVE_OFFICE_NOTIFICATION,
} from "../../protocol/events.ts";
import { type Farewell, FarewellCode } from "../../protocol/farewell.ts";
import type { EnterOfficeNotification } from "../../protocol/office.ts";
import type { Drain } from "../drain.ts";
import { auditFields, createEventLogs, openAudit } from "../observe/logs.ts";
import type { SeenEvent } from "../observe/seen_event.ts";
import { MemoryOffices } from "../offices/memory.ts";
import type { Member } from "../offices/office.ts";
import type { Departure, Notification, OfficeListener, Offices } from "../offices/offices.ts";
import { RedisOffices } from "../offices/redis/offices.ts";
import type { Settings } from "../options/settings.ts";
import type { Connection, ConnectionContext } from "./connection.ts";
import { ObserverRequests } from "./pending_requests.ts";
import { Sleepers } from "./presence.ts";

interface RelayStateOptions {
  readonly settings: Settings;
  readonly drain: Drain;
  /** Sends a notification to the members of an office on this process, except the connection `except`. */
  readonly deliver: (officeId: string, notification: Notification) => void;
}

export class RelayState implements ConnectionContext, OfficeListener {
  readonly settings: Settings;
  readonly drain: Drain;
  readonly #deliver: RelayStateOptions["deliver"];
  readonly logger: Logger;
  readonly audit: BoundedLog;
  readonly createEventLog: ConnectionContext["createEventLog"];
  readonly createErrorLog: ConnectionContext["createErrorLog"];
  readonly timeouts = new Timeouts();
  readonly returnMs: number;
  readonly observerRequests: ObserverRequests;
  readonly connections = new Map<string, Connection>();
  readonly probed = new Set<Connection>();
  /** Empty where several processes share the offices: a member may have come back to another one. */
  readonly sleepers = new Sleepers();
  /** Why the memberships of closed connections end, by `sid`, until they have ended. */
  readonly departureReasons = new Map<string, string>();
  readonly offices: Offices;
  /** Those who look at the events of members. */
  readonly seen: Followers<SeenEvent>;

  constructor({ settings, drain, deliver }: RelayStateOptions) {
    const { logger, redis } = settings;
    this.settings = settings;
    this.returnMs = settings.returnMs;
    this.drain = drain;
    this.#deliver = deliver;
    this.logger = logger;
    this.seen = new Followers(logger);
    this.audit = openAudit(logger);
    this.createEventLog = createEventLogs(logger);
    this.createErrorLog = createEventLogs(logger, { kind: "relayedErrors" });
    const { timeouts } = this;
    const observerRequests = this.observerRequests = new ObserverRequests(settings);
    this.offices = redis === undefined
      ? new MemoryOffices(this, settings)
      : new RedisOffices(redis, { ...settings, drain, timeouts, observerRequests, listener: this });
  }

  /** Sends a notification to the members on this process. A cancel also follows the requests that wait. */
  deliver(officeId: string, notification: Notification): void {
    this.#deliver(officeId, notification);
    const { event, body } = notification;
    if (event !== CANCEL_TOOL_CALL_NOTIFICATION) return;
    for (const connection of [...this.probed]) {
      if (connection.member?.officeId === officeId) connection.repeat(event, body);
    }
  }

  /** Remembers that a member slept when its connection ended. */
  onLost({ member, presence }: Connection, cause: string): void {
    const isAsleep = cause === "ping timeout" || presence.asleepSince !== undefined;
    if (member !== undefined && isAsleep && this.settings.redis === undefined) {
      this.sleepers.add(member, presence.lastRead);
    }
  }

  /** Notifies the members on this process of a new member, unless it is an observer, and makes its connection enter. */
  onJoined(member: Member, { isHere }: { readonly isHere: boolean }): void {
    this.sleepers.forget(member);
    if (!member.isObserver) {
      this.deliver(member.officeId, { event: ENTER_OFFICE_NOTIFICATION, body: describe(member) });
    }
    if (!isHere) return;
    this.connections.get(member.sid)?.enter(member);
    this.audit.write("info", "joined office", auditFields("join", fieldsOf(member)));
  }

  /** Ends the requests of a former member, and notifies the members on this process; its connection may have to be closed. */
  onLeft(member: Member, { isHere, reason }: Departure): void {
    const connection = isHere ? this.connections.get(member.sid) : undefined;
    // A connection that moved has entered the other office already.
    if (connection?.member?.officeId === member.officeId) connection.exit({ mayReturn: reason !== "left" });
    if (!member.isObserver) {
      this.deliver(member.officeId, { event: LEAVE_OFFICE_NOTIFICATION, body: describe(member) });
    }
    const farewell = reason === "left" ? undefined : farewells[reason];
    if (isHere) {
      const why = farewell?.code ?? this.departureReasons.get(member.sid) ?? "left";
      this.audit.write("info", "left office", auditFields("leave", { ...fieldsOf(member), reason: why }));
    }
    if (farewell !== undefined) connection?.dismiss(farewell);
  }

  async close(): Promise<void> {
    await this.offices.close();
    this.timeouts.clear();
    this.audit.close();
  }
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
