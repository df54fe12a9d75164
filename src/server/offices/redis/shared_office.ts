/**
 * An office in Redis: the seats that the members of this process take there and give up, by the rules of `Office` for the
 * version that this process knows, if that version still holds; and the channel that tells of the changes of others.
 */
import { Limiter } from "../../../async/limiter.ts";
import { delay } from "../../../async/backoff.ts";
import { isTexts } from "../../../json/json.ts";
import { isSameMembership, type JoinOutcome, type Member, Office } from "../office.ts";
import type { OfficeListener } from "../offices.ts";
import type { Courier } from "./courier.ts";
import { type LeaveReason, OfficeCopy } from "./office_copy.ts";
import { keptMsOf, type Lease, type RedisContext, type Registration } from "./registration.ts";
import { CHANGE_SCRIPT, KEPT_MS, type Seat, toSeat, writeSeat } from "./store.ts";

/** How many changes of others may come in between before a change is given up. */
const MAX_CONFLICTS = 128;
/** The longest pause between attempts, and by how much it grows. */
const MAX_PAUSE_MS = 200;
const PAUSE_STEP_MS = 10;
/** Redis tells its uptime in whole seconds. */
const UPTIME_STEP_MS = 1_000;
const CHANGE = "change ";
const NOTICE = "notice ";

/**
 * A seat of a member that is connected to this process. A seat that is `joining` is `taken` as soon as the copy of its office
 * shows it, whether the reply to the join or the office's channel tells of it first. It has `ended` when the join is refused
 * or has failed, when its member leaves, and when it was given away. Nothing comes after the end.
 */
export interface OwnSeat {
  readonly member: Member;
  readonly office: SharedOffice;
  /** A digest of the session. */
  readonly sessionId: string | undefined;
  state: "joining" | "taken" | "ended";
  /** The seat of an older connection, in whose place this one was taken. */
  older?: Seat | undefined;
}

export interface OfficeContext extends RedisContext {
  readonly maxMembersPerOffice: number;
  readonly listener: OfficeListener;
  readonly registration: Registration;
  readonly courier: Courier;
  /** Called when a seat of this process has ended. */
  onEnded(seat: OwnSeat): void;
  onNotice(officeId: string, text: string): void;
  /** Called when an office is closed, and nothing remains of it here. */
  onClosed(office: SharedOffice): void;
  /** Called with an error that no caller waits for. */
  onError(error: unknown): void;
}

interface WantedChange {
  /** Seats to remove, if their fence still is the same. */
  readonly removed?: readonly Removal[];
  /** Seats to take; the change then needs the office to be as the copy has it. */
  readonly taken?: readonly Seat[];
  /** Redis must run for at least so long, in milliseconds; 0 by default. */
  readonly leastUptimeMs?: number;
}

type Removal = readonly [seat: Seat, reason: LeaveReason];

/** A time to wait before the next attempt. */
export interface Wait {
  readonly waitMs: number;
}

/** One office. While it is open, its copy follows Redis; it is closed when nobody uses it. Operations run one after another. */
export class SharedOffice {
  readonly officeId: string;
  readonly copy: OfficeCopy;
  /** The seats of this process, by `sid`. */
  readonly ownSeats = new Map<string, OwnSeat>();
  /** The last lease under which all of them were taken. */
  lease: Lease | undefined;
  /** Seats ended here that Redis may still list; cleared by the next successful read. */
  #unsettled = 0;
  readonly #context: OfficeContext;
  readonly #key: string;
  readonly #channel: string;
  readonly #operations = new Limiter(1);
  #users = 0;
  #isOpen = false;

  constructor(officeId: string, context: OfficeContext) {
    this.officeId = officeId;
    this.#context = context;
    this.#key = context.keys.office(officeId);
    this.#channel = context.keys.officeChannel(officeId);
    this.copy = new OfficeCopy({
      onSeatTaken: (seat) => this.#onSeatTaken(seat),
      onSeatMoved: (former) => context.courier.onLost(former),
      onSeatGiven: (seat, reason) => this.#onSeatGiven(seat, reason),
    });
  }

  /** Lists the members, behind the changes that are under way. */
  members(): Promise<readonly Member[]> {
    return this.#use(() => Promise.resolve(this.copy.members().filter((seat) => !this.isLeft(seat))));
  }

  /** Whether a seat is of this process, and nobody here holds it any more: Redis does not know yet that its member left. */
  isLeft(seat: Seat): boolean {
    return this.#context.registration.isOwn(seat.fence) && this.#holderOf(seat) === undefined;
  }

  /** Takes a seat for a member that joins, unless a rule forbids it. */
  take(own: OwnSeat, lease: Lease): Promise<JoinOutcome | Wait> {
    return this.#use(() => this.#tryToTake(own, lease));
  }

  /** Takes all seats of this process again under a lease, and ends those that were given away. */
  takeAgain(lease: Lease): Promise<Wait | undefined> {
    return this.#use(() => this.#tryToTakeAgain(lease));
  }

  /** Ends a seat. @param reason Why the member has left; absent for one that has not joined. */
  end(seat: OwnSeat, reason?: LeaveReason): void {
    if (seat.state === "ended") return;
    const { member } = seat;
    seat.state = "ended";
    if (this.ownSeats.get(member.sid) === seat) this.ownSeats.delete(member.sid);
    this.#context.onEnded(seat);
    if (reason !== undefined) this.#context.listener.onLeft(member, { isHere: true, reason });
    this.closeUnused();
  }

  /** Tells Redis which members have left: many may leave at once. */
  async tellLeft(): Promise<void> {
    try {
      if (!this.#context.redis.isUp) throw new TypeError("Cannot leave an office: Redis is away");
      await this.#use(() => this.#free((seat) => this.isLeft(seat)));
    } catch (error) {
      this.repairLater();
      this.#context.onError(error);
    }
  }

  /** Redis may have a seat that has ended here. */
  repairLater(): void {
    this.#unsettled++;
    void this.#context.registration.repair();
  }

  /** Sends a text to all processes that follow the office, this one as well. */
  async notify(text: string): Promise<void> {
    await this.#context.redis.clients.publish(this.#channel, `${NOTICE}${text}`);
  }

  /** Ends the subscription unless somebody uses the office. */
  closeUnused(): void {
    const isUsed = () => this.#users > 0 || this.ownSeats.size > 0 || this.#unsettled > 0;
    if (isUsed()) return;
    this.#operations.run(async () => {
      if (isUsed()) return;
      if (this.#isOpen) await this.#context.redis.clients.unsubscribe(this.#channel);
      this.#isOpen = false;
      if (!isUsed()) this.#context.onClosed(this);
    }).catch(this.#context.onError);
  }

  /** Runs an operation. The first one subscribes to the channel and reads the office. */
  async #use<T>(operation: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await this.#operations.run(async () => {
        if (!this.#isOpen) {
          await this.#context.redis.clients.subscribe(this.#channel, (message) => this.#receive(message));
          await this.#refresh();
          this.#isOpen = true;
        }
        return await operation();
      });
    } finally {
      this.#users--;
      this.closeUnused();
    }
  }

  async #tryToTake(joining: OwnSeat, lease: Lease): Promise<JoinOutcome | Wait> {
    const { member } = joining;
    this.lease ??= lease;
    const wait = this.lease === lease ? undefined : await this.#tryToTakeAgain(lease);
    if (wait !== undefined) return wait;
    const seat = toSeat(member, lease.fence);
    return await this.#retry(async () => {
      const ghost = this.copy.findSession(seat);
      // Of an earlier attempt of this connection, whose reply was lost.
      const own = this.copy.office.find(member.sid);
      const refusal = this.copy.office.refuse(seat, [ghost, own], this.#context.maxMembersPerOffice);
      if (refusal !== undefined) {
        // The copy may be behind, and the holder of the seat may be a process that has ended.
        const isOther = await this.#refresh() || await this.#reap();
        return isOther ? "conflict" : { kind: "refused", ...refusal };
      }
      // In one change, so that nobody else finds the seat free.
      const removed: Removal[] = [];
      joining.older = ghost;
      if (ghost !== undefined) removed.push([ghost, "replaced"]);
      if (own !== undefined) removed.push([own, "left"]);
      const result = await this.#change({ removed, taken: [seat], leastUptimeMs: this.#leastUptimeMs });
      return result === "ok" ? { kind: "joined", member } : result;
    });
  }

  /**
   * If the former lease still lasts, this does not wait for leases that a restarted Redis has forgotten: no other process can
   * have these seats.
   */
  async #tryToTakeAgain(lease: Lease): Promise<Wait | undefined> {
    const unsettled = this.#unsettled;
    const leastUptimeMs = this.lease?.isValid() ? 0 : this.#leastUptimeMs;
    await this.#refresh();
    await this.#reap();
    return await this.#retry(async () => {
      const { moved, missing, given } = this.#compare(lease);
      const result = moved.length + missing.length === 0 ? "ok" : await this.#change({
        taken: [...moved, ...missing],
        leastUptimeMs: missing.length > 0 ? leastUptimeMs : 0,
      });
      if (result !== "ok") return result;
      this.lease = lease;
      this.#unsettled -= unsettled;
      for (const [own, reason] of given) this.end(own, reason);
      return undefined;
    });
  }

  /** Finds the own seats that Redis has under another fence, those that it lacks, and those that were given away. */
  #compare({ fence }: Lease) {
    const moved: Seat[] = [];
    const missing: Seat[] = [];
    const given: [OwnSeat, LeaveReason][] = [];
    const rules = new Office();
    for (const own of this.ownSeats.values()) {
      // A join that is under way takes its seat itself.
      if (own.state !== "taken") continue;
      const { member } = own;
      const known = this.copy.office.find(member.sid);
      const seat = known ?? toSeat(member, fence);
      if (known !== undefined) {
        if (known.fence !== fence) moved.push({ ...known, fence });
      } // The message that told so may not have reached this process.
      else if (this.copy.findSession(seat) !== undefined) given.push([own, "replaced"]);
      else if (this.copy.office.refuse(member, []) ?? rules.refuse(member, [])) given.push([own, "lost"]);
      else {
        rules.add(member);
        missing.push(seat);
      }
    }
    return { moved, missing, given };
  }

  /**
   * Frees the seats of processes whose lease has ended, and those of this process that nobody holds; resolves to whether
   * there were any.
   */
  async #reap(): Promise<boolean> {
    const { registration, courier } = this.#context;
    const lost = await registration.findLost(this.copy.fences);
    for (const fence of lost) courier.onLost(fence);
    return await this.#free((seat) => lost.has(seat.fence) || this.isLeft(seat), "lost");
  }

  /** Removes seats; resolves to whether there were any. */
  async #free(isFree: (seat: Seat) => boolean, reason: LeaveReason = "left"): Promise<boolean> {
    const removed = this.copy.office.everybody().filter(isFree).map((seat): Removal => [seat, reason]);
    if (removed.length > 0) await this.#change({ removed });
    return removed.length > 0;
  }

  /**
   * Makes attempts until no other process changes the office in between. The second attempt has what the first one read; then
   * the others get time to finish: an attempt in vain costs Redis a reading of the office.
   */
  async #retry<T>(attempt: () => Promise<T | "conflict">): Promise<T> {
    for (let conflicts = 1; conflicts <= MAX_CONFLICTS; conflicts++) {
      const result = await attempt();
      if (result !== "conflict") return result;
      if (conflicts % 2 === 1) continue;
      const limitMs = Math.min(MAX_PAUSE_MS, conflicts * PAUSE_STEP_MS);
      await delay(Math.random() * limitMs, this.#context.signal);
    }
    throw new TypeError(`Cannot change office "${this.officeId}": other processes change it all the time`);
  }

  /** Reads the office, and returns whether the copy was out of date. */
  async #refresh(): Promise<boolean> {
    return await this.#send(this.copy.version, {}) === "conflict";
  }

  #change(wanted: WantedChange): Promise<"ok" | "conflict" | Wait> {
    return this.#send(wanted.taken === undefined ? "" : this.copy.version, wanted);
  }

  /** After a conflict the copy is up to date. */
  async #send(
    expected: string,
    { removed = [], taken = [], leastUptimeMs = 0 }: WantedChange,
  ): Promise<"ok" | "conflict" | Wait> {
    const { redis } = this.#context;
    const args = [expected, leastUptimeMs, KEPT_MS, redis.publishCommand, removed.length];
    for (const [{ sid, fence }, reason] of removed) args.push(sid, fence, reason);
    for (const seat of taken) args.push(seat.sid, seat.place, writeSeat(seat));
    const command = ["EVAL", CHANGE_SCRIPT, "2", this.#key, this.#channel, ...args.map(String)];
    const reply = await redis.clients.send(this.#key, command);
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
    this.#operations.run(async () => {
      if (message.startsWith(CHANGE) && this.#isOpen) await this.#follow(message);
      if (message.startsWith(NOTICE)) this.#context.onNotice(this.officeId, message.slice(NOTICE.length));
    }).catch(this.#context.onError);
  }

  async #follow(change: string): Promise<void> {
    if (!this.copy.apply(change)) await this.#refresh();
  }

  #holderOf(seat: Seat): OwnSeat | undefined {
    const own = this.ownSeats.get(seat.sid);
    return own !== undefined && isSameMembership(own.member, seat) ? own : undefined;
  }

  #onSeatTaken(seat: Seat): void {
    const own = this.#holderOf(seat);
    const { listener } = this.#context;
    if (own === undefined) {
      if (!this.isLeft(seat)) listener.onJoined(seat, { isHere: false });
    } else if (own.state === "joining") {
      own.state = "taken";
      listener.onJoined(own.member, { isHere: true });
    }
  }

  #onSeatGiven(seat: Seat, reason: LeaveReason): void {
    const own = this.#holderOf(seat);
    const { listener, registration } = this.#context;
    if (own === undefined) {
      if (!this.isLeft(seat)) listener.onLeft(seat, { isHere: false, reason: "left" });
    } else if (reason === "replaced") this.end(own, reason);
    // This process still acts for it as long as its lease lasts: nobody else had the right to take the seat.
    else if (own.state === "taken") void registration.repair();
  }

  get #leastUptimeMs(): number {
    return keptMsOf(this.#context.leaseMs) + UPTIME_STEP_MS;
  }
}
