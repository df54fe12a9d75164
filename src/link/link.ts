/** A connection that comes back: connecting, joining, requesting, and all of it again after a loss. */
import { abortable } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import { Backoff, type BackoffOptions, delay, MAX_TIMER_MS } from "../async/backoff.ts";
import { type Logger, silentLogger, withModule } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { describeError } from "../text.ts";
import { JOIN_OFFICE_EVENT, LEAVE_OFFICE_EVENT } from "../protocol/events.ts";
import {
  ConnectionClosedError,
  JoinRefusedError,
  RequestTimeoutError,
  ServerUnreachableError,
} from "../protocol/local_errors.ts";
import type { EnterOfficeReq } from "../protocol/office.ts";
import { plainTextWarning } from "../protocol/server_address.ts";
import { type Connection, type ConnectOptions, type IncomingEvent, openConnection } from "./connect.ts";
import { readJoinAck } from "./join.ts";

/** Waits between attempts to reach the Server. */
const CONNECT_BACKOFF: BackoffOptions = { firstMs: 500, maxMs: 10_000 };
/** Waits between attempts to join where the name or the seat is taken. */
const JOIN_BACKOFF: BackoffOptions = { firstMs: 250, maxMs: 5_000 };
/** How long a taken name or seat is tried again after a loss: longer than a Server needs to forget a lost connection (45 s). */
const JOIN_PATIENCE_MS = 60_000;
/** A connection that lasted so long was a good one, in milliseconds: coming back after its loss needs no wait. */
const STABLE_MS = 10_000;
/** Time for one attempt to connect, and for the answer to a join or leave. */
const ATTEMPT_TIMEOUT_MS = 15_000;

/** What a link needs beyond where and as whom to connect. */
export interface LinkOptions extends ConnectOptions {
  readonly logger?: Logger | undefined;
  /** How long a join after a loss is tried again while the name or seat is taken, in milliseconds; 60,000 by default. */
  readonly joinPatienceMs?: number | undefined;
}

/** How a link joins. */
export interface JoinOptions {
  /** When to give up, in milliseconds; never by default. */
  readonly timeoutMs?: number | undefined;
  /** How long a name or seat that is taken is tried again, in milliseconds; not at all by default. */
  readonly patienceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface JoinAttempt {
  readonly signal: AbortSignal;
  readonly patienceMs: number;
}

/** What a link tells its owner. A listener that throws is logged and changes nothing. */
export interface LinkListener {
  onEvent(incoming: IncomingEvent): void;
  /** The connection is gone; the link is already trying to come back. */
  onLost(reason: string): void;
  /** Connected again and, where an office was joined before, joined again. */
  onReturned(): void;
  /** The link cannot come back: version, credentials or a join refused for good. */
  onFailed(error: Error): void;
}

/**
 * A member's link to its Server. One loop owns the connection: it waits for a loss, connects again with back-off,
 * joins again, and lets the requests that wait go on.
 */
export class Link implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  /** What this member wants to be: the loop makes it so after each loss. */
  #membership: EnterOfficeReq | undefined;
  /** The connection that callers may use: open, and joined again where an office was joined. */
  #connection: Connection | undefined;
  #ready = pending<Connection>();
  /** Until the first connection is there. */
  #isOpening = true;
  #supervision: Promise<void> = Promise.resolve();
  /** Aborted when the office is left, and with it whatever was asked in it. */
  #leaving = new AbortController();

  private constructor(options: LinkOptions, listener: LinkListener) {
    // One random value for this link's life: by it a Server knows a returning member from a stranger.
    this.#options = { ...options, auth: { session: crypto.randomUUID(), ...options.auth } };
    this.#listener = listener;
    this.#log = withModule(options.logger ?? silentLogger, "link");
  }

  /**
   * Connects, trying again with back-off while the Server is out of reach.
   *
   * @param options Where and as whom.
   * @param context `listener`; `timeoutMs`: when to give up, never by default; `signal`.
   * @throws {ServerUnreachableError} after `timeoutMs`, or at once where another attempt is of no use.
   * @throws {AuthenticationError | ProtocolVersionError} at once.
   * @throws {TypeError} The URL cannot be used.
   */
  static async open(
    options: LinkOptions,
    context: { readonly listener: LinkListener; readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<Link> {
    const warning = plainTextWarning(options.url, options);
    const link = new Link(options, context.listener);
    if (warning !== undefined) link.#log.warn(warning);
    const { timeoutMs = Infinity, signal = link.#closing.signal } = context;
    const connection = await link.#connect({ timeoutMs, signal, backoff: new Backoff(CONNECT_BACKOFF) });
    link.#isOpening = false;
    link.#resume(connection);
    link.#supervision = link.#supervise(connection);
    return link;
  }

  /** Whether requests go out at once. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** The office that this member joined, or is trying to return to. */
  get membership(): EnterOfficeReq | undefined {
    return this.#membership;
  }

  /**
   * Joins an office, and joins it again after each loss. After a loss a taken name or seat is tried again for a minute,
   * since what is left of the lost connection may hold it; the first time it is refused at once.
   *
   * @throws {JoinRefusedError} in the Server's own words.
   * @throws {RequestTimeoutError} after `timeoutMs`.
   */
  async join(membership: EnterOfficeReq, options: JoinOptions = {}): Promise<void> {
    const { timeoutMs = Infinity, patienceMs = 0 } = options;
    const closing = this.#untilClosed(options.signal);
    using deadline = timeoutMs > MAX_TIMER_MS ? undefined : new Deadline(timeoutMs, {
      reason: () =>
        new RequestTimeoutError(`Cannot join office "${membership.office_id}": no answer in time`),
      signal: closing,
    });
    const signal = deadline?.signal ?? closing;
    const previous = this.#membership;
    this.#membership = membership;
    try {
      await this.#joinNow(membership, { signal, patienceMs });
    } catch (error) {
      if (this.#membership === membership) this.#membership = previous;
      throw error;
    }
  }

  /** Leaves the office. While the connection is lost there is nothing to say: a lost connection is a leave. */
  async leave(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const membership = this.#membership;
    this.#membership = undefined;
    if (membership === undefined) return;
    const message = `Cannot complete the request: office "${membership.office_id}" was left`;
    this.#leaving.abort(new SmcpError(ErrorCode.NOT_IN_ROOM, message));
    this.#leaving = new AbortController();
    if (this.#connection === undefined) return;
    await abortable(leaveOffice(this.#connection, membership), options.signal);
  }

  /**
   * Sends a request and resolves to the arguments of its ack. While the link is coming back it waits, within
   * `timeoutMs`; a request that was in flight when the connection was lost is not sent twice.
   *
   * @throws {RequestTimeoutError} after `timeoutMs`.
   * @throws {ConnectionClosedError} when the connection is lost, or the link closed.
   * @throws {SmcpError} 413 when it is too large; 4103 when the office is left, after which the Server says no more.
   */
  async request(
    event: string,
    body: unknown,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly unknown[]> {
    const { timeoutMs, signal } = options;
    signal?.throwIfAborted();
    const startMs = performance.now();
    const leaving = this.#leaving.signal;
    const connection = this.#connection ?? await abortable(this.#untilReady(event, options), leaving);
    const remainingMs = Math.max(1, Math.ceil(timeoutMs - (performance.now() - startMs)));
    return await abortable(abortable(connection.request(event, body, remainingMs), leaving), signal);
  }

  /** Sends an event that nobody answers. Dropped while the connection is lost: it would tell of the past. */
  emit(event: string, body: unknown): void {
    this.#connection?.emit(event, body);
  }

  /** Closes for good. Requests in flight reject with {@linkcode ConnectionClosedError}. Idempotent. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#end(new ConnectionClosedError("Cannot use this connection: closed"));
    await connection?.close();
    await this.#supervision;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(error: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(error);
    this.#ready.reject(error);
    void this.#connection?.close();
    this.#connection = undefined;
  }

  #resume(connection: Connection): void {
    this.#connection = connection;
    this.#ready.resolve(connection);
  }

  async #supervise(first: Connection): Promise<void> {
    const { signal } = this.#closing;
    let connection = first;
    // A Server that admits and drops at once is asked less and less often.
    const backoff = new Backoff(CONNECT_BACKOFF);
    let sinceMs = -Infinity;
    try {
      while (true) {
        const reason = await connection.closed;
        if (signal.aborted) return;
        this.#connection = undefined;
        this.#ready = pending();
        this.#log.warn("connection lost", { reason });
        this.#tell(() => this.#listener.onLost(reason));
        if (performance.now() - sinceMs > STABLE_MS) backoff.reset();
        else await delay(backoff.next(), signal);
        connection = await this.#return(signal);
        sinceMs = performance.now();
        this.#resume(connection);
        this.#log.info("connection is back", { office: this.#membership?.office_id });
        this.#tell(() => this.#listener.onReturned());
      }
    } catch (error) {
      if (signal.aborted) return;
      const failure = error instanceof Error ? error : new ConnectionClosedError(describeError(error));
      this.#log.debug("connection failed for good", { error: failure.message });
      this.#end(failure);
      this.#tell(() => this.#listener.onFailed(failure));
    }
  }

  /** Connects and joins again, however long it takes; throws only what is final. */
  async #return(signal: AbortSignal): Promise<Connection> {
    const backoff = new Backoff(CONNECT_BACKOFF);
    while (true) {
      const connection = await this.#connect({ timeoutMs: Infinity, signal, backoff });
      try {
        await this.#restoreMembership(connection, signal);
        return connection;
      } catch (error) {
        void connection.close();
        if (!isPassing(error) || signal.aborted) throw error;
        await delay(backoff.next(), signal);
      }
    }
  }

  async #restoreMembership(connection: Connection, signal: AbortSignal): Promise<void> {
    const membership = this.#membership;
    if (membership === undefined) return;
    const { joinPatienceMs: patienceMs = JOIN_PATIENCE_MS } = this.#options;
    await this.#requestJoin(connection, membership, { signal, patienceMs });
    if (this.#membership === undefined) await leaveOffice(connection, membership);
  }

  /** Attempts with back-off until connected, refused for good, or out of time. */
  async #connect(
    options: { readonly timeoutMs: number; readonly signal: AbortSignal; readonly backoff: Backoff },
  ): Promise<Connection> {
    const { timeoutMs, signal, backoff } = options;
    const deadlineMs = performance.now() + timeoutMs;
    const onEvent = (incoming: IncomingEvent) => this.#tell(() => this.#listener.onEvent(incoming));
    let isKnown = false;
    while (true) {
      const attemptMs = Math.max(1, Math.min(ATTEMPT_TIMEOUT_MS, deadlineMs - performance.now()));
      try {
        return await openConnection(this.#options, { onEvent, signal, timeoutMs: attemptMs });
      } catch (error) {
        const waitMs = Math.round(backoff.next());
        const isLast = performance.now() + waitMs >= deadlineMs;
        if (!(error instanceof ServerUnreachableError) || isLast) throw error;
        // After a loss, a failure that looks permanent may be a passing one of a proxy or a name service.
        if (error.isPermanent && this.#isOpening) throw error;
        const fields = { error: error.message, wait_ms: waitMs };
        // One warning a loss: an attempt every ten seconds would bury everything else.
        if (isKnown) this.#log.debug("Server still out of reach, trying again", fields);
        else this.#log.warn("Server out of reach, trying again", fields);
        isKnown = true;
        await delay(waitMs, signal);
      }
    }
  }

  /** Joins on whatever connection there is; one that is lost meanwhile is waited for. */
  async #joinNow(membership: EnterOfficeReq, options: JoinAttempt): Promise<void> {
    let attempt = options;
    while (true) {
      const connection = await abortable(this.#ready.promise, attempt.signal);
      try {
        return await this.#requestJoin(connection, membership, attempt);
      } catch (error) {
        if (!(error instanceof ConnectionClosedError) || this.#closing.signal.aborted) throw error;
        // The Server may have accepted the join on the lost connection, and still hold the name for it.
        attempt = { ...attempt, patienceMs: Math.max(attempt.patienceMs, JOIN_PATIENCE_MS) };
      }
    }
  }

  async #requestJoin(
    connection: Connection,
    membership: EnterOfficeReq,
    { signal, patienceMs }: JoinAttempt,
  ): Promise<void> {
    const { office_id, name } = membership;
    const deadlineMs = performance.now() + patienceMs;
    const backoff = new Backoff(JOIN_BACKOFF);
    let isKnown = false;
    while (true) {
      const ack = connection.request(JOIN_OFFICE_EVENT, membership, ATTEMPT_TIMEOUT_MS);
      const answer = readJoinAck(await abortable(ack, signal));
      if (answer.accepted) return;
      const waitMs = Math.round(backoff.next());
      if (!answer.isTaken || performance.now() + waitMs > deadlineMs) {
        throw new JoinRefusedError(`Cannot join office "${office_id}" as "${name}": ${answer.reason}`);
      }
      const fields = { office: office_id, name, reason: answer.reason };
      // One warning, as for a Server out of reach: it may be hours until the name is free.
      if (isKnown) this.#log.debug("name or seat is still taken, trying again", fields);
      else this.#log.warn(`name or seat is taken, trying again ${untilWhen(patienceMs)}`, fields);
      isKnown = true;
      await delay(waitMs, signal);
    }
  }

  async #untilReady(
    event: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Connection> {
    const { timeoutMs, signal } = options;
    using deadline = new Deadline(timeoutMs, {
      reason: () => new RequestTimeoutError(`Cannot send "${event}": no connection in ${timeoutMs} ms`),
      signal,
    });
    return await abortable(this.#ready.promise, deadline.signal);
  }

  /** Aborted by the caller or by the closing of this link, whichever comes first. */
  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal;
    return signal === undefined ? closing : AbortSignal.any([signal, closing]);
  }

  /** A listener's mistake is the listener's: it never ends the link. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error("a listener failed", { error: describeError(error) });
    }
  }
}

async function leaveOffice(connection: Connection, membership: EnterOfficeReq): Promise<void> {
  const { office_id } = membership;
  const answer = readJoinAck(await connection.request(LEAVE_OFFICE_EVENT, { office_id }, ATTEMPT_TIMEOUT_MS));
  if (!answer.accepted) throw new JoinRefusedError(`Cannot leave office "${office_id}": ${answer.reason}`);
}

/** Whether another connection may do better: the last one was lost, or its Server fell silent. */
function isPassing(error: unknown): boolean {
  return error instanceof ConnectionClosedError || error instanceof RequestTimeoutError;
}

/** A promise to be settled later, which may also be rejected with nobody waiting. */
function pending<T>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => {});
  return resolvers;
}

function untilWhen(patienceMs: number): string {
  return patienceMs === Infinity ? "until it is free" : `for ${patienceMs} ms`;
}
