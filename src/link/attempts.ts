/** Attempts to connect to a Server, with back-off, until one succeeds or all would fail. */
import { type Backoff, delay } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { AuthenticationError, ServerUnreachableError } from "../protocol/local_errors.ts";
import type { Connection, ConnectOptions, IncomingEvent } from "./connect.ts";
import { type CredentialsSource, NoCredentialsError, withCredentials } from "./credentials.ts";

/** Time for one attempt to connect, or to renew the credentials. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** How long refused credentials are retried after a loss, if a source gives them. */
const RENEWAL_PATIENCE_MS = 60_000;

export interface AttemptsContext {
  readonly onEvent: (incoming: IncomingEvent) => void;
  /** Whether this member was never connected: then only an unreachable Server is retried. */
  readonly isFirst: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly backoff: Backoff;
  readonly log: Logger;
}

/** Where to connect, and what gives the credentials. */
export type Place = ConnectOptions & { readonly credentials?: CredentialsSource | undefined };

/**
 * Retries until connected, permanently refused, or out of time; throws the error of the last attempt, or of the one before
 * if the last one had no time left to fail by itself.
 */
export async function connectPatiently(place: Place, context: AttemptsContext): Promise<Connection> {
  const { onEvent, isFirst, timeoutMs, signal, backoff, log } = context;
  const startMs = performance.now();
  const deadlineMs = startMs + timeoutMs;
  let earlier: Error | undefined;
  // Socket.IO is loaded with the first connection: a program that makes none starts faster.
  const { openConnection } = await import("./connect.ts");
  while (true) {
    const attemptMs = Math.max(1, Math.min(ATTEMPT_TIMEOUT_MS, deadlineMs - performance.now()));
    try {
      const options = await withCredentials(place, { signal, timeoutMs: attemptMs });
      return await openConnection(options, { onEvent, signal, timeoutMs: attemptMs });
    } catch (error) {
      const waitMs = Math.round(backoff.next());
      const isLast = performance.now() + waitMs >= deadlineMs;
      const isRetried = mayPass(error, { place, isFirst, sinceMs: performance.now() - startMs });
      if (!(error instanceof Error) || !isRetried) throw error;
      const wasCutShort = attemptMs < ATTEMPT_TIMEOUT_MS && performance.now() >= deadlineMs;
      if (isLast) throw wasCutShort && earlier !== undefined ? earlier : error;
      const fields = { error: error.message, wait_ms: waitMs };
      // One warning for each loss: retries every ten seconds would flood the log.
      if (earlier !== undefined) log.debug("cannot connect to the Server, retrying", fields);
      else log.warn("cannot connect to the Server, retrying", fields);
      earlier = error;
      await delay(waitMs, signal);
    }
  }
}

/** Whether a failure to connect may be a passing one. */
function mayPass(error: unknown, { place, isFirst, sinceMs }: {
  readonly place: Place;
  readonly isFirst: boolean;
  readonly sinceMs: number;
}): boolean {
  // After a loss, a failure that looks permanent may be a passing one of a proxy or a name service.
  if (error instanceof ServerUnreachableError) return !error.isPermanent || !isFirst;
  if (isFirst) return false;
  if (error instanceof NoCredentialsError) return true;
  // The source may get the new credentials later than the Server.
  const canRenew = place.credentials !== undefined && error instanceof AuthenticationError;
  return canRenew && sinceMs < RENEWAL_PATIENCE_MS;
}
