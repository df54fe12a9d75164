/** Limits how many tasks run at the same time. */
import { settledWithin } from "./abortable.ts";

/** Runs tasks in the order of the calls, at most `concurrency` at a time. */
export class Limiter {
  readonly #concurrency: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Runs `work` when its turn comes, and settles like it. Rejects with the signal's reason when aborted before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#running >= this.#concurrency) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      // The turn passes to the next waiting task, so that a new call cannot overtake it.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const begin = () => {
      signal?.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(begin), 1);
      reject(signal?.reason);
    };
    this.#waiting.push(begin);
    if (signal?.aborted) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
    return promise;
  }
}

/** Runs `work` on each item, at most `concurrency` at a time; resolves when all are done. `work` must not throw. */
export async function forEachBounded<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/**
 * Runs tasks in the order of the calls. One that takes longer than `lateMs` gives its turn to the next, and goes on: peers
 * that do not answer keep nobody else waiting.
 */
export class PatientLimiter {
  readonly #limiter: Limiter;
  readonly #lateMs: number;

  /** @param concurrency The most tasks that run at the same time, besides those that are late. */
  constructor(concurrency: number, lateMs: number) {
    this.#limiter = new Limiter(concurrency);
    this.#lateMs = lateMs;
  }

  /** Runs `work` when its turn comes, and settles like it. Rejects with the signal's reason when aborted before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { running } = await this.#limiter.run(async () => {
      const running = work();
      await settledWithin(running.then(() => undefined, () => undefined), this.#lateMs);
      return { running };
    }, signal);
    return await running;
  }
}
