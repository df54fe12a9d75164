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
  /** The id of its machine, which outlives its name (`docs/protocol/extensions.md#machines`). */
  readonly machine?: string | undefined;
  /** Whether it is an observer: an Agent that takes no seat, is not listed, and joins without a notification. */
  readonly isObserver: boolean;
  readonly joinedAt: string;
}

export type JoinOutcome =
  | { readonly kind: "joined"; readonly member: Member }
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
export class Office<M extends Member = Member> {
  /** With observers, in the order in which they joined. */
  readonly #everybody = new Map<string, M>();
  readonly #computers = new Map<string, M>();
  /** The Computers by the ids of their machines: of two with one id, the first. */
  readonly #machines = new Map<string, M>();
  /** The Computers by what their names look like. */
  readonly #looks = new Map<string, M>();
  #agent: M | undefined;
  /** The MAJOR.MINOR of the members that announced a version, and their number. */
  #minor: string | undefined;
  #versioned = 0;

  get size(): number {
    return this.#everybody.size;
  }

  /** Without observers. */
  members(): readonly M[] {
    return this.everybody().filter(({ isObserver }) => !isObserver);
  }

  everybody(): readonly M[] {
    return [...this.#everybody.values()];
  }

  find(sid: string): M | undefined {
    return this.#everybody.get(sid);
  }

  /** Finds a Computer by its name, or by the id of its machine. */
  findComputer(computer: string): M | undefined {
    return this.#computers.get(computer) ?? this.#machines.get(computer);
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
    const going = leaving.filter((member) => member !== undefined && this.find(member.sid) === member);
    return forbidden(this.#refuseVersion(candidate, going) ?? this.#refuseTaken(candidate, going)) ??
      this.#refuseFull(candidate, { going, maxMembers });
  }

  add(member: M): void {
    this.#everybody.set(member.sid, member);
    const minor = minorOfMember(member);
    if (minor !== undefined) {
      this.#minor = minor;
      this.#versioned++;
    }
    if (member.isObserver) return;
    if (member.role === "agent") this.#agent = member;
    else {
      this.#computers.set(member.name, member);
      this.#looks.set(skeletonOf(member.name), member);
      const { machine } = member;
      if (machine !== undefined && !this.#machines.has(machine)) this.#machines.set(machine, member);
    }
  }

  remove(sid: string): M | undefined {
    const member = this.find(sid);
    if (member === undefined) return undefined;
    this.#everybody.delete(sid);
    if (minorOfMember(member) !== undefined) this.#versioned--;
    if (member === this.#agent) this.#agent = undefined;
    if (member === this.#computers.get(member.name)) {
      this.#computers.delete(member.name);
      this.#looks.delete(skeletonOf(member.name));
    }
    const { machine } = member;
    if (machine !== undefined && member === this.#machines.get(machine)) this.#machines.delete(machine);
    return member;
  }

  /** All members of an office have one MAJOR.MINOR; peers without a version may join any office. */
  #refuseVersion(candidate: Member, going: Leaving): string | undefined {
    const minor = minorOfMember(candidate);
    const isAnyHeld = this.#versioned > going.filter((member) => member && minorOfMember(member)).length;
    if (minor === undefined || this.#minor === undefined || minor === this.#minor || !isAnyHeld) {
      return undefined;
    }
    return buildVersionRefusalText({ office: candidate.officeId, used: this.#minor, sent: minor });
  }

  #refuseTaken(candidate: Member, going: Leaving): string | undefined {
    if (candidate.isObserver) {
      const others = this.everybody().filter((other) => other.isObserver && !going.includes(other));
      if (others.length < MAX_OBSERVERS) return undefined;
      return `The office is full of observers (${ErrorCode.ROOM_FULL}): the limit is ${MAX_OBSERVERS}. ` +
        "Wait until one leaves";
    }
    const holder = candidate.role === "agent" ? this.#agent : this.#looks.get(skeletonOf(candidate.name));
    if (holder === undefined || going.includes(holder)) return undefined;
    return explainTaken(candidate, holder);
  }

  #refuseFull({ officeId, role, isObserver }: Member, { going, maxMembers }: {
    readonly going: Leaving;
    readonly maxMembers: number;
  }): JoinRefusal | undefined {
    if (isObserver) return undefined;
    // Computers come in any number, and an office without its Agent serves nobody.
    const isReserved = role === "computer" && maxMembers > 1;
    const agents = isReserved || this.#agent === undefined ? [] : [this.#agent];
    const max = isReserved ? maxMembers - 1 : maxMembers;
    if (this.#computers.size + agents.length < max) return undefined;
    const staying = [...this.#computers.values(), ...agents].filter((member) => !going.includes(member));
    if (staying.length < max) return undefined;
    const state = isReserved
      ? `it has ${max} Computers, and the last of ${maxMembers} places is that of its Agent`
      : `it is full, the limit is ${maxMembers} members`;
    const reason = `${cannotJoin(officeId)}: ${state}, by ${optionLabel("maxMembersPerOffice")}. ` +
      "Wait until one leaves, use another office, or ask the operator for a higher limit";
    return { code: ErrorCode.TOO_MANY_REQUESTS, reason };
  }
}

type Leaving = readonly (Member | undefined)[];

function forbidden(reason: string | undefined): JoinRefusal | undefined {
  return reason === undefined ? undefined : { code: ErrorCode.FORBIDDEN, reason };
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

export function isSameMembership(a: Member, b: Member): boolean {
  return a.officeId === b.officeId && a.role === b.role && a.name === b.name;
}

/** A connection cannot change its role, nor its name within an office; an Agent cannot change its office. */
export function refuseMove({ officeId, role }: Member, current: Member | undefined): JoinRefusal | undefined {
  if (current === undefined) return undefined;
  const { name } = current;
  const refuse = (reason: string) => forbidden(`${cannotJoin(officeId)}: ${reason}`);
  if (current.role !== role) {
    return refuse(`this connection joined as ${current.role} "${name}", and keeps its role`);
  }
  if (current.officeId === officeId) {
    return refuse(`this connection joined it as "${name}", and keeps its name`);
  }
  if (role !== "agent") return undefined;
  return refuse(`this agent is in office "${current.officeId}"; it has to leave that first`);
}

function cannotJoin(officeId: string): string {
  return `Cannot join office "${officeId}"`;
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
