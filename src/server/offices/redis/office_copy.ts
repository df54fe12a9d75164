/** What a process knows of an office: a copy of the seats in Redis. No sockets, no clock. */
import { type Member, Office } from "../office.ts";
import { readSeat, type Seat } from "./store.ts";

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
  /** The rules, for its members. Not to be changed from outside. */
  readonly office = new Office();
  readonly #listener: CopyListener;
  readonly #seats = new Map<string, Seat>();
  #version = NO_OFFICE;

  constructor(listener: CopyListener) {
    this.#listener = listener;
  }

  get version(): string {
    return this.#version;
  }

  get fences(): ReadonlySet<string> {
    return new Set(this.seats().map(({ fence }) => fence));
  }

  seat(sid: string): Seat | undefined {
    return this.#seats.get(sid);
  }

  seats(): readonly Seat[] {
    return [...this.#seats.values()];
  }

  /** The members in the order in which they joined, without observers. */
  members(): readonly Member[] {
    return inOrder(this.seats()).map(({ member }) => member).filter(({ isObserver }) => !isObserver);
  }

  findSession(seat: Seat): Seat | undefined {
    return findSession(this.#seats, seat);
  }

  /** Applies a change, and returns whether it could: `false` when changes before it are missing. */
  apply({ before, after, lines }: OfficeChange): boolean {
    if (before !== this.#version) return this.#isKnown(after);
    for (const line of lines) {
      const [, reason, text = ""] = CHANGE_LINE.exec(line) ?? [];
      const seat = readSeat(text);
      if (seat === undefined) continue;
      if (reason === undefined) this.#put(seat);
      else this.#remove(seat.member.sid, reason as LeaveReason);
    }
    this.#version = after;
    return true;
  }

  /** Replaces everything by the fields of the hash in Redis. */
  replace(fields: ReadonlyMap<string, string>): void {
    const seats = new Map<string, Seat>();
    for (const text of fields.values()) {
      const seat = readSeat(text);
      if (seat !== undefined) seats.set(seat.member.sid, seat);
    }
    for (const old of this.seats()) {
      const { sid } = old.member;
      const present = seats.get(sid);
      if (present !== undefined && isSameMember(present.member, old.member)) continue;
      this.#remove(sid, findSession(seats, old) === undefined ? "left" : "replaced");
    }
    for (const seat of inOrder([...seats.values()])) this.#put(seat);
    this.#version = fields.get("v") ?? NO_OFFICE;
  }

  /** Forgets a seat whose removal Redis may not know. The version no longer counts. */
  drop(sid: string, reason: LeaveReason): void {
    this.#remove(sid, reason);
    this.#version = "";
  }

  /** A message may come again, or after the copy was read anew. */
  #isKnown(after: string): boolean {
    return after !== NO_OFFICE && this.#version !== "" && Number(after) <= Number(this.#version);
  }

  /** Adds a seat, or changes the process of one. */
  #put(seat: Seat): void {
    const { sid } = seat.member;
    const old = this.#seats.get(sid);
    this.#seats.set(sid, old === undefined ? seat : { ...seat, member: old.member });
    if (old === undefined) {
      this.office.add(seat.member);
      this.#listener.onSeatTaken(seat);
    } else if (old.fence !== seat.fence) this.#listener.onSeatMoved(old.fence);
  }

  #remove(sid: string, reason: LeaveReason): void {
    const seat = this.#seats.get(sid);
    if (seat === undefined) return;
    this.#seats.delete(sid);
    this.office.remove(sid);
    this.#listener.onSeatGiven(seat, reason);
  }
}

/** Finds the seat of another connection with the same session. */
function findSession(seats: ReadonlyMap<string, Seat>, { sessionId, member }: Seat): Seat | undefined {
  if (sessionId === undefined) return undefined;
  for (const seat of seats.values()) {
    if (seat.sessionId === sessionId && seat.member.sid !== member.sid) return seat;
  }
  return undefined;
}

function inOrder(seats: readonly Seat[]): readonly Seat[] {
  return seats.toSorted((a, b) => Number(a.place) - Number(b.place));
}

function isSameMember(a: Member, b: Member): boolean {
  return a.role === b.role && a.name === b.name && a.isObserver === b.isObserver;
}
