/** The contract of what knows the offices: one process alone, or several that share them. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import type { SmcpError } from "../../protocol/errors.ts";
import { LoggedRefusal } from "../observe/logs.ts";
import type { Connection, Target } from "../relay/connection.ts";
import type { JoinOutcome, Member } from "./office.ts";
import { describeUnanswered } from "../relay/pending_requests.ts";

/**
 * The members of all offices. Changes are asynchronous; finding the target of a request is synchronous, from what this
 * process knows. A change that is refused changes nothing. The changes of one connection must not overlap.
 */
export interface Offices {
  /**
   * Makes the candidate a member of its office, unless a rule of the protocol forbids it. The connection's former
   * membership ends, as does that of an older connection with the same session, role and principal.
   *
   * @throws {SmcpError} when the state is out of reach; nothing changed.
   */
  join(candidate: Member): Promise<JoinOutcome>;
  /** Ends the membership of a connection of this process, if it has one. */
  leave(sid: string): Promise<void>;
  /** Lists the members of an office in the order in which they joined, without observers. */
  members(officeId: string): Promise<readonly Member[]>;
  /**
   * Whether this process may act for a member of it now. It is `false` while the member's place may have been given away
   * without this process knowing. To be asked before each relay, and before each answer.
   */
  isServing(sid: string): boolean;
  /** Finds a Computer of an office by its name. Throws an {@linkcode SmcpError} while it may have been given away. */
  findComputer(officeId: string, name: string): Target | undefined;
  /** Sends a notification to all members of an office, except the connection `except`. Never throws. */
  notify(officeId: string, notification: Notification): void;
  /** Resolves after the first attempt to reach what the state is kept in. */
  readonly started: Promise<void>;
  /** Why no new sessions should come here now; `undefined` while all is well. */
  readonly unready: string | undefined;
  close(): Promise<void>;
}

const OUT_OF_REACH = { redis: "out of reach" };

/** @param intent What cannot be done, such as `relay "client:tool_call"`. */
export function outOfReach(intent: string, cause?: unknown): SmcpError {
  return new LoggedRefusal(
    ErrorCode.UNAVAILABLE,
    `Cannot ${intent}: the Server cannot use the store that its processes share (Redis) now. ` +
      "Try again in a few seconds; if this lasts, tell whoever runs the Server",
    { cause, log: OUT_OF_REACH },
  );
}

/** The error of a request that was relayed, and whose answer may not be passed on, or is lost, for the same reason. */
export function answerLost(request: { readonly event: string; readonly computer: string }): SmcpError {
  const { message, details } = describeUnanswered(
    request,
    "before the Server lost the store that its processes share (Redis)",
  );
  return new LoggedRefusal(ErrorCode.UNAVAILABLE, message, { details, log: OUT_OF_REACH });
}

export interface OfficeBounds {
  readonly maxMembersPerOffice: number;
}

/** A `notify:*` event. */
export interface Notification {
  readonly event: string;
  readonly body: unknown;
  readonly except?: string;
}

/** What an {@linkcode Offices} tells its Server, in the order in which it happens. */
export interface OfficeListener {
  onJoined(member: Member, where: { readonly isHere: boolean }): void;
  onLeft(member: Member, how: Departure): void;
  deliver(officeId: string, notification: Notification): void;
  /** The connections of this process. */
  readonly connections: Pick<ReadonlyMap<string, Connection>, "get">;
}

export interface Departure {
  readonly isHere: boolean;
  /** Whether the connection must be closed: a newer one has its place, or the place was given away. */
  readonly reason: "left" | "replaced" | "lost";
}
