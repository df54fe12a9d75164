/** How long a call may be held while the person at its Computer is asked. */

/** The most that the waits of one call may take together, in milliseconds. */
const MAX_WAIT_MS = 3_600_000;

/** The waits of one call. A Computer cannot make them longer by asking for more, or for more of them. */
export class WaitBudget {
  readonly #now: () => number;
  #endsAt: number | undefined;

  /** @param now The clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** How long the call may wait, of what the Computer asks for; nothing when the time is over, which the first wait begins. */
  grant(askedMs: number): number {
    const now = this.#now();
    this.#endsAt ??= now + MAX_WAIT_MS;
    return Math.max(0, Math.min(askedMs, this.#endsAt - now));
  }
}
