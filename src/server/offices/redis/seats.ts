/** Taking seats: the rules of `Office` for the version of an office that this process knows, then a change if that version still holds. */
import { delay } from "../../../async/backoff.ts";
import { type JoinOutcome, Office } from "../office.ts";
import { outOfReach } from "../offices.ts";
import type { Courier } from "./courier.ts";
import { keptMsOf, type Lease, type RedisContext, type Registration } from "./registration.ts";
import type { HeldSeat, LeaveReason, SharedOffice, Wait } from "./shared_office.ts";
import { KEPT_MS, type Seat, type Sessions, toSeat } from "./store.ts";

/** How long a join may wait for Redis to settle, or for the lease of another process to end. */
const JOIN_TIMEOUT_MS = 15_000;
/** How many changes of others may come in between before a change is given up. */
const MAX_CONFLICTS = 64;
/** Redis tells its uptime in whole seconds. */
const UPTIME_STEP_MS = 1_000;
/** How long another process may take to confirm that it stops acting for a connection. */
const EVICTION_MS = 500;
/** How often it is asked again, while its lease lasts. */
const EVICTION_PAUSE_MS = 100;
/** How often Redis is told to keep the offices: if it failed to hear that a few times, they are still there. */
const KEEP_INTERVAL_MS = KEPT_MS / 8;

export interface SeatsContext extends RedisContext {
  readonly registration: Registration;
  readonly courier: Courier;
  readonly sessions: Sessions;
  readonly maxMembersPerOffice: number;
  offices(): readonly SharedOffice[];
  /** Stops acting for a connection for a while; a newer one takes its place. */
  evict(sid: string): void;
  /** Ends a seat of this process that was given away. */
  end(seat: HeldSeat, reason: LeaveReason): void;
}

/** Takes the seats of the members of this process, and frees those of processes whose lease has ended. */
export class Seats {
  readonly #context: SeatsContext;
  /** The number of offices whose seats cannot be taken again yet. */
  #waiting = 0;
  /** When Redis was last told to keep the offices, on the clock of the lease. */
  #keptAtMs = -Infinity;

  constructor(context: SeatsContext) {
    this.#context = context;
  }

  /** Whether members of this process are not served until leases that a restarted Redis has forgotten have ended. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  /** Takes a seat for a member that joins, unless a rule forbids it. */
  async take(held: HeldSeat): Promise<JoinOutcome> {
    const { registration, signal } = this.#context;
    const intent = `join office "${held.member.officeId}"`;
    const endMs = performance.now() + JOIN_TIMEOUT_MS;
    while (true) {
      const lease = registration.requireLease(intent);
      const result = await held.office.use(() => this.#tryToTake(held, lease));
      if ("kind" in result) return result;
      if (performance.now() > endMs) throw outOfReach(intent);
      await delay(result.waitMs, signal);
    }
  }

  /** Takes all seats of this process again under a lease, and ends those that were given away. */
  async takeAgain(lease: Lease): Promise<void> {
    await Promise.all(
      this.#context.offices().map(async (office) => {
        while (true) {
          const wait = await office.use(() => this.#tryToTakeAgain(office, lease));
          if (wait === undefined) return;
          await this.#wait(wait.waitMs);
        }
      }),
    );
  }

  /** Frees the seats of processes whose lease has ended, and makes Redis keep what nobody has changed for hours. */
  async check(): Promise<void> {
    const { registration, courier, clock } = this.#context;
    const fences = new Map(this.#context.offices().map((office) => [office, office.copy.fences]));
    const all = new Set(courier.peers());
    for (const some of fences.values()) for (const fence of some) all.add(fence);
    const lost = await registration.findLost(all);
    for (const fence of lost) courier.onLost(fence);
    await Promise.all([...fences].map(async ([office, some]) => {
      if (!lost.isDisjointFrom(some)) await office.use(() => this.#reap(office));
    }));
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#keptAtMs < KEEP_INTERVAL_MS) return;
    await Promise.all(this.#context.offices().map((office) => office.use(() => this.#keep(office))));
    this.#keptAtMs = nowMs;
  }

  async #tryToTake({ member, office }: HeldSeat, lease: Lease): Promise<JoinOutcome | Wait> {
    office.lease ??= lease;
    const wait = office.lease === lease ? undefined : await this.#tryToTakeAgain(office, lease);
    if (wait !== undefined) return wait;
    const { copy } = office;
    const seat = toSeat(member, lease.fence);
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const ghost = copy.findSession(seat);
      // Of an earlier attempt of this connection, whose reply was lost.
      const own = copy.seat(member.sid);
      const leaving = [ghost?.member, own?.member];
      const refusal = copy.office.refuse(member, leaving, this.#context.maxMembersPerOffice);
      if (refusal !== undefined) {
        // The copy may be behind, and the holder of the seat may be a process that has ended.
        if (await office.refresh() || await this.#reap(office)) continue;
        return { kind: "refused", ...refusal };
      }
      if (ghost !== undefined && !await this.#isEvicted(ghost)) return { waitMs: EVICTION_PAUSE_MS };
      const removed: [Seat, LeaveReason][] = [];
      if (ghost !== undefined) removed.push([ghost, "replaced"]);
      if (own !== undefined) removed.push([own, "left"]);
      const result = await office.change({ removed, taken: [seat], leastUptimeMs: this.#leastUptimeMs });
      if (result === "ok") return { kind: "joined", member };
      if (result !== "conflict") return result;
    }
    throw contention(office);
  }

  /** Whether nobody acts for a seat any more, so that it can be given to a newer connection. */
  async #isEvicted(seat: Seat): Promise<boolean> {
    const { registration, courier, evict } = this.#context;
    if (registration.isOwn(seat.fence)) {
      evict(seat.member.sid);
      return true;
    }
    const lost = await registration.findLost([seat.fence]);
    return lost.size > 0 || await courier.evict(seat, EVICTION_MS);
  }

  /**
   * If the former lease still lasts, this does not wait for leases that a restarted Redis has forgotten: no other process can
   * have these seats.
   */
  async #tryToTakeAgain(office: SharedOffice, lease: Lease): Promise<Wait | undefined> {
    const { unsettled } = office;
    const leastUptimeMs = office.lease?.isHeld() ? 0 : this.#leastUptimeMs;
    await office.refresh();
    await this.#reap(office);
    for (let conflicts = 0; conflicts < MAX_CONFLICTS; conflicts++) {
      const { taken, given, isMissing } = plan(office, lease, await this.#findReplaced(office));
      const result = taken.length === 0
        ? "ok"
        : await office.change({ taken, leastUptimeMs: isMissing ? leastUptimeMs : 0 });
      if (result === "conflict") continue;
      if (result !== "ok") return result;
      office.lease = lease;
      office.unsettled -= unsettled;
      for (const [held, reason] of given) this.#context.end(held, reason);
      return undefined;
    }
    throw contention(office);
  }

  /**
   * Finds the seats that Redis lacks because a newer connection of their session has joined, here or in another office. The
   * message that told so may not have reached this process.
   */
  async #findReplaced({ copy, held }: SharedOffice): Promise<ReadonlySet<HeldSeat>> {
    const replaced = new Set<HeldSeat>();
    await Promise.all([...held.values()].map(async (one) => {
      if (one.state !== "held" || copy.seat(one.member.sid) !== undefined) return;
      const seat = toSeat(one.member, this.#context.registration.fence);
      if (copy.findSession(seat) !== undefined || await this.#context.sessions.isReplaced(seat)) {
        replaced.add(one);
      }
    }));
    return replaced;
  }

  /**
   * Frees the seats of processes whose lease has ended, and those of this process that nobody holds; resolves to whether
   * there were any.
   */
  async #reap(office: SharedOffice): Promise<boolean> {
    const { registration, courier } = this.#context;
    const lost = await registration.findLost(office.copy.fences);
    for (const fence of lost) courier.onLost(fence);
    const isFree = ({ fence, member: { sid } }: Seat) =>
      lost.has(fence) || (registration.isOwn(fence) && !office.held.has(sid));
    const removed = office.copy.seats().filter(isFree).map((seat): [Seat, LeaveReason] => [seat, "lost"]);
    if (removed.length === 0) return false;
    await office.change({ removed });
    return true;
  }

  /** Nobody may have joined or left for a day. */
  async #keep(office: SharedOffice): Promise<void> {
    const { registration, sessions } = this.#context;
    await office.keep();
    const own = office.copy.seats().filter(({ fence }) => registration.isOwn(fence));
    await Promise.all(own.map((seat) => sessions.keep(seat)));
  }

  async #wait(waitMs: number): Promise<void> {
    const { logger, signal } = this.#context;
    if (this.#waiting === 0) {
      logger.warn(
        "waiting, since Redis has restarted: members are not served until the leases that it forgot have ended",
        { wait_ms: waitMs },
      );
    }
    this.#waiting++;
    try {
      await delay(waitMs, signal);
    } finally {
      this.#waiting--;
    }
  }

  get #leastUptimeMs(): number {
    return keptMsOf(this.#context.leaseMs) + UPTIME_STEP_MS;
  }
}

/** Finds the held seats of an office that are to be taken, and those that were given away. */
function plan({ copy, held }: SharedOffice, { fence }: Lease, replaced: ReadonlySet<HeldSeat>) {
  const taken: Seat[] = [];
  const given: [HeldSeat, LeaveReason][] = [];
  const missing = new Office();
  for (const one of held.values()) {
    const { member, state } = one;
    // A join that is under way takes its seat itself.
    if (state !== "held") continue;
    const present = copy.seat(member.sid);
    if (present?.fence === fence) continue;
    if (present !== undefined) taken.push({ ...present, fence });
    else if (replaced.has(one)) given.push([one, "replaced"]);
    else if (copy.office.refuse(member, []) ?? missing.refuse(member, [])) given.push([one, "lost"]);
    else {
      missing.add(member);
      taken.push(toSeat(member, fence));
    }
  }
  return { taken, given, isMissing: missing.size > 0 };
}

/** The error when other processes changed an office all the time. */
function contention({ officeId }: SharedOffice): TypeError {
  return new TypeError(
    `Cannot change office "${officeId}": other processes changed it ${MAX_CONFLICTS} times meanwhile`,
  );
}
