/**
 * Tells when this machine wakes from sleep, or its stopped process goes on: more time has passed than between two ticks of a
 * timer. The timers of a runtime stand still in a sleep, and so does whatever waits for a dead connection to be noticed.
 */
import { delay } from "../async/backoff.ts";

const TICK_MS = 1_000;
/**
 * A tick that comes so much later follows a sleep; a busy process is not so late. Shorter than a Server waits for the answer
 * to any request, so that a request that it gave up during a sleep follows one that is noticed.
 */
const SLEEP_MS = 4_000;

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tickedAtMs = 0;

/** Calls `listener` after each sleep, until the disposal. */
export function onWake(listener: () => void): Disposable {
  // A copy of its own, since the same function may be given twice.
  const own = () => listener();
  listeners.add(own);
  if (timer === undefined) {
    tickedAtMs = Date.now();
    timer = setInterval(tick, TICK_MS);
  }
  return {
    [Symbol.dispose]() {
      listeners.delete(own);
      if (listeners.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** Waits as {@linkcode delay} does, and no longer than until the end of a sleep; resolves to whether there was one. */
export async function delayUntilWake(ms: number, signal: AbortSignal): Promise<boolean> {
  const woken = new AbortController();
  const watch = onWake(() => woken.abort());
  try {
    await delay(ms, AbortSignal.any([signal, woken.signal]));
  } catch (error) {
    if (signal.aborted || !woken.signal.aborted) throw error;
  } finally {
    watch[Symbol.dispose]();
  }
  return woken.signal.aborted;
}

/** Notices a sleep that has just ended, and whose tick has not come yet. */
export function noticeSleep(): void {
  if (timer !== undefined) tick();
}

function tick(): void {
  const lateMs = Date.now() - tickedAtMs - TICK_MS;
  tickedAtMs = Date.now();
  if (lateMs > SLEEP_MS) { for (const listener of [...listeners]) listener(); }
}
