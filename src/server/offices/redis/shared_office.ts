/** An office in Redis: what this process knows of it, its changes, and the channel that tells of those of other processes. */
import { isTexts } from "../../../json.ts";
import { type Member, Office } from "../office.ts";
import type { Lease, RedisContext } from "./registration.ts";
import { CHANGE_SCRIPT, KEPT_MS, readSeat, type Seat, writeSeat } from "./store.ts";

/** Why a seat was given up: by its holder, to a newer connection, or because the lease of its process has ended. */
export type LeaveReason = "left" | "replaced" | "lost";

const NO_OFFICE = "0";
const CHANGE = "change ";
const NOTICE = "notice ";
const CHANGE_LINE = /^(?:\+|-(left|replaced|lost) )(.*)$/s;

/**
 * A seat of a member that is connected to this process. A seat that is `joining` is `held` as soon as the copy of its office
 * shows it, whether the reply to the join or the office's channel tells of it first; otherwise it has `ended` when the join
 * is refused or has failed. A seat that is held ends by `leaving`, or because it was given away. Nothing comes after the end.
 */
export interface HeldSeat {
  readonly member: Member;
  readonly office: SharedOffice;
  state: "joining" | "held" | "leaving" | "ended";
  /** Until then another process may be giving the seat to a newer connection, on the clock of `performance.now`. */
  evictedUntilMs: number;
}

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

export interface OfficeListener extends CopyListener {
  onNotice(officeId: string, text: string): void;
  /** Called when an office is closed, and nothing remains of it here. */
  onClosed(office: SharedOffice): void;
  /** Called with an error that no caller waits for. */
  onError(error: unknown): void;
}

export interface WantedChange {
  /** Seats to remove, if their fence still is the same. */
  readonly removed?: readonly (readonly [seat: Seat, reason: LeaveReason])[];
  /** Seats to take; the change then needs the office to be as the copy has it. */
  readonly taken?: readonly Seat[];
  /** Redis must run for at least so long, in milliseconds; 0 by default. */
  readonly leastUptimeMs?: number;
}

/** The result of a change: done, to be planned anew since the office was another one, or a time to wait. */
export type ChangeResult = "ok" | "conflict" | Wait;

export interface Wait {
  readonly waitMs: number;
}

/** One office. While it is open, its copy follows Redis; it is closed when nobody uses it. */
export class SharedOffice {
  readonly officeId: string;
  readonly copy: OfficeCopy;
  /** By `sid`. */
  readonly held = new Map<string, HeldSeat>();
  /** The last lease under which all held seats were taken. */
  lease: Lease | undefined;
  /** How many seats ended here without a word of Redis: it may still have them, until it was asked later than that. */
  unsettled = 0;
  readonly #context: RedisContext;
  readonly #listener: OfficeListener;
  readonly #key: string;
  readonly #channel: string;
  #tail: Promise<unknown> = Promise.resolve();
  #users = 0;
  #isOpen = false;

  constructor(officeId: string, { context, listener }: {
    readonly context: RedisContext;
    readonly listener: OfficeListener;
  }) {
    this.officeId = officeId;
    this.#context = context;
    this.#listener = listener;
    this.#key = context.keys.office(officeId);
    this.#channel = context.keys.officeChannel(officeId);
    this.copy = new OfficeCopy(listener);
  }

  /** Runs operations one after another. The first one subscribes to the channel and reads the office. */
  async use<T>(operation: () => T | Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await this.#enqueue(async () => {
        if (!this.#isOpen) {
          await this.#context.redis.subscribe(this.#channel, (message) => this.#receive(message));
          await this.refresh();
          this.#isOpen = true;
        }
        return await operation();
      });
    } finally {
      this.#users--;
      this.closeUnused();
    }
  }

  /** Ends the subscription unless somebody uses the office. */
  closeUnused(): void {
    const isUsed = () => this.#users > 0 || this.held.size > 0 || this.unsettled > 0;
    if (isUsed()) return;
    this.#enqueue(async () => {
      if (isUsed()) return;
      if (this.#isOpen) await this.#context.redis.unsubscribe(this.#channel);
      this.#isOpen = false;
      if (!isUsed()) this.#listener.onClosed(this);
    }).catch((error) => this.#listener.onError(error));
  }

  /** Reads the office, and returns whether the copy was out of date. To be called by an operation. */
  async refresh(): Promise<boolean> {
    return await this.#send(this.copy.version === "" ? "-" : this.copy.version, {}) === "conflict";
  }

  /** Makes Redis keep the office for another day; if it is gone, so is what the copy has. To be called by an operation. */
  async keep(): Promise<void> {
    const reply = await this.#context.redis.send(this.#key, ["PEXPIRE", this.#key, String(KEPT_MS)]);
    if (reply !== 1) await this.refresh();
  }

  /** Changes the office. To be called by an operation. */
  async change(wanted: WantedChange): Promise<ChangeResult> {
    if (wanted.taken === undefined) return await this.#send("", wanted);
    if (this.copy.version === "") await this.refresh();
    return await this.#send(this.copy.version, wanted);
  }

  /** Sends a text to all processes that follow the office, this one as well. */
  async notify(text: string): Promise<void> {
    await this.#context.redis.publish(this.#channel, `${NOTICE}${text}`);
  }

  #enqueue<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(operation);
    this.#tail = result.catch(() => {});
    return result;
  }

  async #send(
    expected: string,
    { removed = [], taken = [], leastUptimeMs = 0 }: WantedChange,
  ): Promise<ChangeResult> {
    const { redis } = this.#context;
    const reply = await redis.send(this.#key, [
      "EVAL",
      CHANGE_SCRIPT,
      "2",
      this.#key,
      this.#channel,
      expected,
      String(leastUptimeMs),
      String(KEPT_MS),
      redis.publishCommand,
      String(removed.length),
      ...removed.flatMap(([{ member, fence }, reason]) => [member.sid, fence, reason]),
      ...taken.flatMap((seat) => [seat.member.sid, seat.place, writeSeat(seat)]),
    ]);
    if (!isTexts(reply)) throw new TypeError("Cannot read a reply of Redis: not a list of texts");
    const [kind, first = "", ...fields] = reply;
    if (kind === "settling") return { waitMs: Number(first) };
    if (kind === "conflict") {
      this.copy.replace(first, fields);
      return "conflict";
    }
    if (first !== "") await this.#follow(first);
    return "ok";
  }

  /** Handles a notification behind the changes that came before it. */
  #receive(message: string): void {
    this.#enqueue(async () => {
      if (message.startsWith(CHANGE) && this.#isOpen) await this.#follow(message);
      if (message.startsWith(NOTICE)) this.#listener.onNotice(this.officeId, message.slice(NOTICE.length));
    }).catch((error) => this.#listener.onError(error));
  }

  async #follow(change: string): Promise<void> {
    if (!this.copy.apply(change)) await this.refresh();
  }
}
