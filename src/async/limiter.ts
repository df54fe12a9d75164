/** Many askers, a few things at a time. */

/** Runs work in the order in which it was asked for, at most `concurrency` at a time, whoever asks. */
export class Limiter {
  readonly #concurrency: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrency: number) {
    this.#concurrency = concurrency;
  }

  /** Settles as `work` does, once it had its turn; rejects with the signal's reason when that is aborted before. */
  async run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#running >= this.#concurrency) await this.#turn(signal);
    else this.#running++;
    try {
      return await work();
    } finally {
      // The turn is handed on, so that nobody who comes now is before those who wait.
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
