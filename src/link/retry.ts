/** The waits between attempts to reach a Server, and between attempts to join. */
import { Backoff } from "../async/backoff.ts";

/** The first wait before another attempt to reach the Server, in milliseconds. */
const RECONNECT_DELAY_MS = 500;
/** The longest of these waits, in milliseconds. */
const MAX_RECONNECT_DELAY_MS = 10_000;
/** The first wait before another attempt to join, in milliseconds. */
const REJOIN_DELAY_MS = 250;
/** The longest of these waits, in milliseconds. */
const MAX_REJOIN_DELAY_MS = 5_000;

/** The waits between attempts. Each is random between half of it and the whole. */
export interface RetryOptions {
  /**
   * The first wait before another attempt to reach the Server, in milliseconds; 500 by default. Each further wait is
   * twice as long, up to 10 seconds.
   */
  readonly reconnectDelayMs?: number | undefined;
  /**
   * The first wait before another attempt to join while the name or the seat is taken, in milliseconds; 250 by default.
   * Each further wait is twice as long, up to 5 seconds.
   */
  readonly rejoinDelayMs?: number | undefined;
}

/** The waits between attempts to reach the Server. */
export function reconnectBackoff({ reconnectDelayMs: firstMs = RECONNECT_DELAY_MS }: RetryOptions): Backoff {
  return new Backoff({ firstMs, maxMs: MAX_RECONNECT_DELAY_MS });
}

/** The waits between attempts to join. */
export function rejoinBackoff({ rejoinDelayMs: firstMs = REJOIN_DELAY_MS }: RetryOptions): Backoff {
  return new Backoff({ firstMs, maxMs: MAX_REJOIN_DELAY_MS });
}
