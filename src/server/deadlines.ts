/** Many time-outs on one timer: a timer of its own for every relayed request costs more than the rest of its relay. */

/** How late a deadline may be noticed. */
const RESOLUTION_MS = 50;

/** Deadlines that nearly always are met, and so cost next to nothing to set and to lift. */
export class Deadlines {
  /** What to do, by the tick of {@linkcode RESOLUTION_MS} at which to do it. */
  readonly #expiries = new Map<number, Set<() => void>>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #timerTick = Infinity;

  /**
   * Calls `onExpire` after `timeoutMs`, or up to 50 ms later.
   *
   * @return Lifts the deadline.
   */
  set(timeoutMs: number, onExpire: () => void): () => void {
    const tick = Math.ceil((performance.now() + timeoutMs) / RESOLUTION_MS);
    const expiries = this.#expiries.get(tick) ?? new Set();
    if (expiries.size === 0) this.#expiries.set(tick, expiries);
    expiries.add(onExpire);
    if (tick < this.#timerTick) this.#arm(tick);
    return () => {
      expiries.delete(onExpire);
      if (expiries.size === 0) this.#expiries.delete(tick);
    };
  }

  /** Forgets all deadlines. */
  clear(): void {
    this.#expiries.clear();
    clearTimeout(this.#timer);
    this.#timerTick = Infinity;
  }

  /** A timer whose deadlines have all been lifted is left alone: it finds nothing and sets the next. */
  #arm(tick: number): void {
    clearTimeout(this.#timer);
    this.#timerTick = tick;
    this.#timer = setTimeout(() => this.#expire(), Math.max(0, tick * RESOLUTION_MS - performance.now()));
  }

  #expire(): void {
    const now = Math.floor(performance.now() / RESOLUTION_MS);
    this.#timerTick = Infinity;
    let next = Infinity;
    for (const [tick, expiries] of [...this.#expiries]) {
      if (tick > now) next = Math.min(next, tick);
      else {
        this.#expiries.delete(tick);
        for (const onExpire of [...expiries]) onExpire();
      }
    }
    if (next < this.#timerTick) this.#arm(next);
  }
}
