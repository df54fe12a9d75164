/** A timer that can stand still. */

/** Runs a function once its time is over. Declare it with `using`: disposal ends it for good. */
export class Countdown implements Disposable {
  readonly #onEnd: () => void;
  /** What is left while it stands still, and was left at {@linkcode #startedAt} while it runs. */
  #leftMs: number;
  #startedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDisposed = false;

  constructor(limitMs: number, onEnd: () => void) {
    this.#leftMs = limitMs;
    this.#onEnd = onEnd;
    this.resume();
  }

  get leftMs(): number {
    const spentMs = this.#timer === undefined ? 0 : performance.now() - this.#startedAt;
    return Math.max(0, this.#leftMs - spentMs);
  }

  pause(): void {
    this.#leftMs = this.leftMs;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  resume(): void {
    if (this.#timer !== undefined || this.#isDisposed) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#onEnd, this.#leftMs);
  }

  restart(limitMs: number): void {
    this.pause();
    this.#leftMs = limitMs;
    this.resume();
  }

  [Symbol.dispose](): void {
    this.pause();
    this.#isDisposed = true;
  }
}
