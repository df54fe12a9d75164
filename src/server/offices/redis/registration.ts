/** Keeps the lease of this process, takes its seats again when they may be lost, and watches the leases of others. */
import { OutageLog } from "./outage_log.ts";
import { delay } from "../../../async/backoff.ts";
import type { Logger } from "../../../log.ts";
import type { HeldOffice, HeldSeats } from "./held_seats.ts";
import { keptMsOf, Lease, type LeaseClock } from "./lease.ts";
import { toSeat } from "./seat.ts";
import { KEPT_MS } from "./shared_office.ts";
import { isAlive, reap, takeSeatsAgain, type TakingContext } from "./taking.ts";

/** How many former fences are remembered, to recognize own seats. */
const MAX_FORMER_FENCES = 64;
/** How often Redis is told to keep the offices: if it failed to hear that a few times, they are still there. */
const KEEP_INTERVAL_MS = KEPT_MS / 8;

export interface RegistrationContext extends Omit<TakingContext, "isOwn"> {
  readonly held: HeldSeats;
  readonly heartbeatMs: number;
  readonly logger: Logger;
  readonly clock?: LeaseClock | undefined;
  readonly onMessage: (message: string) => void;
}

export class Registration {
  readonly #context: RegistrationContext;
  readonly #taking: TakingContext;
  readonly #fences = new Set<string>();
  readonly #former = new Set<string>();
  readonly #closing = new AbortController();
  readonly #outages: OutageLog;
  #lease: Lease | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #repair: Promise<void> | undefined;
  #isRepairNeeded = true;
  #isRenewalNeeded = false;
  /** The number of offices whose seats cannot be taken again yet. */
  #waiting = 0;
  /** When Redis was last told to keep the offices, on the clock of the lease. */
  #keptAtMs = -Infinity;

  constructor(context: RegistrationContext) {
    this.#context = context;
    this.#outages = new OutageLog(context.logger);
    this.#taking = { ...context, isOwn: (fence) => this.#fences.has(fence) };
  }

  get taking(): TakingContext {
    return this.#taking;
  }

  /** The present lease; `undefined` before the first one. It may have ended. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** Whether members of this process are not served until leases that a restarted Redis has forgotten have ended. */
  get isWaiting(): boolean {
    return this.#waiting > 0;
  }

  isOwn(fence: string): boolean {
    return this.#fences.has(fence);
  }

  async start(): Promise<void> {
    this.#scheduleBeat();
    await this.repair();
  }

  /** Takes all seats again, with a new lease if the present one has ended. Never rejects: the next heartbeat tries again. */
  repair(): Promise<void> {
    this.#isRepairNeeded = true;
    return this.#repair ??= this.#repairWhileNeeded().finally(() => this.#repair = undefined);
  }

  /**
   * The same with a new lease in any case. Messages of other processes may have been lost: with the former fence, their
   * requests to this process end.
   */
  renew(): Promise<void> {
    this.#isRenewalNeeded = true;
    return this.repair();
  }

  /** Ends the lease. Seats that are left behind can be taken by others at once. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#closing.abort(new DOMException("The Server is closing", "AbortError"));
    await this.#repair;
    const { redis, keys } = this.#context;
    const lease = this.#lease;
    if (lease === undefined || !redis.isUp) return;
    lease.end();
    // The last answers: without the lease, those who wait for them give them up.
    await redis.published();
    await redis.send(keys.lease(lease.fence), ["DEL", keys.lease(lease.fence)]);
  }

  async #repairWhileNeeded(): Promise<void> {
    const { redis } = this.#context;
    try {
      while (this.#isRepairNeeded && redis.isUp && !this.#closing.signal.aborted) {
        this.#isRepairNeeded = false;
        await this.#repairOnce();
      }
    } catch (error) {
      this.#isRepairNeeded = true;
      if (this.#closing.signal.aborted) return;
      this.#outages.failed("warn", "failed to register in Redis; retrying", { cause: error });
    }
  }

  async #repairOnce(): Promise<void> {
    const isKept = !this.#isRenewalNeeded && this.#lease !== undefined && await this.#extend(this.#lease);
    if (!isKept) await this.#register();
    const lease = this.#lease;
    if (lease === undefined) return;
    await Promise.all(this.#context.held.offices().map((place) => this.#takeAgain(place, lease)));
    await this.#endFormer(lease);
  }

  async #endFormer(present: Lease): Promise<void> {
    const { redis, keys } = this.#context;
    for (const fence of [...this.#former]) {
      if (fence === present.fence) continue;
      await redis.unsubscribe(keys.processChannel(fence));
      await redis.send(keys.lease(fence), ["DEL", keys.lease(fence)]);
      this.#former.delete(fence);
    }
  }

  async #register(): Promise<void> {
    const { redis, keys, leaseMs, clock, courier, onMessage, logger } = this.#context;
    const lease = new Lease({ leaseMs, clock });
    const { fence } = lease;
    this.#former.add(fence);
    await redis.subscribe(keys.processChannel(fence), onMessage);
    const sentAt = lease.now();
    const key = keys.lease(fence);
    await redis.send(key, ["SET", key, "1", "PX", String(keptMsOf(leaseMs))]);
    lease.renew(sentAt);
    this.#remember(fence);
    this.#lease = lease;
    this.#isRenewalNeeded = false;
    courier.failOutgoing();
    courier.dropIncoming();
    this.#outages.restored();
    logger.info("registered in Redis", { fence });
  }

  #remember(fence: string): void {
    this.#fences.add(fence);
    const [oldest] = this.#fences;
    if (this.#fences.size > MAX_FORMER_FENCES && oldest !== undefined) this.#fences.delete(oldest);
  }

  async #takeAgain(place: HeldOffice, lease: Lease): Promise<void> {
    const { held } = this.#context;
    while (true) {
      const attempt = await place.office.run(() => takeSeatsAgain(this.#taking, place, lease));
      if ("outcome" in attempt) {
        for (const [seat, reason] of attempt.outcome) held.end(seat, reason);
        break;
      }
      await this.#wait(attempt.waitMs);
    }
    held.retire(place);
  }

  async #wait(waitMs: number): Promise<void> {
    const { logger } = this.#context;
    if (this.#waiting === 0) {
      logger.warn(
        "waiting, since Redis has restarted: members are not served until the leases that it forgot have ended",
        {
          wait_ms: waitMs,
        },
      );
    }
    this.#waiting++;
    try {
      await delay(waitMs, this.#closing.signal);
    } finally {
      this.#waiting--;
    }
  }

  /** Returns whether Redis still had the lease. */
  async #extend(lease: Lease): Promise<boolean> {
    const { redis, keys, leaseMs } = this.#context;
    const sentAt = lease.now();
    const key = keys.lease(lease.fence);
    if (await redis.send(key, ["PEXPIRE", key, String(keptMsOf(leaseMs))]) === 1) {
      lease.renew(sentAt);
      return true;
    }
    return false;
  }

  #scheduleBeat(): void {
    if (this.#closing.signal.aborted) return;
    this.#timer = setTimeout(
      () => void this.#beat().finally(() => this.#scheduleBeat()),
      this.#context.heartbeatMs,
    );
  }

  async #beat(): Promise<void> {
    const { redis } = this.#context;
    if (!redis.isUp) return;
    try {
      const wasHeld = this.#lease?.isHeld() ?? false;
      const isRenewed = wasHeld && this.#lease !== undefined && await this.#extend(this.#lease);
      if (!isRenewed || this.#isRepairNeeded) void this.repair();
      else {
        await this.#watch();
        await this.#keep();
      }
    } catch (error) {
      this.#isRepairNeeded = true;
      this.#outages.failed("warn", "failed to renew the lease in Redis; retrying", { cause: error });
    }
  }

  /** Makes Redis keep the offices and the sessions of their members: nobody may have joined or left for a day. */
  async #keep(): Promise<void> {
    const nowMs = this.#lease?.now().monotonicMs ?? -Infinity;
    if (nowMs - this.#keptAtMs < KEEP_INTERVAL_MS) return;
    const { held, sessions } = this.#context;
    await this.#runIn(held.offices(), async ({ office, seats }) => {
      await office.keep();
      await Promise.all(
        [...seats.values()].map(({ member, lease }) => sessions.keep(toSeat(member, lease.fence))),
      );
    });
    this.#keptAtMs = nowMs;
  }

  async #watch(): Promise<void> {
    const { held, courier } = this.#context;
    const fences = new Set(courier.peers());
    for (const { office } of held.offices()) for (const fence of office.copy.fences) fences.add(fence);
    const dead = new Set<string>();
    await Promise.all([...fences].map(async (fence) => {
      if (!this.isOwn(fence) && !await isAlive(this.#taking, fence)) dead.add(fence);
    }));
    for (const fence of dead) courier.onLost(fence);
    const places = held.offices().filter(({ office }) =>
      [...office.copy.fences].some((fence) => dead.has(fence))
    );
    await this.#runIn(places, (place) => reap(this.#taking, place));
  }

  /** Runs an operation of each office. An office that is about to be closed is opened for it, and closed after it. */
  async #runIn(
    places: readonly HeldOffice[],
    operation: (place: HeldOffice) => Promise<unknown>,
  ): Promise<void> {
    await Promise.all(places.map(async (place) => {
      try {
        await place.office.run(() => operation(place));
      } finally {
        this.#context.held.retire(place);
      }
    }));
  }
}
