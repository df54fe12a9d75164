/** Waits for promises with a signal or a time limit. */

/** Settles like `promise`, or rejects with the signal's reason when the signal is aborted first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise<T>((resolve, reject) => {
    const watch = onAbort(signal, () => reject(signal.reason));
    // Also after an abort, because an unhandled rejection would end the process.
    promise.then(resolve, reject).finally(() => watch[Symbol.dispose]());
  });
}

/**
 * Settles like `promise`, or resolves to `undefined` after `ms` milliseconds, which may be `Infinity`, or negative for a
 * time that is over. The promise itself continues; its owner must handle a later rejection.
 */
export async function settledWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>();
  const timer = ms === Infinity ? undefined : setTimeout(() => resolve(undefined), Math.max(0, ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `listener` once when the signal is aborted, at once if it is already, and never after the disposal. */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): Disposable {
  if (signal?.aborted) listener();
  else signal?.addEventListener("abort", listener, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener("abort", listener) };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
