/** Ends the sessions of a Server without losing requests: the peers are told first, and requests in flight finish. */
import { delay } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { FarewellCode } from "../protocol/farewell.ts";
import type { Engine } from "./engine/engine.ts";
import type { Connection } from "./relay/connection.ts";
import { describeUnanswered, type RelayedRequest } from "./relay/pending_requests.ts";

/** How long it still relays new requests, so that peers hear the farewell before a request of theirs is refused. */
const GRACE_MS = 250;
/** The end of the whole time, in which the last requests fail, the last answers are written and everything is closed. */
const CLOSING_MS = 1_000;
/** The share of the whole time that each of these may take. */
const SHARE = 1 / 4;
/** The share of the closing in which answers may be written: a program may leave half of it for the end of its process. */
const ANSWERS_SHARE = 3 / 8;
/** How often it looks for connections without requests in flight. */
const CHECK_INTERVAL_MS = 20;
/** The time between the returns of two peers, on average: other processes admit about a thousand per second. */
const RETURN_INTERVAL_MS = 1;

/** What a program runs around its Server, whose calls count as requests in flight. Its members are in the Server's own process. */
export interface SurroundingWork {
  /** Takes nothing new from now on. */
  begin(): void;
  /** Whether nothing is under way. */
  readonly isIdle: boolean;
  /** Ends what is under way, and its members; takes this long at most. */
  end(timeoutMs: number): Promise<void>;
}

export interface DrainOptions {
  /** The open connections; a connection that is closed disappears from it. */
  readonly connections: ReadonlyMap<string, Connection>;
  readonly engine: Pick<Engine, "size" | "terminate">;
  readonly timeoutMs: number;
  readonly around?: SurroundingWork | undefined;
  readonly logger: Logger;
}

/** The end of a Server. Until it starts, nothing is refused. */
export class Drain {
  #isStarted = false;
  /**
   * Why requests are refused: once the peers that understand the farewell have had time to stop sending them. Those of members
   * in this process belong to work that is under way, and are not.
   */
  refusal: SmcpError | undefined;

  get isStarted(): boolean {
    return this.#isStarted;
  }

  /**
   * Tells all peers to reconnect, drops each connection once it has no request in flight, and the rest some time before
   * `timeoutMs` is over, so that the Server is closed by then. The requests in flight then fail with 503, which says that they may have been
   * carried out.
   */
  async run(options: DrainOptions): Promise<void> {
    const { connections, engine, timeoutMs, around, logger } = options;
    const startMs = performance.now();
    this.#isStarted = true;
    around?.begin();
    logger.info("draining", { ...countsOf(connections), timeout_ms: Math.round(timeoutMs) });
    for (const connection of connections.values()) {
      if (!connection.isInner) connection.announce(farewellTo(connections.size));
    }
    const closingMs = Math.min(CLOSING_MS, timeoutMs * SHARE);
    const deadlineMs = startMs + timeoutMs - closingMs;
    await until(
      () => connections.size === 0,
      startMs + Math.min(GRACE_MS, timeoutMs * SHARE),
    );
    this.refusal = closing();
    await until(() => closeIdle(connections, around), deadlineMs);
    const { in_flight: failed } = countsOf(connections);
    for (const connection of connections.values()) connection.failRequests(unanswered);
    for (const connection of connections.values()) if (!connection.isInner) connection.drop();
    const answersMs = closingMs * ANSWERS_SHARE;
    const [ended] = await Promise.allSettled([
      around?.end(answersMs),
      until(() => engine.size === 0, deadlineMs + answersMs),
    ]);
    // The peers of WebSockets that are not closed yet may read nothing.
    engine.terminate();
    logger.info("drained", { failed, duration_ms: Math.round(performance.now() - startMs) });
    if (ended.status === "rejected") throw ended.reason;
  }
}

/** Spreads the return of many peers, since all of them are told at once. */
function farewellTo(peers: number) {
  return {
    code: FarewellCode.SERVER_CLOSING,
    message: "The Server shuts down",
    reconnect: true,
    retryAfterMs: Math.random() * peers * RETURN_INTERVAL_MS,
  };
}

function closing(): SmcpError {
  return new SmcpError(ErrorCode.UNAVAILABLE, "Cannot relay the request: the Server shuts down");
}

function unanswered(request: RelayedRequest): SmcpError {
  const { message, details } = describeUnanswered(request, "before the Server shut down");
  return new SmcpError(ErrorCode.UNAVAILABLE, message, { details });
}

/** Closes what is idle. Work that is under way may need its own members again, and the Computers in their offices. */
function closeIdle(
  connections: ReadonlyMap<string, Connection>,
  around: SurroundingWork | undefined,
): boolean {
  const all = [...connections.values()];
  const isAtWork = around?.isIdle === false;
  const inner = all.filter(({ isInner }) => isInner);
  const offices = new Set(isAtWork ? inner.map(({ member }) => member?.officeId) : []);
  const isNeeded = ({ member, isInner }: Connection) =>
    isInner || (member?.role === "computer" && offices.has(member.officeId));
  for (const connection of all) if (connection.isIdle && !isNeeded(connection)) connection.drop();
  return !isAtWork && connections.size === inner.length;
}

function countsOf(connections: ReadonlyMap<string, Connection>) {
  let inFlight = 0;
  for (const connection of connections.values()) inFlight += connection.inFlight.requests;
  return { connections: connections.size, in_flight: inFlight };
}

async function until(isDone: () => boolean, deadlineMs: number): Promise<void> {
  while (!isDone()) {
    const leftMs = deadlineMs - performance.now();
    if (leftMs <= 0) return;
    await delay(Math.min(leftMs, CHECK_INTERVAL_MS));
  }
}
