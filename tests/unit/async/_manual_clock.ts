import type { Clock } from "../../../src/async/timeouts.ts";

interface Timer {
  readonly fire: () => void;
  readonly atMs: number;
}

/** A clock that a test moves. */
export class ManualClock implements Clock {
  #nowMs = 1_234;
  readonly #timers = new Set<Timer>();
  /** How many timers were ever started. */
  started = 0;

  /** Whether a timer waits. */
  get isArmed(): boolean {
    return this.armed > 0;
  }

  /** How many timers wait. */
  get armed(): number {
    return this.#timers.size;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  startTimer(fire: () => void, delayMs: number): () => void {
    this.started++;
    const timer = { fire, atMs: this.#nowMs + delayMs };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Lets so much time pass. */
  advance(ms: number): void {
    this.moveTo(this.#nowMs + ms);
  }

  /** Lets time pass: fires each timer when it is due, or, with `late`, only then. */
  moveTo(ms: number, { late = false } = {}): void {
    if (late) this.#nowMs = ms;
    for (let timer = this.#first; timer !== undefined && timer.atMs <= ms; timer = this.#first) {
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      this.#timers.delete(timer);
      timer.fire();
    }
    this.#nowMs = ms;
  }

  get #first(): Timer | undefined {
    return [...this.#timers].sort((one, other) => one.atMs - other.atMs)[0];
  }
}
