/** Limits how many tasks run at the same time, without waiting long for any of them. */
import { settledWithin } from "./abortable.ts";
import { Limiter } from "./limiter.ts";

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
