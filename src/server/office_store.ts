/** What the Server asks of whoever remembers the offices: narrow enough for a store that several Servers share. */
import type { Role } from "../protocol/office.ts";

/** A connection's membership in an office. */
export interface Member {
  /** The connection's Socket.IO id. */
  readonly sid: string;
  /** What it is. */
  readonly role: Role;
  /** Unique per office and role. */
  readonly name: string;
  /** Where it is a member. */
  readonly officeId: string;
  /** The protocol version that the connection announced; absent for 0.1-era peers. */
  readonly version?: string | undefined;
  /** Who the connection is, by the word of the `AuthProvider`. */
  readonly principal: string;
  /** The random value by which a returning member is known. */
  readonly session?: string | undefined;
  /** Whether it is an observer: an Agent that takes no seat, and that members neither see listed nor are notified of. */
  readonly isObserver: boolean;
  /** When it joined, in ISO 8601. */
  readonly joinedAt: string;
}

/** What became of a join. */
export type JoinOutcome =
  /** Nothing changed: the connection is that member already. */
  | { readonly kind: "unchanged"; readonly member: Member }
  /** Nothing changed: `reason` is the text of the refusal. */
  | { readonly kind: "refused"; readonly reason: string }
  | {
    readonly kind: "joined";
    readonly member: Member;
    /** The office that this connection left for the new one. */
    readonly left?: Member | undefined;
    /** What an older connection of the same session, role and principal was a member of: it is none any more. */
    readonly replaced?: Member | undefined;
  };

/** Remembers who is in which office. Each operation happens as a whole or not at all. */
export interface OfficeStore {
  /** Makes the candidate a member of its office, unless a rule of the protocol is against it. */
  join(candidate: Member): Promise<JoinOutcome>;
  /** Ends a connection's membership; `undefined` when it has none. */
  leave(sid: string): Promise<Member | undefined>;
  /** All members of an office in the order in which they came, without observers. */
  members(officeId: string): Promise<readonly Member[]>;
  /** The Computer of that name in that office. */
  findComputer(officeId: string, name: string): Promise<Member | undefined>;
}
