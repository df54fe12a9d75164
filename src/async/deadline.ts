/** A time limit that a caller can also end earlier. */
import { MAX_TIMER_MS } from "./backoff.ts";

export interface DeadlineOptions {
  readonly reason: () => Error;
  readonly signal?: AbortSignal | null | undefined;
}

/**
 * A signal that is aborted after a time limit, or with the caller's signal. Declare it with `using`: disposal removes the
 * timer and the listener.
 */
export class Deadline implements Disposable {
  readonly #own = new AbortController();
  readonly #timeoutMs: number;
  readonly #reason: () => Error;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = () => this.abort(this.#caller?.reason);

  constructor(timeoutMs: number, { reason, signal }: DeadlineOptions) {
    this.#caller = signal ?? undefined;
    this.#timeoutMs = Math.max(0, timeoutMs);
    this.#reason = reason;
    this.restart();
    if (this.#caller?.aborted) this.#onAbort();
    else this.#caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Begins the time limit anew. Do not call it after the disposal. */
  restart(leftMs: number = this.#timeoutMs): void {
    clearTimeout(this.#timer);
    if (leftMs === Infinity) return;
    const ms = Math.min(leftMs, MAX_TIMER_MS);
    const onTimeout = () => leftMs > ms ? this.restart(leftMs - ms) : this.abort(this.#reason());
    this.#timer = setTimeout(onTimeout, ms);
  }

  abort(reason: unknown): void {
    this.#own.abort(reason);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }
}

/** Runs with a signal that is aborted after a time limit, or with the caller's signal. */
export async function withDeadline<T>(
  timeoutMs: number,
  options: DeadlineOptions,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(timeoutMs, options);
  try {
    return await run(deadline.signal);
  } finally {
    deadline[Symbol.dispose]();
  }
}
