/** Registers this process in Redis: its lease, which each heartbeat renews, and the channel on which other processes reach it. */
import type { Logger } from "../../../log.ts";
import { outOfReach } from "../offices.ts";
import { OutageLog, type RedisConnection } from "./connection.ts";
import { ALL_PROCESSES, IS_LOST_SCRIPT, type RedisKeys } from "./store.ts";

/** The factor by which Redis keeps a lease for longer than its holder uses it, because clocks differ in speed. */
const KEPT_SHARE = 1.05;

/** Two clocks. The second one also advances while the machine is suspended. */
export interface LeaseClock {
  /** Milliseconds since a fixed point; never decreases. */
  monotonicMs(): number;
  wallMs(): number;
}

export const systemClock: LeaseClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

export function keptMsOf(leaseMs: number): number {
  return Math.ceil(leaseMs * KEPT_SHARE);
}

/**
 * How long a process may act for its members without hearing from Redis. Its `fence` is random and never used again, so "the
 * lease of this fence has ended" stays true forever once it is true. Every seat names the fence under which it was taken.
 */
export class Lease {
  readonly fence = crypto.randomUUID();
  readonly #leaseMs: number;
  readonly #clock: LeaseClock;
  #endMs = -Infinity;
  #wallEndMs = -Infinity;

  constructor({ leaseMs, clock }: { readonly leaseMs: number; readonly clock: LeaseClock }) {
    this.#leaseMs = leaseMs;
    this.#clock = clock;
  }

  isValid(): boolean {
    return this.#clock.monotonicMs() < this.#endMs && this.#clock.wallMs() < this.#wallEndMs;
  }

  /** Sends a renewal, which counts from that moment on unless Redis replies 0. Returns whether it does. */
  async renew(send: () => Promise<unknown>): Promise<boolean> {
    const monotonicMs = this.#clock.monotonicMs();
    const wallMs = this.#clock.wallMs();
    if (await send() === 0) return false;
    this.#endMs = Math.max(this.#endMs, monotonicMs + this.#leaseMs);
    this.#wallEndMs = wallMs + this.#leaseMs;
    return true;
  }
}

/** What all parts of the offices in Redis share. */
export interface RedisContext {
  readonly redis: RedisConnection;
  readonly keys: RedisKeys;
  readonly leaseMs: number;
  readonly heartbeatMs: number;
  readonly clock: LeaseClock;
  readonly logger: Logger;
  /** Aborted when the Server closes. */
  readonly signal: AbortSignal;
}

export interface RegistrationListener {
  /** Called with a message of another process, or of this one to all. */
  readonly onMessage: (message: string) => void;
  /** Called when the process has a new fence: messages to the former one may be lost. */
  onRegistered(): void;
  /** Takes all seats of this process that Redis lacks, or has under another fence. */
  takeSeatsAgain(lease: Lease): Promise<void>;
  /** Called with each heartbeat while all is well. It must not wait for a repair. */
  onBeat(): Promise<void>;
}

export class Registration {
  readonly #context: RedisContext;
  readonly #listener: RegistrationListener;
  readonly #outages: OutageLog;
  /** The fence of the lease, and former ones whose seats may not all be taken again. */
  readonly #fences = new Set<string>();
  #lease: Lease | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #repair: Promise<void> | undefined;
  #isRepairNeeded = true;
  #isRenewalNeeded = false;
  /** From when on a lease that Redis does not have has ended: others may have lost Redis together with this process. */
  #judgesFromMs = -Infinity;

  constructor(context: RedisContext, listener: RegistrationListener) {
    this.#context = context;
    this.#listener = listener;
    this.#outages = new OutageLog(context.logger);
  }

  /** The present lease; `undefined` before the first one. It may have ended. */
  get lease(): Lease | undefined {
    return this.#lease;
  }

  /** The present fence; empty before the first one. */
  get fence(): string {
    return this.#lease?.fence ?? "";
  }

  /** Whether this process may act for members now. */
  get isActive(): boolean {
    return this.#context.redis.isUp && this.#lease !== undefined && this.#lease.isValid();
  }

  /** @throws {SmcpError} while this process may not act for members. */
  requireLease(intent: string): Lease {
    if (this.#lease !== undefined && this.isActive) return this.#lease;
    throw outOfReach(intent);
  }

  isOwn(fence: string): boolean {
    return this.#fences.has(fence);
  }

  /**
   * Finds those processes whose leases have ended. An ended lease never comes back. After an outage that has cost this process
   * its own lease, the others get as long as a lease to register again.
   */
  async findLost(fences: Iterable<string>): Promise<ReadonlySet<string>> {
    const lost = new Set<string>();
    if (this.#context.clock.monotonicMs() < this.#judgesFromMs) return lost;
    await Promise.all([...new Set(fences)].map(async (fence) => {
      if (!this.isOwn(fence) && await this.#isLost(fence)) lost.add(fence);
    }));
    return lost;
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

  /** Stops the heartbeat. In Redis the lease ends by itself. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#repair;
  }

  async #repairWhileNeeded(): Promise<void> {
    try {
      while (this.#isRepairNeeded && this.#context.redis.isUp && !this.#context.signal.aborted) {
        this.#isRepairNeeded = false;
        await this.#repairOnce();
      }
    } catch (error) {
      this.#onFailed(error);
    }
  }

  async #repairOnce(): Promise<void> {
    const isKept = !this.#isRenewalNeeded && this.#lease !== undefined && await this.#extend(this.#lease);
    const lease = isKept && this.#lease || await this.#register();
    await this.#listener.takeSeatsAgain(lease);
    for (const fence of this.#fences) {
      if (fence === lease.fence) continue;
      await this.#context.redis.clients.unsubscribe(this.#context.keys.processChannel(fence));
      await this.#send("DEL", fence);
      this.#fences.delete(fence);
    }
  }

  async #register(): Promise<Lease> {
    const { redis, keys, leaseMs, logger } = this.#context;
    const lease = new Lease(this.#context);
    const { fence } = lease;
    if (this.#lease !== undefined) this.#judgesFromMs = this.#context.clock.monotonicMs() + keptMsOf(leaseMs);
    this.#fences.add(fence);
    for (const name of [fence, ALL_PROCESSES]) {
      await redis.clients.subscribe(keys.processChannel(name), this.#listener.onMessage);
    }
    await lease.renew(() => this.#send("SET", fence, "1", "PX", String(keptMsOf(leaseMs))));
    this.#lease = lease;
    this.#isRenewalNeeded = false;
    this.#listener.onRegistered();
    this.#outages.restored();
    logger.info("registered in Redis", { fence });
    return lease;
  }

  /** Returns whether Redis still had the lease. */
  #extend(lease: Lease): Promise<boolean> {
    const keptMs = String(keptMsOf(this.#context.leaseMs));
    return lease.renew(() => this.#send("PEXPIRE", lease.fence, keptMs));
  }

  #scheduleBeat(): void {
    if (this.#context.signal.aborted) return;
    const beat = () => this.#beat().catch((error) => this.#onFailed(error));
    this.#timer = setTimeout(() => void beat().then(() => this.#scheduleBeat()), this.#context.heartbeatMs);
  }

  async #beat(): Promise<void> {
    if (!this.#context.redis.isUp) return;
    const lease = this.#lease;
    const isRenewed = lease !== undefined && lease.isValid() && await this.#extend(lease);
    if (!isRenewed || this.#isRepairNeeded) void this.repair();
    else await this.#listener.onBeat();
  }

  #onFailed(cause: unknown): void {
    this.#isRepairNeeded = true;
    if (this.#context.signal.aborted) return;
    this.#outages.failed("warn", "failed to keep the lease in Redis; retrying", { cause });
  }

  async #isLost(fence: string): Promise<boolean> {
    const key = this.#context.keys.lease(fence);
    const leastMs = String(keptMsOf(this.#context.leaseMs) + 1_000);
    return await this.#context.redis.clients.send(key, ["EVAL", IS_LOST_SCRIPT, "1", key, leastMs]) === 1;
  }

  #send(command: string, fence: string, ...args: readonly string[]): Promise<unknown> {
    const key = this.#context.keys.lease(fence);
    return this.#context.redis.clients.send(key, [command, key, ...args]);
  }
}
