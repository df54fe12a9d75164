/** What a process knows of an office: a copy of the seats in Redis. No sockets, no clock. */
import { type Member, Office } from "../office.ts";
import { readSeat, type Seat } from "./store.ts";

/** Why a seat was given up: by its holder, to a newer connection, or because the lease of its process has ended. */
export type LeaveReason = "left" | "replaced" | "lost";

const NO_OFFICE = "0";
const CHANGE_LINE = /^(?:\+|-(left|replaced|lost) )(.*)$/s;

export interface CopyListener {
  onSeatTaken(seat: Seat): void;
  /** A process has taken one of its seats again; it no longer uses its former fence. */
  onSeatMoved(former: string): void;
  onSeatGiven(seat: Seat, reason: LeaveReason): void;
}

/** A copy of the seats of an office. No sockets, no clock. */
export class OfficeCopy {
  /** The rules, for its members. Not to be changed from outside. */
  readonly office = new Office();
  readonly #listener: CopyListener;
  readonly #seats = new Map<string, Seat>();
  #version = NO_OFFICE;

  constructor(listener: CopyListener) {
    this.#listener = listener;
  }

  /** The version in Redis that it shows; empty if a seat was dropped since. */
  get version(): string {
    return this.#version;
  }

  /** The fences of the processes that have the seats. */
  get fences(): readonly string[] {
    return [...new Set(this.seats().map(({ fence }) => fence))];
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

  /** Finds the seat of another connection with the same session. */
  findSession(seat: Seat): Seat | undefined {
    return findSession(this.#seats.values(), seat);
  }

  /**
   * Applies a change, and returns whether it could: `false` when changes before it are missing.
   *
   * @param text Such as `change 7 8`, and lines such as `+place fence JSON` and `-left place fence JSON`.
   */
  apply(text: string): boolean {
    const [head = "", ...lines] = text.split("\n");
    const [, before, after = ""] = head.split(" ");
    // A message may come again, or after the copy was read anew.
    if (before !== this.#version) {
      return after !== NO_OFFICE && this.#version !== "" && Number(after) <= Number(this.#version);
    }
    for (const line of lines) {
      const [, reason, seatText = ""] = CHANGE_LINE.exec(line) ?? [];
      const seat = readSeat(seatText);
      if (seat === undefined) continue;
      if (reason === undefined) this.#put(seat);
      else this.#remove(seat.member.sid, reason as LeaveReason);
    }
    this.#version = after;
    return true;
  }

  /** Replaces everything. */
  replace(version: string, texts: readonly string[]): void {
    const seats = new Map<string, Seat>();
    for (const text of texts) {
      const seat = readSeat(text);
      if (seat !== undefined) seats.set(seat.member.sid, seat);
    }
    for (const old of this.seats()) {
      const { sid } = old.member;
      const present = seats.get(sid);
      if (present !== undefined && isSameMember(present.member, old.member)) continue;
      this.#remove(sid, findSession(seats.values(), old) === undefined ? "left" : "replaced");
    }
    for (const seat of inOrder([...seats.values()])) this.#put(seat);
    this.#version = version;
  }

  /** Forgets a seat whose removal Redis may not know. */
  drop(sid: string, reason: LeaveReason): void {
    this.#remove(sid, reason);
    this.#version = "";
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

function findSession(seats: Iterable<Seat>, { sessionId, member }: Seat): Seat | undefined {
  if (sessionId === undefined) return undefined;
  for (const seat of seats) {
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
