/** Limits how fast an MCP server is read: its unrequested messages wait in its own pipe or socket. */
import { setImmediate } from "node:timers";
import {
  MAX_OVERSIZED,
  MAX_TURN_MS,
  MAX_UNASKED_BURST,
  MAX_UNASKED_PER_SECOND,
  MAX_WAITING_ANSWERS,
  OVERSIZED_MEMORY_MS,
  UNASKED_UNIT_BYTES,
} from "./limits.ts";

/** The messages of one server. Their reader awaits {@linkcode Inflow.ready} before each piece. */
export class Inflow {
  /** The budget of unrequested messages; below zero, reading waits. */
  #room = MAX_UNASKED_BURST;
  #refilledAtMs = performance.now();
  /** Answers to the server's requests that it has not read yet. */
  #waitingAnswers = 0;
  #turnEndsMs = 0;
  /** When the last messages above a limit came. */
  #oversizedMs: readonly number[] = [];
  #isClosed = false;
  #wake = Promise.withResolvers<void>();

  /** Charges an unrequested message; `weight` is 1 by default. */
  take(bytes: number, weight = 1): void {
    this.#room -= weight + bytes / UNASKED_UNIT_BYTES;
  }

  /** Counts a message above a limit; returns whether the server goes on sending such messages. */
  takeOversized(): boolean {
    const nowMs = performance.now();
    this.#oversizedMs = [...this.#oversizedMs.filter((atMs) => nowMs - atMs < OVERSIZED_MEMORY_MS), nowMs];
    return this.#oversizedMs.length > MAX_OVERSIZED;
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
    return this.#waitingAnswers < MAX_WAITING_ANSWERS && this.#room > 0 &&
      performance.now() < this.#turnEndsMs;
  }

  /** Resolves when the next piece may be read. */
  async ready(): Promise<void> {
    // Gives timers, sockets and other servers their turn.
    await new Promise<void>((resolve) => setImmediate(resolve));
    while (!this.#isClosed && this.#waitingAnswers >= MAX_WAITING_ANSWERS) await this.#wake.promise;
    while (!this.#isClosed && this.#refill() <= 0) {
      await this.#sleep(1_000 * (1 - this.#room) / MAX_UNASKED_PER_SECOND);
    }
    this.#turnEndsMs = performance.now() + MAX_TURN_MS;
  }

  /** Ends all waits. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#wakeUp();
  }

  #refill(): number {
    const nowMs = performance.now();
    const gained = (nowMs - this.#refilledAtMs) / 1_000 * MAX_UNASKED_PER_SECOND;
    this.#room = Math.min(MAX_UNASKED_BURST, this.#room + gained);
    this.#refilledAtMs = nowMs;
    return this.#room;
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
