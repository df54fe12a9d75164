/** A limit in time for something that a caller may end earlier. */

/** When a deadline aborts, and with what. */
export interface DeadlineOptions {
  /** Makes the reason with which the signal is aborted when the time is over. */
  readonly reason: () => Error;
  /** Aborts the deadline's signal with its own reason when it is aborted itself. */
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * A signal that is aborted after so many milliseconds, or with the caller's. Declare it with `using`: disposing of it
 * leaves no timer and no listener behind.
 */
export class Deadline implements Disposable {
  readonly #own = new AbortController();
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = () => this.abort(this.#caller?.reason);

  constructor(timeoutMs: number, { reason, signal }: DeadlineOptions) {
    this.#caller = signal ?? undefined;
    this.#timer = setTimeout(() => this.abort(reason()), timeoutMs);
    if (this.#caller?.aborted) this.#onAbort();
    else this.#caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Aborted when the time is over. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Ends it earlier. */
  abort(reason: unknown): void {
    this.#own.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}
