/** The members of an office, and the rules of joining and leaving. */
import type { Role } from "../../protocol/office.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { buildVersionRefusalText } from "../../protocol/refusal_text.ts";
import { minorOf, parseProtocolVersion } from "../../protocol/version.ts";
import { skeletonOf } from "../../protocol/look_alikes.ts";
import { optionLabel } from "../options/checks.ts";

/** The most observers of one office. */
const MAX_OBSERVERS = 16;

export interface Member {
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
  readonly joinedAt: string;
}

export type JoinOutcome =
  | { readonly kind: "joined"; readonly member: Member }
  | { readonly kind: "unchanged"; readonly member: Member }
  /** A rule forbids it; nothing changed. */
  | ({ readonly kind: "refused" } & JoinRefusal);

export interface JoinRefusal {
  /** 403 for a rule of the protocol, 429 for a limit. */
  readonly code: typeof ErrorCode.FORBIDDEN | typeof ErrorCode.TOO_MANY_REQUESTS;
  readonly reason: string;
}

/**
 * The members of one office, and the rules of joining it. Every implementation of {@linkcode Offices} asks this class,
 * so the rules exist once. No sockets, no clock.
 */
export class Office {
  /** Without observers, in the order in which they joined. */
  readonly #members = new Map<string, Member>();
  /** Most offices never have any. */
  #observers: Map<string, Member> | undefined;
  readonly #computers = new Map<string, Member>();
  /** The Computers by what their names look like. */
  readonly #looks = new Map<string, Member>();
  #agent: Member | undefined;
  /** The MAJOR.MINOR of the members that announced a version, and their number. */
  #minor: string | undefined;
  #versioned = 0;

  get size(): number {
    return this.#members.size + (this.#observers?.size ?? 0);
  }

  members(): readonly Member[] {
    return [...this.#members.values()];
  }

  everybody(): readonly Member[] {
    return [...this.#members.values(), ...this.#observers?.values() ?? []];
  }

  find(sid: string): Member | undefined {
    return this.#members.get(sid) ?? this.#observers?.get(sid);
  }

  findComputer(name: string): Member | undefined {
    return this.#computers.get(name);
  }

  /**
   * Returns why the candidate may not join; `undefined` when it may.
   *
   * @param leaving Memberships that end when the candidate joins. Those of other offices are ignored.
   * @param maxMembers The most members without observers; any number by default. The last place is that of the Agent,
   * unless it is the only one.
   */
  refuse(
    candidate: Member,
    leaving: readonly (Member | undefined)[],
    maxMembers: number = Infinity,
  ): JoinRefusal | undefined {
    const forbidden = refuseVersion(candidate, this.#minorWithout(leaving)) ??
      this.#refuseTaken(candidate, leaving);
    if (forbidden !== undefined) return { code: ErrorCode.FORBIDDEN, reason: forbidden };
    const full = this.#refuseFull(candidate, { leaving, maxMembers });
    return full === undefined ? undefined : { code: ErrorCode.TOO_MANY_REQUESTS, reason: full };
  }

  add(member: Member): void {
    const list = member.isObserver ? this.#observers ??= new Map() : this.#members;
    list.set(member.sid, member);
    if (!member.isObserver) this.#takeSeat(member);
    const minor = minorOfMember(member);
    if (minor === undefined) return;
    this.#minor = minor;
    this.#versioned++;
  }

  remove(sid: string): Member | undefined {
    const member = this.find(sid);
    if (member === undefined) return undefined;
    this.#members.delete(sid);
    this.#observers?.delete(sid);
    if (!member.isObserver) this.#clearSeat(member);
    if (minorOfMember(member) !== undefined) this.#versioned--;
    return member;
  }

  #takeSeat(member: Member): void {
    if (member.role === "agent") this.#agent = member;
    else {
      this.#computers.set(member.name, member);
      this.#looks.set(skeletonOf(member.name), member);
    }
  }

  #clearSeat({ role, name }: Member): void {
    if (role === "agent") this.#agent = undefined;
    else {
      this.#computers.delete(name);
      this.#looks.delete(skeletonOf(name));
    }
  }

  #minorWithout(leaving: readonly (Member | undefined)[]): string | undefined {
    const going = leaving.filter((member) =>
      member !== undefined && this.find(member.sid) === member && minorOfMember(member) !== undefined
    );
    return this.#versioned > going.length ? this.#minor : undefined;
  }

  #refuseFull({ officeId, role, isObserver }: Member, { leaving, maxMembers }: {
    readonly leaving: readonly (Member | undefined)[];
    readonly maxMembers: number;
  }): string | undefined {
    if (isObserver) return undefined;
    // Computers come in any number, and an office without its Agent serves nobody.
    const isReserved = role === "computer" && maxMembers > 1;
    const isCounted = (member: Member | undefined) =>
      member !== undefined && this.#members.get(member.sid) === member &&
      !(isReserved && member.role === "agent");
    const count = isReserved ? this.#computers.size : this.#members.size;
    const max = isReserved ? maxMembers - 1 : maxMembers;
    if (count < max || count - leaving.filter(isCounted).length < max) return undefined;
    const state = isReserved
      ? `it has ${max} Computers, and the last of ${maxMembers} places is that of its Agent`
      : `it is full, the limit is ${maxMembers} members`;
    return `${cannotJoin(officeId)}: ${state}, by ${optionLabel("maxMembersPerOffice")}. ` +
      "Wait until one leaves, use another office, or ask the operator for a higher limit";
  }

  #refuseTaken(candidate: Member, leaving: readonly (Member | undefined)[]): string | undefined {
    if (candidate.isObserver) {
      return refuseObserver(
        [...this.#observers?.values() ?? []].filter((observer) => !leaving.includes(observer)),
      );
    }
    const holder = candidate.role === "agent" ? this.#agent : this.#looks.get(skeletonOf(candidate.name));
    if (holder === undefined || leaving.includes(holder)) return undefined;
    return explainTaken(candidate, holder);
  }
}

/** Names the holder of the seat, and the time, only to a caller with the same principal. */
function explainTaken({ officeId, name, role, principal }: Member, holder: Member): string {
  const isOwn = holder.principal === principal;
  const since = isOwn ? `, since ${holder.joinedAt}` : "";
  if (role === "computer") {
    const isSame = name === holder.name;
    const who = isSame ? `Computer with name '${name}'` : `Computer with a name that looks like '${name}'`;
    const held = isOwn && !isSame ? `: '${holder.name}'` : "";
    return `${who} already exists in room '${officeId}'${held}${since}. ` +
      `Use another name${isOwn ? ", or end that Computer" : ""}`;
  }
  const who = isOwn ? `: "${holder.name}"${since}` : "";
  return `Room already has an agent (${ErrorCode.ROOM_FULL})${who}. ` +
    `${isOwn ? "End that Agent, wait" : "Wait"} until it leaves, or use another office`;
}

function refuseObserver(others: readonly Member[]): string | undefined {
  return others.length < MAX_OBSERVERS
    ? undefined
    : `The office is full of observers (${ErrorCode.ROOM_FULL}): the limit is ${MAX_OBSERVERS}. Wait until one leaves`;
}

export function isSameMembership(a: Member, b: Member): boolean {
  return a.officeId === b.officeId && a.role === b.role && a.name === b.name;
}

/** A connection cannot change its role, nor its name within an office; an Agent cannot change its office. */
export function refuseMove(candidate: Member, current: Member | undefined): JoinRefusal | undefined {
  const reason = explainMove(candidate, current);
  return reason === undefined ? undefined : { code: ErrorCode.FORBIDDEN, reason };
}

function explainMove(candidate: Member, current: Member | undefined): string | undefined {
  if (current === undefined) return undefined;
  const { officeId, role } = candidate;
  if (current.role !== role) {
    return `${
      cannotJoin(officeId)
    }: this connection joined as ${current.role} "${current.name}", and keeps its role`;
  }
  if (current.officeId === officeId) {
    return `${cannotJoin(officeId)}: this connection joined it as "${current.name}", and keeps its name`;
  }
  if (role !== "agent") return undefined;
  return `${cannotJoin(officeId)}: this agent is in office "${current.officeId}"; it has to leave that first`;
}

function cannotJoin(officeId: string): string {
  return `Cannot join office "${officeId}"`;
}

/** All members of an office have one MAJOR.MINOR; peers without a version may join any office. */
function refuseVersion(candidate: Member, held: string | undefined): string | undefined {
  const minor = minorOfMember(candidate);
  if (minor === undefined || held === undefined || minor === held) return undefined;
  return buildVersionRefusalText({ office: candidate.officeId, used: held, sent: minor });
}

function minorOfMember(member: Member): string | undefined {
  const version = member.version === undefined ? undefined : parseProtocolVersion(member.version);
  return version && minorOf(version);
}

/** A text that is equal for connections that may replace one another; `undefined` for a connection without a session. */
export function sessionKey({ principal, role, session, isObserver }: Member): string | undefined {
  if (session === undefined) return undefined;
  return JSON.stringify([principal, isObserver ? "observer" : role, session]);
}
