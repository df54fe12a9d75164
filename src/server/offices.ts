/** Offices in memory: the rules of joining and leaving. No sockets, no clock. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { minorOf, parseProtocolVersion } from "../protocol/version.ts";
import { MAX_OBSERVERS } from "./limits.ts";
import type { JoinOutcome, Member, OfficeStore } from "./office_store.ts";

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

/** The {@linkcode OfficeStore} of a Server that stands alone. */
export class Offices implements OfficeStore {
  readonly #members = new Map<string, Member>();
  readonly #offices = new Map<string, Office>();
  /** The connection of each session, by principal, role and session. */
  readonly #sessions = new Map<string, string>();

  /** How many offices there are: empty ones are forgotten. */
  get size(): number {
    return this.#offices.size;
  }

  join(candidate: Member): Promise<JoinOutcome> {
    return Promise.resolve(this.#join(candidate));
  }

  leave(sid: string): Promise<Member | undefined> {
    return Promise.resolve(this.#remove(sid));
  }

  members(officeId: string): Promise<readonly Member[]> {
    return Promise.resolve([...this.#offices.get(officeId)?.members.values() ?? []]);
  }

  findComputer(officeId: string, name: string): Promise<Member | undefined> {
    return Promise.resolve(this.#offices.get(officeId)?.computers.get(name));
  }

  #join(candidate: Member): JoinOutcome {
    const current = this.#members.get(candidate.sid);
    if (current !== undefined && isSameMembership(current, candidate)) {
      return { kind: "unchanged", member: current };
    }
    const ghost = this.#ghostOf(candidate);
    const reason = refuseMove(candidate, current) ??
      refuseVersion(candidate, this.#minorWithout(candidate.officeId, [current, ghost])) ??
      this.#refuseTaken(candidate, [current, ghost]);
    if (reason !== undefined) return { kind: "refused", reason };
    const left = current && this.#remove(current.sid);
    const replaced = ghost && this.#remove(ghost.sid);
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

  #remove(sid: string): Member | undefined {
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
