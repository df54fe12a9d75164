/** Offices in memory: the rules of joining and leaving. No sockets, no clock. */
import type { Role } from "../protocol/office.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { minorOf, parseProtocolVersion } from "../protocol/version.ts";
import { MAX_OBSERVERS } from "./limits.ts";

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

/** One office; it exists as long as it has members. */
interface Office {
  readonly members: Map<string, Member>;
  readonly observers: Map<string, Member>;
  readonly computers: Map<string, Member>;
  agent: Member | undefined;
  /** The MAJOR.MINOR of its versioned members, and how many they are. */
  minor: string | undefined;
  versioned: number;
}

/** Who is in which office. Each operation happens as a whole or not at all. */
export class Offices {
  readonly #members = new Map<string, Member>();
  readonly #offices = new Map<string, Office>();
  /** The connection of each session, by principal, role and session. */
  readonly #sessions = new Map<string, string>();

  /** How many offices there are: empty ones are forgotten. */
  get size(): number {
    return this.#offices.size;
  }

  /** All members of an office in the order in which they joined, without observers. */
  members(officeId: string): readonly Member[] {
    return [...this.#offices.get(officeId)?.members.values() ?? []];
  }

  /** The Computer of that name in that office. */
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

  /** What an older connection of the same session, role and principal is a member of. */
  #ghostOf(candidate: Member): Member | undefined {
    const key = sessionKey(candidate);
    const sid = key === undefined ? undefined : this.#sessions.get(key);
    return sid === undefined || sid === candidate.sid ? undefined : this.#members.get(sid);
  }

  /** The MAJOR.MINOR that an office will hold once these members have gone. */
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

  /** Ends a connection's membership; `undefined` when it has none. */
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

/** Only a caller of the same principal is told who holds the name or the seat, and since when. */
function explainTaken({ officeId, name, role, principal }: Member, holder: Member): string {
  const isOwn = holder.principal === principal;
  const since = isOwn ? `, since ${holder.joinedAt}` : "";
  if (role === "computer") {
    return `Computer with name '${name}' already exists in room '${officeId}'${since}. ` +
      `Use another name${isOwn ? ", or end that Computer" : ""}`;
  }
  const who = isOwn ? `: "${holder.name}"${since}` : "";
  return `Room already has an agent (${ErrorCode.ROOM_FULL})${who}. ` +
    `Use another office, ${isOwn ? "end that Agent, " : ""}or connect as an observer`;
}

function refuseObserver(others: readonly Member[]): string | undefined {
  return others.length < MAX_OBSERVERS
    ? undefined
    : `Room is full of observers (${ErrorCode.ROOM_FULL}): ${MAX_OBSERVERS} of ${MAX_OBSERVERS} are there`;
}

function isSameMembership(a: Member, b: Member): boolean {
  return a.officeId === b.officeId && a.role === b.role && a.name === b.name;
}

/** A connection keeps its role and, within an office, its name; an Agent keeps its office. */
function refuseMove(candidate: Member, current: Member | undefined): string | undefined {
  if (current === undefined) return undefined;
  const { officeId, role, name } = candidate;
  if (current.role !== role) {
    return `Cannot join room '${officeId}' as ${role}: this connection is the ${current.role} '${current.name}'`;
  }
  if (current.officeId === officeId) {
    return `Cannot join room '${officeId}' as '${name}': this connection is in it as '${current.name}'`;
  }
  if (role === "agent") return `Cannot join room '${officeId}': this agent is in room '${current.officeId}'`;
  return undefined;
}

/** One office holds one MAJOR.MINOR; peers that announce none are admitted to any. */
function refuseVersion(candidate: Member, held: string | undefined): string | undefined {
  const minor = minorOfMember(candidate);
  if (minor === undefined || held === undefined || minor === held) return undefined;
  return `Protocol version mismatch (${ErrorCode.PROTOCOL_VERSION_MISMATCH}): ` +
    `room '${candidate.officeId}' speaks ${held}, this connection ${minor}`;
}

function minorOfMember(member: Member): string | undefined {
  const version = member.version === undefined ? undefined : parseProtocolVersion(member.version);
  return version && minorOf(version);
}

function sessionKey({ principal, role, session, isObserver }: Member): string | undefined {
  if (session === undefined) return undefined;
  return JSON.stringify([principal, isObserver ? "observer" : role, session]);
}
