/** The lease of a process: how long it may act for its members without hearing from Redis. */

/** Two clocks. The second one also advances while the machine is suspended. */
export interface LeaseClock {
  /** Milliseconds since a fixed point; never decreases. */
  monotonicMs(): number;
  wallMs(): number;
}

export interface Instant {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

const systemClock: LeaseClock = { monotonicMs: () => performance.now(), wallMs: () => Date.now() };

/** The factor by which Redis keeps a lease for longer than its holder uses it, because clocks differ in speed. */
const KEPT_SHARE = 1.05;

export function keptMsOf(leaseMs: number): number {
  return Math.ceil(leaseMs * KEPT_SHARE);
}

/**
 * One registration of a process. Its `fence` is random and never used again, so "the lease of this fence has ended" stays
 * true forever once it is true. Every seat names the fence under which it was taken.
 */
export class Lease {
  readonly fence: string;
  readonly #leaseMs: number;
  readonly #clock: LeaseClock;
  #endMs = -Infinity;
  #wallEndMs = -Infinity;

  constructor({ leaseMs, fence = crypto.randomUUID(), clock = systemClock }: {
    readonly leaseMs: number;
    readonly fence?: string;
    readonly clock?: LeaseClock | undefined;
  }) {
    this.#leaseMs = leaseMs;
    this.fence = fence;
    this.#clock = clock;
  }

  isHeld(): boolean {
    return this.#clock.monotonicMs() < this.#endMs && this.#clock.wallMs() < this.#wallEndMs;
  }

  /** Reads the clocks before a renewal is sent. */
  now(): Instant {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.wallMs() };
  }

  /** Redis has confirmed a renewal that was sent at that time. */
  renew(sentAt: Instant): void {
    this.#endMs = Math.max(this.#endMs, sentAt.monotonicMs + this.#leaseMs);
    this.#wallEndMs = sentAt.wallMs + this.#leaseMs;
  }

  end(): void {
    this.#endMs = this.#wallEndMs = -Infinity;
  }
}
