/** What a process knows of an office that it has members in: a copy of the seats in Redis. No sockets, no clock. */
import { type Member, Office } from "../office.ts";
import { readSeat, type Seat } from "./seat.ts";

export const NO_OFFICE = "0";

/** Why a seat was given up: by its holder, to a newer connection, or because the lease of its process has ended. */
export type LeaveReason = "left" | "replaced" | "lost";

export interface OfficeChange {
  readonly before: string;
  readonly after: string;
  /** Lines such as `+place fence JSON` and `-left place fence JSON`. */
  readonly lines: readonly string[];
}

export interface CopyListener {
  onSeatTaken(seat: Seat): void;
  /** A process has taken one of its seats again; it no longer uses its former fence. */
  onSeatMoved(former: string): void;
  onSeatGiven(seat: Seat, reason: LeaveReason): void;
}

const CHANGE_LINE = /^(?:\+|-(left|replaced|lost) )(.*)$/s;

export class OfficeCopy {
  readonly #listener: CopyListener;
  readonly #seats = new Map<string, Seat>();
  readonly #sessions = new Map<string, string>();
  readonly #fences = new Map<string, number>();
  #office = new Office();
  #version = NO_OFFICE;

  constructor(listener: CopyListener) {
    this.#listener = listener;
  }

  get version(): string {
    return this.#version;
  }

  /** Its members and rules. Not to be changed. */
  get office(): Office {
    return this.#office;
  }

  get fences(): Iterable<string> {
    return this.#fences.keys();
  }

  seat(sid: string): Seat | undefined {
    return this.#seats.get(sid);
  }

  seats(): readonly Seat[] {
    return [...this.#seats.values()];
  }

  findSession({ sessionId, member }: Seat): Seat | undefined {
    const sid = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    return sid === undefined || sid === member.sid ? undefined : this.#seats.get(sid);
  }

  /** Applies a change, and returns whether it could: `false` when changes before it are missing. */
  apply({ before, after, lines }: OfficeChange): boolean {
    if (before !== this.#version) return this.#isKnown(after);
    for (const line of lines) this.#applyLine(line);
    this.#version = after;
    return true;
  }

  /** Replaces everything by the fields of the hash in Redis. */
  replace(fields: ReadonlyMap<string, string>): void {
    const seats: Seat[] = [];
    for (const [field, text] of fields) {
      const seat = field.startsWith("s:") ? readSeat(text) : undefined;
      if (seat !== undefined) seats.push(seat);
    }
    seats.sort((a, b) => Number(a.place) - Number(b.place));
    const present = new Map(seats.map((seat) => [seat.member.sid, seat]));
    const sessions = new Map(seats.map(({ sessionId, member }) => [sessionId, member.sid]));
    for (const old of this.seats()) {
      const { sid } = old.member;
      const seat = present.get(sid);
      if (seat !== undefined && isSameMember(seat.member, old.member)) continue;
      const newer = old.sessionId === undefined ? undefined : sessions.get(old.sessionId);
      this.remove(sid, newer === undefined || newer === sid ? "left" : "replaced");
    }
    const isOrdered = seats.every(({ member }) => this.#seats.has(member.sid));
    if (!isOrdered) this.#rebuild(seats);
    else for (const seat of seats) this.#put(seat);
    this.#version = fields.get("v") ?? NO_OFFICE;
  }

  /** Forgets a seat whose removal Redis may not know. The version no longer counts. */
  drop(sid: string, reason: LeaveReason): void {
    this.remove(sid, reason);
    this.#version = "";
  }

  remove(sid: string, reason: LeaveReason): void {
    const seat = this.#seats.get(sid);
    if (seat === undefined) return;
    this.#seats.delete(sid);
    if (seat.sessionId !== undefined && this.#sessions.get(seat.sessionId) === sid) {
      this.#sessions.delete(seat.sessionId);
    }
    this.#count(seat.fence, -1);
    this.#office.remove(sid);
    this.#listener.onSeatGiven(seat, reason);
  }

  /** A message may come again, or after the copy was read anew. */
  #isKnown(after: string): boolean {
    return after !== NO_OFFICE && this.#version !== "" && Number(after) <= Number(this.#version);
  }

  #applyLine(line: string): void {
    const [, reason, text = ""] = CHANGE_LINE.exec(line) ?? [];
    const seat = readSeat(text);
    if (seat === undefined) return;
    if (reason === undefined) this.#put(seat);
    else this.remove(seat.member.sid, reason as LeaveReason);
  }

  /** Adds a seat, or changes the process of one. */
  #put(seat: Seat): void {
    const old = this.#seats.get(seat.member.sid);
    if (old === undefined) {
      this.#keep(seat);
      this.#office.add(seat.member);
      return this.#listener.onSeatTaken(seat);
    }
    this.#keep({ ...seat, member: old.member });
    this.#count(old.fence, -1);
    if (old.fence !== seat.fence) this.#listener.onSeatMoved(old.fence);
  }

  /** Members that were missing may have joined before others. */
  #rebuild(seats: readonly Seat[]): void {
    const known = new Set(this.#seats.keys());
    this.#seats.clear();
    this.#sessions.clear();
    this.#fences.clear();
    this.#office = new Office();
    for (const seat of seats) {
      this.#keep(seat);
      this.#office.add(seat.member);
    }
    for (const seat of seats) if (!known.has(seat.member.sid)) this.#listener.onSeatTaken(seat);
  }

  #keep(seat: Seat): void {
    const { sid } = seat.member;
    this.#seats.set(sid, seat);
    if (seat.sessionId !== undefined) this.#sessions.set(seat.sessionId, sid);
    this.#count(seat.fence, 1);
  }

  #count(fence: string, change: 1 | -1): void {
    const count = (this.#fences.get(fence) ?? 0) + change;
    if (count === 0) this.#fences.delete(fence);
    else this.#fences.set(fence, count);
  }
}

function isSameMember(a: Member, b: Member): boolean {
  return a.role === b.role && a.name === b.name && a.isObserver === b.isObserver;
}
