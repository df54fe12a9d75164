/** The offices of a Server that is one process: in memory. */
import { isSameMembership, type JoinOutcome, type Member, Office, refuseMove, sessionKey } from "./office.ts";
import type { Target } from "../relay/connection.ts";
import type { Notification, OfficeBounds, OfficeListener, Offices } from "./offices.ts";

/** Offices in memory. A change has happened when its method returns the promise. */
export class MemoryOffices implements Offices {
  readonly started: Promise<void> = Promise.resolve();
  readonly unready = undefined;
  readonly #listener: OfficeListener;
  readonly #bounds: OfficeBounds;
  readonly #members = new Map<string, Member>();
  readonly #offices = new Map<string, Office>();
  /** The members by their sessions. */
  readonly #sessions = new Map<string, Member>();

  constructor(listener: OfficeListener, bounds: OfficeBounds) {
    this.#listener = listener;
    this.#bounds = bounds;
  }

  get size(): number {
    return this.#offices.size;
  }

  join(candidate: Member): Promise<JoinOutcome> {
    return Promise.resolve(this.#join(candidate));
  }

  leave(sid: string): Promise<void> {
    const member = this.#remove(sid);
    if (member !== undefined) this.#listener.onLeft(member, { isHere: true, reason: "left" });
    return Promise.resolve();
  }

  members(officeId: string): Promise<readonly Member[]> {
    return Promise.resolve(this.#offices.get(officeId)?.members() ?? []);
  }

  isServing(_sid: string): boolean {
    return true;
  }

  findComputer(officeId: string, name: string): Target | undefined {
    const member = this.#offices.get(officeId)?.findComputer(name);
    return member && this.#listener.connections.get(member.sid);
  }

  notify(officeId: string, notification: Notification): void {
    this.#listener.deliver(officeId, notification);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #join(candidate: Member): JoinOutcome {
    const current = this.#members.get(candidate.sid);
    if (current !== undefined && isSameMembership(current, candidate)) {
      return { kind: "joined", member: current };
    }
    const ghost = this.#ghostOf(candidate);
    const office = this.#offices.get(candidate.officeId) ?? new Office();
    const refusal = refuseMove(candidate, current) ??
      office.refuse(candidate, [current, ghost], this.#bounds.maxMembersPerOffice);
    if (refusal !== undefined) return { kind: "refused", ...refusal };
    const left = current && this.#remove(current.sid);
    const replaced = ghost && this.#remove(ghost.sid);
    this.#add(candidate);
    if (left !== undefined) this.#listener.onLeft(left, { isHere: true, reason: "left" });
    if (replaced !== undefined) this.#listener.onLeft(replaced, { isHere: true, reason: "replaced" });
    this.#listener.onJoined(candidate, { isHere: true });
    return { kind: "joined", member: candidate };
  }

  /** Finds the membership of an older connection with the same session, role and principal. */
  #ghostOf(candidate: Member): Member | undefined {
    const key = sessionKey(candidate);
    const holder = key === undefined ? undefined : this.#sessions.get(key);
    return holder?.sid === candidate.sid ? undefined : holder;
  }

  #add(member: Member): void {
    const office = this.#offices.get(member.officeId) ?? new Office();
    this.#offices.set(member.officeId, office);
    office.add(member);
    this.#members.set(member.sid, member);
    const key = sessionKey(member);
    if (key !== undefined) this.#sessions.set(key, member);
  }

  #remove(sid: string): Member | undefined {
    const member = this.#members.get(sid);
    const office = member && this.#offices.get(member.officeId);
    if (member === undefined || office === undefined) return undefined;
    this.#members.delete(sid);
    const key = sessionKey(member);
    if (key !== undefined && this.#sessions.get(key) === member) this.#sessions.delete(key);
    office.remove(sid);
    if (office.size === 0) this.#offices.delete(member.officeId);
    return member;
  }
}
