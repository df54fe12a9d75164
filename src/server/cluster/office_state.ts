/** The contract of what knows the offices: one process alone, or several that share them. */
import type { Connection, Target } from "../connection.ts";
import type { JoinOutcome, Member } from "../offices.ts";

/**
 * The members of all offices. Changes are asynchronous; finding the target of a request is synchronous, from what this
 * process knows. A change that is refused changes nothing. The changes of one connection must not overlap.
 */
export interface OfficeState {
  /**
   * Makes the candidate a member of its office, unless a rule of the protocol forbids it. The connection's former
   * membership ends, as does that of an older connection with the same session, role and principal.
   *
   * @throws {SmcpError} when the state is out of reach; nothing changed.
   */
  join(candidate: Member): Promise<JoinOutcome>;
  /** Ends the membership of a connection of this process, and returns it. */
  leave(sid: string): Promise<Member | undefined>;
  /** Lists the members of an office in the order in which they joined, without observers. */
  members(officeId: string): Promise<readonly Member[]>;
  /** Finds a Computer of an office by its name. */
  findComputer(officeId: string, name: string): Target | undefined;
  /** Sends a notification to all members of an office, except the connection `except`. Never throws. */
  notify(officeId: string, notification: Notification): void;
  /** Ends all memberships of this process. */
  close(): Promise<void>;
}

/** A `notify:*` event. */
export interface Notification {
  readonly event: string;
  readonly body: unknown;
  /** The `sid` of the connection that does not receive it. */
  readonly except?: string;
}

/** What an {@linkcode OfficeState} tells its Server, in the order in which it happens. */
export interface OfficeListener {
  /** Somebody has joined an office that has members on this process. */
  onJoined(member: Member, where: { readonly isHere: boolean }): void;
  /** Somebody has left an office that has members on this process. */
  onLeft(member: Member, how: Departure): void;
  /** Delivers a notification to the members of an office on this process. */
  deliver(officeId: string, notification: Notification): void;
  /** Finds a connection of this process. */
  connection(sid: string): Connection | undefined;
}

/** How a membership ended. */
export interface Departure {
  /** Whether the connection is one of this process. */
  readonly isHere: boolean;
  /** Whether its place was given to a newer connection, so that the connection must be closed. */
  readonly isReplaced: boolean;
}
