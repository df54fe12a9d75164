/** What a process knows of an office: a copy of the seats in Redis. No sockets, no clock. */
import { isSameMembership, Office } from "../office.ts";
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

export class OfficeCopy {
  /** The rules, for its seats. Not to be changed from outside. */
  readonly office = new Office<Seat>();
  readonly #listener: CopyListener;
  #version = NO_OFFICE;

  constructor(listener: CopyListener) {
    this.#listener = listener;
  }

  /** The version in Redis that it shows. */
  get version(): string {
    return this.#version;
  }

  /** The fences of the processes that have the seats. */
  get fences(): readonly string[] {
    return [...new Set(this.office.everybody().map(({ fence }) => fence))];
  }

  /** The members in the order in which they joined, without observers. */
  members(): readonly Seat[] {
    return inOrder(this.office.members());
  }

  /** Finds the seat of another connection with the same session. */
  findSession(seat: Seat): Seat | undefined {
    return findSession(this.office.everybody(), seat);
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
    if (before !== this.#version) return after !== NO_OFFICE && Number(after) <= Number(this.#version);
    for (const line of lines) {
      const [, reason, seatText = ""] = CHANGE_LINE.exec(line) ?? [];
      const seat = readSeat(seatText);
      if (seat === undefined) continue;
      if (reason === undefined) this.#put(seat);
      else this.#remove(seat.sid, reason as LeaveReason);
    }
    this.#version = after;
    return true;
  }

  /**
   * Replaces everything. A seat that has not changed is not read again: many processes may change one office at once.
   *
   * @param fields Names and values of the hash in turns, such as `s:sid` and `place fence JSON`.
   */
  replace(version: string, fields: readonly string[]): void {
    const present = new Map<string, Seat>();
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [sid = "", text = ""] = [fields[at]?.slice(2), fields[at + 1]];
      const old = this.office.find(sid);
      const isKnown = old !== undefined && text.startsWith(`${old.place} ${old.fence} `);
      const seat = isKnown ? old : readSeat(text);
      if (seat !== undefined) present.set(seat.sid, seat);
    }
    const changed = [...present.values()].filter((seat) => this.office.find(seat.sid) !== seat);
    for (const old of this.office.everybody()) {
      const seat = present.get(old.sid);
      if (seat !== undefined && isSameMembership(seat, old)) continue;
      this.#remove(old.sid, findSession(changed, old) === undefined ? "left" : "replaced");
    }
    for (const seat of inOrder(changed)) this.#put(seat);
    this.#version = version;
  }

  /** Adds a seat, or changes the process of one. */
  #put(seat: Seat): void {
    const old = this.office.find(seat.sid);
    this.office.remove(seat.sid);
    this.office.add(seat);
    if (old === undefined) this.#listener.onSeatTaken(seat);
    else if (old.fence !== seat.fence) this.#listener.onSeatMoved(old.fence);
  }

  #remove(sid: string, reason: LeaveReason): void {
    const seat = this.office.remove(sid);
    if (seat !== undefined) this.#listener.onSeatGiven(seat, reason);
  }
}

function findSession(seats: readonly Seat[], { sessionId, sid }: Seat): Seat | undefined {
  return sessionId === undefined
    ? undefined
    : seats.find((seat) => seat.sessionId === sessionId && seat.sid !== sid);
}

function inOrder(seats: readonly Seat[]): readonly Seat[] {
  return seats.toSorted((a, b) => Number(a.place) - Number(b.place));
}
