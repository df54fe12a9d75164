/** The waits between attempts to reach a Server, and between attempts to join. */
import { Backoff } from "../async/backoff.ts";
import type { Farewell } from "../protocol/farewell.ts";

/** The first wait before another attempt to reach the Server, in milliseconds. */
const RECONNECT_DELAY_MS = 500;
const MAX_RECONNECT_DELAY_MS = 10_000;
/** The first wait before another attempt to join, in milliseconds. */
const REJOIN_DELAY_MS = 250;
const MAX_REJOIN_DELAY_MS = 5_000;

/** A loss after a connection of more milliseconds, and the first loss, need no wait of the back-off. */
const STABLE_MS = 10_000;
/** The same where another program on this machine has ended. */
const LOCAL_STABLE_MS = 1_000;

/** Clients that lost a Server spread their return over so many first waits, at least. */
const RETURN_SPREAD = 2;

/** The waits between attempts, which are random. */
export interface RetryOptions {
  /**
   * The longest first wait before another attempt to reach the Server, in milliseconds; 500 by default. It doubles with
   * each further wait, up to 10 seconds. The return after a loss begins with a wait of up to twice as long.
   */
  readonly reconnectDelayMs?: number | undefined;
  /**
   * The first wait before another attempt to join while the name or the seat is taken, in milliseconds; 250 by default.
   * Each further wait is twice as long, up to 5 seconds. Half of each wait is random.
   */
  readonly rejoinDelayMs?: number | undefined;
}

/** The waits between attempts to reach the Server. */
export function reconnectBackoff({ reconnectDelayMs: firstMs = RECONNECT_DELAY_MS }: RetryOptions): Backoff {
  return new Backoff({ firstMs, maxMs: MAX_RECONNECT_DELAY_MS, jitter: "full" });
}

/** The waits between attempts to join. */
export function rejoinBackoff({ rejoinDelayMs: firstMs = REJOIN_DELAY_MS }: RetryOptions): Backoff {
  return new Backoff({ firstMs, maxMs: MAX_REJOIN_DELAY_MS });
}

/** Whether a connection that lasted so long is no sign of a Server that admits this member and drops it at once. */
export function isStable(durationMs: number, { isLocal }: { readonly isLocal: boolean }): boolean {
  return durationMs > (isLocal ? LOCAL_STABLE_MS : STABLE_MS);
}

/**
 * The wait before the first attempt after a loss: what the Server asked for, and a random time, so that its clients do not
 * come back all at once.
 */
export function returnDelayMs(
  { reconnectDelayMs = RECONNECT_DELAY_MS }: RetryOptions,
  { retryAfterMs = 0 }: Pick<Farewell, "retryAfterMs"> = {},
): number {
  return retryAfterMs + Math.random() * Math.max(retryAfterMs, RETURN_SPREAD * reconnectDelayMs);
}
