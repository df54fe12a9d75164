/** Many time-outs on one timer: a timer for each relayed request would cost more than the rest of its relay. */

/** How late a deadline may be noticed, in milliseconds. */
const RESOLUTION_MS = 50;

/** What has to be done by some time. */
export interface Deadline {
  /** Called once that time has come. Must not throw. */
  expire(): void;
}

/** Deadlines that nearly always are met, and so cost next to nothing to add and to lift. */
export class Deadlines {
  /** By the tick, in steps of the resolution, at which they expire. */
  readonly #byTick = new Map<number, Set<Deadline>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerTick = Infinity;

  /**
   * Lets `deadline` expire in `timeoutMs`, or up to 50 ms later.
   *
   * @return The tick, by which {@linkcode Deadlines.lift} finds it again.
   */
  add(deadline: Deadline, timeoutMs: number): number {
    const tick = Math.ceil((performance.now() + timeoutMs) / RESOLUTION_MS);
    const deadlines = this.#byTick.get(tick);
    if (deadlines === undefined) this.#byTick.set(tick, new Set([deadline]));
    else deadlines.add(deadline);
    if (tick < this.#timerTick) this.#arm(tick);
    return tick;
  }

  /** Takes a deadline back. */
  lift(deadline: Deadline, tick: number): void {
    const deadlines = this.#byTick.get(tick);
    if (deadlines?.delete(deadline) && deadlines.size === 0) this.#byTick.delete(tick);
  }

  /** Takes all deadlines back, and the timer with them. */
  clear(): void {
    this.#byTick.clear();
    clearTimeout(this.#timer);
    this.#timerTick = Infinity;
  }

  /** Deadlines that are lifted leave the timer alone: it will find nothing, and be set for the next. */
  #arm(tick: number): void {
    clearTimeout(this.#timer);
    this.#timerTick = tick;
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, tick * RESOLUTION_MS - performance.now()));
  }

  #expire(): void {
    const now = performance.now() / RESOLUTION_MS;
    this.#timerTick = Infinity;
    for (const [tick, deadlines] of [...this.#byTick]) {
      if (tick > now) continue;
      this.#byTick.delete(tick);
      for (const deadline of deadlines) deadline.expire();
    }
    let next = Infinity;
    for (const tick of this.#byTick.keys()) next = Math.min(next, tick);
    if (next < this.#timerTick) this.#arm(next);
  }
}
