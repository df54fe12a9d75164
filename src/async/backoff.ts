/** Waits between attempts. */

/** The longest delay of a timer, in milliseconds. A timer with a longer delay fires at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

export interface BackoffOptions {
  readonly firstMs: number;
  readonly maxMs: number;
  /** `half`, the default: a wait is at least half its limit. `full`: any wait up to its limit, for many clients of one Server. */
  readonly jitter?: "half" | "full" | undefined;
}

/**
 * Exponential back-off with jitter: the limit doubles, and each wait is random up to the limit, so that many clients that
 * lost the same Server do not reconnect at the same time.
 */
export class Backoff {
  readonly #options: BackoffOptions;
  #stepMs: number;

  constructor(options: BackoffOptions) {
    this.#options = options;
    this.#stepMs = options.firstMs;
  }

  next(): number {
    const stepMs = this.#stepMs;
    this.#stepMs = Math.min(stepMs * 2, this.#options.maxMs);
    const fixedMs = this.#options.jitter === "full" ? 0 : stepMs / 2;
    return fixedMs + Math.random() * (stepMs - fixedMs);
  }

  reset(): void {
    this.#stepMs = this.#options.firstMs;
  }
}

/** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
