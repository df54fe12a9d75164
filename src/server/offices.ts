/** Offices in memory: the rules of joining and leaving. No sockets, no clock. */
import type { Role } from "../protocol/office.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { minorOf, parseProtocolVersion } from "../protocol/version.ts";
import { MAX_OBSERVERS } from "./limits.ts";

/** A connection's membership in an office. */
export interface Member {
  /** The Socket.IO id of the connection. */
  readonly sid: string;
  readonly role: Role;
  /** Unique per office and role. */
  readonly name: string;
  readonly officeId: string;
  /** The protocol version of the handshake; absent for peers of protocol 0.1. */
  readonly version?: string | undefined;
  /** The principal that the `AuthProvider` returned. */
  readonly principal: string;
  /** A random value of the client that identifies it when it reconnects. */
  readonly session?: string | undefined;
  /** Whether it is an observer: an Agent that takes no seat, is not listed, and joins without a notification. */
  readonly isObserver: boolean;
  /** The time of joining, in ISO 8601. */
  readonly joinedAt: string;
}

/** The result of a join. */
export type JoinOutcome =
  /** The connection already was this member. */
  | { readonly kind: "unchanged"; readonly member: Member }
  /** A rule forbids it; nothing changed. */
  | { readonly kind: "refused"; readonly reason: string }
  | {
    readonly kind: "joined";
    readonly member: Member;
    /** The former membership of this connection, in another office. */
    readonly left?: Member | undefined;
    /** The ended membership of an older connection with the same session, role and principal. */
    readonly replaced?: Member | undefined;
  };

/** An office. It exists as long as it has members or observers. */
interface Office {
  readonly members: Map<string, Member>;
  readonly observers: Map<string, Member>;
  readonly computers: Map<string, Member>;
  agent: Member | undefined;
  /** The MAJOR.MINOR of the members that announced a version, and their number. */
  minor: string | undefined;
  versioned: number;
}

/** The members of all offices. An operation that is refused changes nothing. */
export class Offices {
  readonly #members = new Map<string, Member>();
  readonly #offices = new Map<string, Office>();
  /** The `sid` of each session, by principal, role and session. */
  readonly #sessions = new Map<string, string>();

  /** The number of offices that are not empty. */
  get size(): number {
    return this.#offices.size;
  }

  /** Lists the members of an office in the order in which they joined, without observers. */
  members(officeId: string): readonly Member[] {
    return [...this.#offices.get(officeId)?.members.values() ?? []];
  }

  /** Finds a Computer of an office by its name. */
  findComputer(officeId: string, name: string): Member | undefined {
    return this.#offices.get(officeId)?.computers.get(name);
  }

  /** Makes the candidate a member of its office, unless a rule of the protocol forbids it. */
  join(candidate: Member): JoinOutcome {
    const current = this.#members.get(candidate.sid);
    if (current !== undefined && isSameMembership(current, candidate)) {
      return { kind: "unchanged", member: current };
    }
    const ghost = this.#ghostOf(candidate);
    const reason = refuseMove(candidate, current) ??
      refuseVersion(candidate, this.#minorWithout(candidate.officeId, [current, ghost])) ??
      this.#refuseTaken(candidate, [current, ghost]);
    if (reason !== undefined) return { kind: "refused", reason };
    const left = current && this.leave(current.sid);
    const replaced = ghost && this.leave(ghost.sid);
    this.#add(candidate);
    return { kind: "joined", member: candidate, left, replaced };
  }

  /** Finds the membership of an older connection with the same session, role and principal. */
  #ghostOf(candidate: Member): Member | undefined {
    const key = sessionKey(candidate);
    const sid = key === undefined ? undefined : this.#sessions.get(key);
    return sid === undefined || sid === candidate.sid ? undefined : this.#members.get(sid);
  }

  /** Returns the MAJOR.MINOR of an office without the members that leave. */
  #minorWithout(officeId: string, leaving: readonly (Member | undefined)[]): string | undefined {
    const office = this.#offices.get(officeId);
    if (office === undefined) return undefined;
    const going = leaving.filter((member) =>
      member?.officeId === officeId && minorOfMember(member) !== undefined
    );
    return office.versioned > going.length ? office.minor : undefined;
  }

  #refuseTaken(candidate: Member, leaving: readonly (Member | undefined)[]): string | undefined {
    const { officeId, name, role } = candidate;
    const office = this.#offices.get(officeId);
    if (office === undefined) return undefined;
    if (candidate.isObserver) {
      return refuseObserver([...office.observers.values()].filter((observer) => !leaving.includes(observer)));
    }
    const holder = role === "agent" ? office.agent : office.computers.get(name);
    if (holder === undefined || leaving.includes(holder)) return undefined;
    return explainTaken(candidate, holder);
  }

  #add(member: Member): void {
    const office = this.#offices.get(member.officeId) ?? this.#openOffice(member.officeId);
    const list = member.isObserver ? office.observers : office.members;
    list.set(member.sid, member);
    if (!member.isObserver) takeSeat(office, member);
    const minor = minorOfMember(member);
    if (minor !== undefined) {
      office.minor = minor;
      office.versioned++;
    }
    this.#members.set(member.sid, member);
    const key = sessionKey(member);
    if (key !== undefined) this.#sessions.set(key, member.sid);
  }

  #openOffice(officeId: string): Office {
    const office: Office = {
      members: new Map(),
      observers: new Map(),
      computers: new Map(),
      agent: undefined,
      minor: undefined,
      versioned: 0,
    };
    this.#offices.set(officeId, office);
    return office;
  }

  /** Ends the membership of a connection, and returns it. */
  leave(sid: string): Member | undefined {
    const member = this.#members.get(sid);
    const office = member && this.#offices.get(member.officeId);
    if (member === undefined || office === undefined) return undefined;
    this.#members.delete(sid);
    const key = sessionKey(member);
    if (key !== undefined && this.#sessions.get(key) === sid) this.#sessions.delete(key);
    office.members.delete(sid);
    office.observers.delete(sid);
    if (!member.isObserver) clearSeat(office, member);
    if (minorOfMember(member) !== undefined) office.versioned--;
    if (office.members.size + office.observers.size === 0) this.#offices.delete(member.officeId);
    return member;
  }
}

function takeSeat(office: Office, member: Member): void {
  if (member.role === "agent") office.agent = member;
  else office.computers.set(member.name, member);
}

function clearSeat(office: Office, { role, name }: Member): void {
  if (role === "agent") office.agent = undefined;
  else office.computers.delete(name);
}

/** Names the holder of the seat, and the time, only to a caller with the same principal. */
function explainTaken({ officeId, name, role, principal }: Member, holder: Member): string {
  const isOwn = holder.principal === principal;
  const since = isOwn ? `, since ${holder.joinedAt}` : "";
  if (role === "computer") {
    return `Computer with name '${name}' already exists in room '${officeId}'${since}. ` +
      `Use another name${isOwn ? ", or end that Computer" : ""}`;
  }
  const who = isOwn ? `: "${holder.name}"${since}` : "";
  return `Room already has an agent (${ErrorCode.ROOM_FULL})${who}. ` +
    `${isOwn ? "End that Agent, wait" : "Wait"} until it leaves, or use another office`;
}

function refuseObserver(others: readonly Member[]): string | undefined {
  return others.length < MAX_OBSERVERS
    ? undefined
    : `Room is full of observers (${ErrorCode.ROOM_FULL}): the limit is ${MAX_OBSERVERS}`;
}

function isSameMembership(a: Member, b: Member): boolean {
  return a.officeId === b.officeId && a.role === b.role && a.name === b.name;
}

/** A connection cannot change its role, nor its name within an office; an Agent cannot change its office. */
function refuseMove(candidate: Member, current: Member | undefined): string | undefined {
  if (current === undefined) return undefined;
  const { officeId, role, name } = candidate;
  if (current.role !== role) {
    return `Cannot join room '${officeId}' as ${role}: this connection joined as ${current.role} '${current.name}'`;
  }
  if (current.officeId === officeId) {
    return `Cannot join room '${officeId}' as '${name}': this connection joined it as '${current.name}'`;
  }
  if (role === "agent") return `Cannot join room '${officeId}': this agent is in room '${current.officeId}'`;
  return undefined;
}

/** All members of an office have one MAJOR.MINOR; peers without a version may join any office. */
function refuseVersion(candidate: Member, held: string | undefined): string | undefined {
  const minor = minorOfMember(candidate);
  if (minor === undefined || held === undefined || minor === held) return undefined;
  return `Protocol version mismatch (${ErrorCode.PROTOCOL_VERSION_MISMATCH}): ` +
    `room '${candidate.officeId}' uses ${held}, this connection ${minor}`;
}

function minorOfMember(member: Member): string | undefined {
  const version = member.version === undefined ? undefined : parseProtocolVersion(member.version);
  return version && minorOf(version);
}

function sessionKey({ principal, role, session, isObserver }: Member): string | undefined {
  if (session === undefined) return undefined;
  return JSON.stringify([principal, isObserver ? "observer" : role, session]);
}
