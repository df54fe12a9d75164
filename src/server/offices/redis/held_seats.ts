/** The seats of the members that are connected to this process, and the copies of their offices. */
import { isSameMembership, type Member } from "../office.ts";
import type { OfficeListener } from "../offices.ts";
import type { Lease } from "./lease.ts";
import type { CopyListener, LeaveReason } from "./office_copy.ts";
import type { Seat } from "./seat.ts";
import { type OfficeContext, SharedOffice } from "./shared_office.ts";

/**
 * The life of a seat here. A seat that is `joining` is `held` as soon as the copy of its office shows it, whether the reply
 * to the join or the office's channel tells of it first; otherwise it has `ended` when the join is refused or has failed. A
 * seat that is held ends by `leaving`, or because it was given away. Nothing comes after the end.
 */
export type SeatState = "joining" | "held" | "leaving" | "ended";

export class HeldSeat {
  readonly member: Member;
  readonly place: HeldOffice;
  lease: Lease;
  /** Until then another process may be giving the seat to a newer connection, on the clock of `performance.now`. */
  evictedUntilMs = -Infinity;
  state: SeatState = "joining";

  constructor(member: Member, { place, lease }: { readonly place: HeldOffice; readonly lease: Lease }) {
    this.member = member;
    this.place = place;
    this.lease = lease;
  }

  isServed(): boolean {
    return this.lease.isHeld() && performance.now() >= this.evictedUntilMs;
  }
}

export interface HeldOffice {
  readonly office: SharedOffice;
  readonly seats: Map<string, HeldSeat>;
  /** Seats that ended here without a word of Redis: it may still have them, until it was asked later than that. */
  readonly unsettled: Set<HeldSeat>;
}

interface HeldSeatsOptions {
  readonly context: OfficeContext;
  /** Called when Redis has lost a seat that is held. */
  readonly onMissing: () => void;
  /** Called when a process has moved its seats to another fence. */
  readonly onMoved: (fence: string) => void;
}

export class HeldSeats implements CopyListener {
  readonly #listener: OfficeListener;
  readonly #options: HeldSeatsOptions;
  readonly #offices = new Map<string, HeldOffice>();
  readonly #seats = new Map<string, HeldSeat>();

  constructor(listener: OfficeListener, options: HeldSeatsOptions) {
    this.#listener = listener;
    this.#options = options;
  }

  /** All offices, also those that are about to be closed. */
  offices(): readonly HeldOffice[] {
    return [...this.#offices.values()];
  }

  find(officeId: string): HeldOffice | undefined {
    return this.#offices.get(officeId);
  }

  /** Finds or adds an office. To be followed by {@linkcode HeldSeats.retire}. */
  open(officeId: string): HeldOffice {
    const held = this.#offices.get(officeId);
    if (held !== undefined) return held;
    const office = new SharedOffice(officeId, { ...this.#options.context, listener: this });
    const added = { office, seats: new Map<string, HeldSeat>(), unsettled: new Set<HeldSeat>() };
    this.#offices.set(officeId, added);
    return added;
  }

  retire(held: HeldOffice): void {
    held.office.retire(
      () => held.seats.size > 0 || held.unsettled.size > 0,
      () => this.#offices.delete(held.office.officeId),
    );
  }

  seat(sid: string): HeldSeat | undefined {
    return this.#seats.get(sid);
  }

  add(seat: HeldSeat): void {
    seat.place.seats.set(seat.member.sid, seat);
    this.#seats.set(seat.member.sid, seat);
  }

  /** Undoes {@linkcode HeldSeats.add} for a seat that the connection did not get. */
  abandon(seat: HeldSeat, former: HeldSeat | undefined): void {
    if (seat.state !== "joining") return;
    this.#end(seat);
    if (former !== undefined) this.#seats.set(seat.member.sid, former);
  }

  end(seat: HeldSeat, reason: LeaveReason): void {
    if (seat.state === "ended") return;
    this.#end(seat);
    this.#listener.onLeft(seat.member, { isHere: true, reason });
  }

  onSeatTaken({ member }: Seat): void {
    const held = this.#find(member);
    if (held === undefined) return this.#listener.onJoined(member, { isHere: false });
    // Otherwise the seat was taken again.
    if (held.state !== "joining") return;
    held.state = "held";
    this.#listener.onJoined(held.member, { isHere: true });
  }

  onSeatMoved(former: string): void {
    this.#options.onMoved(former);
  }

  onSeatGiven({ member }: Seat, reason: LeaveReason): void {
    const held = this.#find(member);
    // A seat of an earlier attempt to join: its arrival was reported as that of a member elsewhere.
    if (held === undefined || held.state === "joining") {
      return this.#listener.onLeft(member, { isHere: false, reason: "left" });
    }
    if (held.state === "leaving") return this.end(held, "left");
    if (reason === "replaced") {
      this.end(held, "replaced");
      // Nobody else does, when another process has given the seat away.
      return this.retire(held.place);
    }
    // This process still acts for it as long as its lease lasts: nobody else had the right to take the seat.
    this.#options.onMissing();
  }

  #find(member: Member): HeldSeat | undefined {
    const held = this.#offices.get(member.officeId)?.seats.get(member.sid);
    return held !== undefined && isSameMembership(held.member, member) ? held : undefined;
  }

  #end(seat: HeldSeat): void {
    const { member: { sid }, place } = seat;
    seat.state = "ended";
    if (place.seats.get(sid) === seat) place.seats.delete(sid);
    if (this.#seats.get(sid) === seat) this.#seats.delete(sid);
  }
}
