import type { Clock } from "../../../src/async/timing_wheel.ts";

/** A clock that a test moves. */
export class ManualClock implements Clock {
  #nowMs = 1_234;
  #timer: { readonly fire: () => void; readonly atMs: number } | undefined;
  /** How often the timer fired. */
  firings = 0;

  /** Whether a timer waits. */
  get isArmed(): boolean {
    return this.#timer !== undefined;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  startTimer(fire: () => void, delayMs: number): () => void {
    const timer = { fire, atMs: this.#nowMs + delayMs };
    this.#timer = timer;
    return () => {
      if (this.#timer === timer) this.#timer = undefined;
    };
  }

  /** Lets so much time pass. */
  advance(ms: number): void {
    this.moveTo(this.#nowMs + ms);
  }

  /** Lets time pass: fires each timer when it is due, or, with `late`, only then. */
  moveTo(ms: number, { late = false } = {}): void {
    if (late) this.#nowMs = ms;
    for (let timer = this.#timer; timer !== undefined && timer.atMs <= ms; timer = this.#timer) {
      this.#nowMs = Math.max(this.#nowMs, timer.atMs);
      this.#timer = undefined;
      this.firings++;
      timer.fire();
    }
    this.#nowMs = ms;
  }
}
