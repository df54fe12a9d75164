/**
 * An office in Redis: the seats that the members of this process take there and give up, by the rules of `Office` for the
 * version that this process knows, if that version still holds; and the channel that tells of the changes of others.
 */
import { delay } from "../../../async/backoff.ts";
import { isTexts } from "../../../json/json.ts";
import { type JoinOutcome, type Member, Office } from "../office.ts";
import type { Courier } from "./courier.ts";
import { type CopyListener, type LeaveReason, OfficeCopy } from "./office_copy.ts";
import { keptMsOf, type Lease, type RedisContext, type Registration } from "./registration.ts";
import { CHANGE_SCRIPT, KEPT_MS, type Seat, toSeat, writeSeat } from "./store.ts";

/** How many changes of others may come in between before a change is given up. */
const MAX_CONFLICTS = 128;
/** The longest pause between attempts, and by how much it grows. */
const MAX_PAUSE_MS = 200;
const PAUSE_STEP_MS = 10;
/** Redis tells its uptime in whole seconds. */
const UPTIME_STEP_MS = 1_000;
/** How often another process is asked to give a seat up, while its lease lasts. */
const REPLACING_PAUSE_MS = 25;
const CHANGE = "change ";
const NOTICE = "notice ";

/**
 * A seat of a member that is connected to this process. A seat that is `joining` is `held` as soon as the copy of its office
 * shows it, whether the reply to the join or the office's channel tells of it first; otherwise it has `ended` when the join
 * is refused or has failed. A seat that is held ends by `leaving`, by being `replaced`, after which this process no longer acts
 * for it, or because it was given away. Nothing comes after the end.
 */
export interface HeldSeat {
  readonly member: Member;
  readonly office: SharedOffice;
  /** A digest of the session. */
  readonly sessionId: string | undefined;
  state: "joining" | "held" | "leaving" | "replaced" | "ended";
}

export interface OfficeContext extends RedisContext, CopyListener {
  readonly maxMembersPerOffice: number;
  readonly registration: Registration;
  readonly courier: Courier;
  /** Ends a seat of this process that was given away. */
  end(seat: HeldSeat, reason: LeaveReason): void;
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
  /** By `sid`. */
  readonly held = new Map<string, HeldSeat>();
  /** The last lease under which all held seats were taken. */
  lease: Lease | undefined;
  /** How many seats ended here without a word of Redis: it may still have them, until it was asked later than that. */
  unsettled = 0;
  readonly #context: OfficeContext;
  readonly #key: string;
  readonly #channel: string;
  /** The seats to remove, by `sid`. */
  readonly #leaving = new Map<string, LeaveReason>();
  #tail: Promise<unknown> = Promise.resolve();
  #users = 0;
  #isOpen = false;

  constructor(officeId: string, context: OfficeContext) {
    this.officeId = officeId;
    this.#context = context;
    this.#key = context.keys.office(officeId);
    this.#channel = context.keys.officeChannel(officeId);
    this.copy = new OfficeCopy(context);
  }

  /** Lists the members, behind the changes that are under way. */
  members(): Promise<readonly Member[]> {
    return this.#use(() => Promise.resolve(this.copy.members()));
  }

  /** Takes a seat for a member that joins, unless a rule forbids it. */
  take(held: HeldSeat, lease: Lease): Promise<JoinOutcome | Wait> {
    return this.#use(() => this.#tryToTake(held, lease));
  }

  /** Takes all seats of this process again under a lease, and ends those that were given away. */
  takeAgain(lease: Lease): Promise<Wait | undefined> {
    return this.#use(() => this.#tryToTakeAgain(lease));
  }

  /** Removes a seat, with all others that wait for it: many members may leave at once. */
  remove(sid: string, reason: LeaveReason): Promise<void> {
    this.#leaving.set(sid, reason);
    return this.#use(async () => {
      const removed: Removal[] = [];
      for (const [sid, reason] of this.#leaving) {
        const seat = this.copy.office.find(sid);
        if (seat !== undefined) removed.push([seat, reason]);
      }
      if (removed.length > 0) await this.#change({ removed });
      for (const [seat] of removed) this.#leaving.delete(seat.sid);
    }).finally(() => this.#leaving.delete(sid));
  }

  /** Sends a text to all processes that follow the office, this one as well. */
  async notify(text: string): Promise<void> {
    await this.#context.redis.publish(this.#channel, `${NOTICE}${text}`);
  }

  /** Ends the subscription unless somebody uses the office. */
  closeUnused(): void {
    const isUsed = () => this.#users > 0 || this.held.size > 0 || this.unsettled > 0;
    if (isUsed()) return;
    this.#enqueue(async () => {
      if (isUsed()) return;
      if (this.#isOpen) await this.#context.redis.unsubscribe(this.#channel);
      this.#isOpen = false;
      if (!isUsed()) this.#context.onClosed(this);
    }).catch(this.#context.onError);
  }

  /** Runs an operation. The first one subscribes to the channel and reads the office. */
  async #use<T>(operation: () => Promise<T>): Promise<T> {
    this.#users++;
    try {
      return await this.#enqueue(async () => {
        if (!this.#isOpen) {
          await this.#context.redis.subscribe(this.#channel, (message) => this.#receive(message));
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

  #enqueue<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(operation);
    this.#tail = result.catch(() => {});
    return result;
  }

  async #tryToTake({ member }: HeldSeat, lease: Lease): Promise<JoinOutcome | Wait> {
    this.lease ??= lease;
    const wait = this.lease === lease ? undefined : await this.#tryToTakeAgain(lease);
    if (wait !== undefined) return wait;
    const seat = toSeat(member, lease.fence);
    return await this.#settle(async () => {
      const ghost = this.copy.findSession(seat);
      // Of an earlier attempt of this connection, whose reply was lost.
      const own = this.copy.office.find(member.sid);
      const refusal = this.copy.office.refuse(seat, [ghost, own], this.#context.maxMembersPerOffice);
      if (refusal !== undefined) {
        // The copy may be behind, and the holder of the seat may be a process that has ended.
        const isOther = await this.#refresh() || await this.#reap();
        return isOther ? "conflict" : { kind: "refused", ...refusal };
      }
      if (ghost !== undefined && !await this.#isFree(ghost)) {
        this.#context.courier.replace(seat, ghost);
        return { waitMs: REPLACING_PAUSE_MS };
      }
      const removed: Removal[] = [];
      if (ghost !== undefined) removed.push([ghost, "replaced"]);
      if (own !== undefined) removed.push([own, "left"]);
      const result = await this.#change({ removed, taken: [seat], leastUptimeMs: this.#leastUptimeMs });
      return result === "ok" ? { kind: "joined", member } : result;
    });
  }

  /** Whether no other process acts for a seat any more. */
  async #isFree({ fence }: Seat): Promise<boolean> {
    const { registration } = this.#context;
    return registration.isOwn(fence) || (await registration.findLost([fence])).size > 0;
  }

  /**
   * If the former lease still lasts, this does not wait for leases that a restarted Redis has forgotten: no other process can
   * have these seats.
   */
  async #tryToTakeAgain(lease: Lease): Promise<Wait | undefined> {
    const { unsettled } = this;
    const leastUptimeMs = this.lease?.isHeld() ? 0 : this.#leastUptimeMs;
    await this.#refresh();
    await this.#reap();
    return await this.#settle(async () => {
      const { moved, missing, given } = this.#compare(lease);
      const result = moved.length + missing.length === 0 ? "ok" : await this.#change({
        taken: [...moved, ...missing],
        leastUptimeMs: missing.length > 0 ? leastUptimeMs : 0,
      });
      if (result !== "ok") return result;
      this.lease = lease;
      this.unsettled -= unsettled;
      for (const [held, reason] of given) this.#context.end(held, reason);
      return undefined;
    });
  }

  /** Finds the held seats that Redis has under another fence, those that it lacks, and those that were given away. */
  #compare({ fence }: Lease) {
    const moved: Seat[] = [];
    const missing: Seat[] = [];
    const given: [HeldSeat, LeaveReason][] = [];
    const rules = new Office();
    for (const held of this.held.values()) {
      // A join that is under way takes its seat itself.
      if (held.state !== "held") continue;
      const { member } = held;
      const known = this.copy.office.find(member.sid);
      const seat = known ?? toSeat(member, fence);
      if (known !== undefined) {
        if (known.fence !== fence) moved.push({ ...known, fence });
      } // The message that told so may not have reached this process.
      else if (this.copy.findSession(seat) !== undefined) given.push([held, "replaced"]);
      else if (this.copy.office.refuse(member, []) ?? rules.refuse(member, [])) given.push([held, "lost"]);
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
    const isFree = ({ fence, sid }: Seat) =>
      lost.has(fence) || (registration.isOwn(fence) && !this.held.has(sid));
    const removed = this.copy.office.everybody().filter(isFree).map((seat): Removal => [seat, "lost"]);
    if (removed.length > 0) await this.#change({ removed });
    return removed.length > 0;
  }

  /**
   * Makes attempts until no other process changes the office in between. The second attempt has what the first one read; then
   * the others get time to finish: an attempt in vain costs Redis a reading of the office.
   */
  async #settle<T>(attempt: () => Promise<T | "conflict">): Promise<T> {
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
    return await this.#send(this.copy.version === "" ? "-" : this.copy.version, {}) === "conflict";
  }

  async #change(wanted: WantedChange): Promise<"ok" | "conflict" | Wait> {
    if (wanted.taken === undefined) return await this.#send("", wanted);
    if (this.copy.version === "") await this.#refresh();
    return await this.#send(this.copy.version, wanted);
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
    const reply = await redis.send(this.#key, command);
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
      if (message.startsWith(NOTICE)) this.#context.onNotice(this.officeId, message.slice(NOTICE.length));
    }).catch(this.#context.onError);
  }

  async #follow(change: string): Promise<void> {
    if (!this.copy.apply(change)) await this.#refresh();
  }

  get #leastUptimeMs(): number {
    return keptMsOf(this.#context.leaseMs) + UPTIME_STEP_MS;
  }
}
