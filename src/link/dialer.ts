/** Connects a member to its Server: with newer credentials, the right protocol version, and again when it fails. */
import type { Backoff } from "../async/backoff.ts";
import type { Logger } from "../log.ts";
import { RENEW_CREDENTIALS_EVENT } from "../protocol/events.ts";
import {
  AuthenticationError,
  JoinRefusedError,
  ProtocolVersionError,
  ServerUnreachableError,
} from "./errors.ts";
import { DEFAULT_PROTOCOL, highestMinorWithin, type ProtocolMinor } from "../protocol/version.ts";
import { describeError } from "../text/text.ts";
import type { Connection, ConnectOptions, IncomingEvent, OpenConnection } from "./connect.ts";
import { type CredentialsSource, NoCredentialsError, withCredentials } from "./credentials.ts";
import { readJoinAck } from "./join.ts";
import { delayUntilWake } from "./wake.ts";

/** Time for one attempt to connect, or to renew the credentials. */
const ATTEMPT_TIMEOUT_MS = 15_000;
/** How long the Server may refuse a member that comes back, in milliseconds: longer than it keeps a lost connection (45 s). */
export const RETURN_PATIENCE_MS = 60_000;

const REFUSED = "the Server refuses this member; asking again, in case that it is admitted anew";

export interface DialerOptions extends ConnectOptions {
  /** Gives the credentials for each connection, besides `auth` and `headers`. */
  readonly credentials?: CredentialsSource | undefined;
  /** How long the Server may refuse the name, seat or credentials of a member that comes back; 60,000 by default. */
  readonly returnPatienceMs?: number | undefined;
  /** Opens each connection; one of its own to the Server by default. */
  readonly open?: OpenConnection | undefined;
  /** Whether the protocol version may change to one that the Server or the office names; false by default. */
  readonly mayChangeProtocol?: boolean | undefined;
}

interface Attempts {
  readonly onEvent: (incoming: IncomingEvent) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly backoff: Backoff;
}

export class Dialer {
  readonly #options: DialerOptions;
  readonly #log: Logger;
  #protocol: ProtocolMinor;
  /** Whether this member was connected before: until then, only an unreachable Server is retried. */
  #hasConnected = false;
  #problem: Error | undefined;
  #isRenewing = false;
  #hasToldOfPolling = false;

  constructor(options: DialerOptions, log: Logger) {
    this.#options = options;
    this.#protocol = options.protocolVersion ?? DEFAULT_PROTOCOL;
    this.#log = log;
  }

  /** Why the last attempt has failed; `undefined` when it has not. */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /** The `MAJOR.MINOR` of the protocol that this member speaks. */
  get protocolVersion(): ProtocolMinor {
    return this.#protocol;
  }

  /** Changes to the protocol version that a refusal names, where that is allowed; returns whether it did. */
  follow(refusal: unknown): boolean {
    const named = this.#options.mayChangeProtocol === true ? protocolNamedIn(refusal) : undefined;
    if (named === undefined || named === this.#protocol) return false;
    this.#log.info("changing the protocol version", { from: this.#protocol, to: named });
    this.#protocol = named;
    return true;
  }

  /**
   * Retries until connected, permanently refused, or out of time. A Server that refuses the protocol version is tried once
   * more where the version may change, within the same time.
   *
   * @throws the error of the last attempt, or of the one before if the last one had no time left to fail by itself.
   */
  async connect(attempts: Attempts): Promise<Connection> {
    const startMs = performance.now();
    const connection = await this.#tryAll(attempts).catch((error) => {
      if (!this.follow(error)) throw error;
      const timeoutMs = Math.max(1, attempts.timeoutMs - (performance.now() - startMs));
      return this.#tryAll({ ...attempts, timeoutMs });
    });
    this.#hasConnected = true;
    this.#problem = undefined;
    return connection;
  }

  async #tryAll({ onEvent, timeoutMs, signal, backoff }: Attempts): Promise<Connection> {
    const startMs = performance.now();
    const deadlineMs = startMs + timeoutMs;
    let earlier: Error | undefined;
    // Socket.IO is loaded with the first connection: a program that makes none starts faster.
    const open = this.#options.open ?? (await import("./connect.ts")).openConnection;
    while (true) {
      const attemptMs = Math.max(1, Math.min(ATTEMPT_TIMEOUT_MS, deadlineMs - performance.now()));
      try {
        const place = { ...this.#options, protocolVersion: this.#protocol };
        const options = await withCredentials(place, { signal, timeoutMs: attemptMs });
        const onNoWebSocket = (reason: string) => this.#tellOfPolling(reason);
        return await open(options, { onEvent, signal, timeoutMs: attemptMs, onNoWebSocket });
      } catch (error) {
        const waitMs = Math.round(backoff.next());
        const isLast = performance.now() + waitMs >= deadlineMs;
        if (!(error instanceof Error) || !this.#mayPass(error, performance.now() - startMs)) throw error;
        const isRefused = error instanceof AuthenticationError && !(error instanceof NoCredentialsError);
        // The error of a source of credentials may hold what is not for others.
        if (isRefused || error instanceof ServerUnreachableError) this.#problem = error;
        const wasCutShort = attemptMs < ATTEMPT_TIMEOUT_MS && performance.now() >= deadlineMs;
        if (isLast) throw wasCutShort && earlier !== undefined ? earlier : error;
        // One warning for each loss: retries every ten seconds would flood the log.
        const level = earlier === undefined ? "warn" : "debug";
        const fields = { error: error.message, wait_ms: waitMs };
        this.#log[level](isRefused ? REFUSED : "cannot connect to the Server, retrying", fields);
        earlier = error;
        if (await delayUntilWake(waitMs, signal)) backoff.reset();
      }
    }
  }

  #tellOfPolling(reason: string): void {
    // Each reconnection would tell it again.
    const level = this.#hasToldOfPolling ? "debug" : "warn";
    this.#hasToldOfPolling = true;
    this.#log[level](
      "cannot open a WebSocket to the Server, going on with HTTP polling, which works but is slower; " +
        "does each proxy in between pass WebSocket on?",
      { reason },
    );
  }

  /** Whether a failure to connect may be a passing one. */
  #mayPass(error: Error, sinceMs: number): boolean {
    // After a loss, a failure that looks permanent may be a passing one of a proxy or a name service.
    if (error instanceof ServerUnreachableError) return !error.isPermanent || this.#hasConnected;
    if (!this.#hasConnected) return false;
    if (error instanceof NoCredentialsError) return true;
    // The source may get the new credentials later than the Server.
    const canRenew = this.#options.credentials !== undefined && error instanceof AuthenticationError;
    const { returnPatienceMs = RETURN_PATIENCE_MS } = this.#options;
    return canRenew && sinceMs < returnPatienceMs;
  }

  /**
   * Sends newer credentials, so that a connection outlives the old ones; one at a time. The Server announces their end
   * again when this fails.
   */
  async renew(connection: Connection | undefined, signal: AbortSignal): Promise<void> {
    if (this.#options.credentials === undefined || connection === undefined || this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const { auth, headers } = await withCredentials(this.#options, {
        signal,
        timeoutMs: ATTEMPT_TIMEOUT_MS,
      });
      const ack = await connection.request(RENEW_CREDENTIALS_EVENT, { auth, headers }, ATTEMPT_TIMEOUT_MS);
      const answer = readJoinAck(ack);
      if (answer.accepted) this.#log.debug("renewed the credentials");
      else this.#log.warn("the Server refused newer credentials", { reason: answer.reason });
    } catch (error) {
      this.#log.debug("failed to renew the credentials", { error: describeError(error) });
    } finally {
      this.#isRenewing = false;
    }
  }
}

/** The highest protocol version of this package that a Server named when it refused ours. */
function protocolNamedIn(refusal: unknown): ProtocolMinor | undefined {
  if (refusal instanceof ProtocolVersionError) return highestMinorWithin(refusal.refusal);
  return refusal instanceof JoinRefusedError ? refusal.officeProtocol : undefined;
}
