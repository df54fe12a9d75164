/** Limits how fast an MCP server is read: its unrequested messages wait in its own pipe or socket. */
import { setImmediate } from "node:timers";
import { TokenBucket } from "../async/token_bucket.ts";
import { MAX_TURN_MS, MAX_WAITING_ANSWERS, OVERSIZED, UNASKED, UNASKED_UNIT_BYTES } from "./limits.ts";

/** The messages of one server. Their reader awaits {@linkcode Inflow.ready} before each piece. */
export class Inflow {
  /** Unrequested messages; while there are too many, reading waits. */
  readonly #unasked = new TokenBucket(UNASKED);
  readonly #oversized = new TokenBucket(OVERSIZED);
  /** Answers to the server's requests that it has not read yet. */
  #waitingAnswers = 0;
  #turnEndsMs = 0;
  #isClosed = false;
  #wake = Promise.withResolvers<void>();

  /** Charges an unrequested message; `weight` is 1 by default. */
  take(bytes: number, weight = 1): void {
    this.#unasked.charge(weight + bytes / UNASKED_UNIT_BYTES);
  }

  /** Counts a message above a limit; returns whether the server goes on sending such messages. */
  takeOversized(): boolean {
    return !this.#oversized.take();
  }

  /** Delays the reading while the server does not read an answer. */
  async answering(sent: Promise<void>): Promise<void> {
    this.#waitingAnswers++;
    try {
      await sent;
    } finally {
      this.#waitingAnswers--;
      this.#wakeUp();
    }
  }

  /** Whether the next piece may be read now; otherwise await {@linkcode Inflow.ready}. */
  get isReady(): boolean {
    if (this.#isClosed) return true;
    return this.#waitingAnswers < MAX_WAITING_ANSWERS && performance.now() < this.#turnEndsMs &&
      this.#unasked.waitMs() === 0;
  }

  /** Resolves when the next piece may be read. */
  async ready(): Promise<void> {
    // Gives timers, sockets and other servers their turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#isClosed && this.#waitingAnswers >= MAX_WAITING_ANSWERS) await this.#wake.promise;
    for (let ms = this.#unasked.waitMs(); ms > 0 && !this.#isClosed; ms = this.#unasked.waitMs()) {
      await this.#sleep(ms);
    }
    this.#turnEndsMs = performance.now() + MAX_TURN_MS;
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeUp();
  }

  async #sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    // May wake up early, which does no harm.
    await Promise.race([promise, this.#wake.promise]);
    clearTimeout(timer);
  }

  #wakeUp(): void {
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
    if (this.#isClosed) this.#wake.resolve();
  }
}
