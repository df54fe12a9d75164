/** The link of an Agent or a Computer to its Server: connects, joins, requests, and reconnects after a loss. */
import { abortable } from "../async/abortable.ts";
import { withDeadline } from "../async/deadline.ts";
import { type Logger, silentLogger, withModule } from "../log.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { CREDENTIALS_EXPIRING_NOTIFICATION } from "../protocol/events.ts";
import { type Farewell, hasEndedCredentials } from "../protocol/farewell.ts";
import { ConnectionClosedError, type JoinRefusedError, RequestTimeoutError, toDismissal } from "./errors.ts";
import type { EnterOfficeReq } from "../protocol/office.ts";
import type { ProtocolMinor } from "../protocol/version.ts";
import { describeError } from "../text/text.ts";
import { loadTracing } from "../tracing.ts";
import type { Connection, ConnectionEnd, IncomingEvent } from "./connect.ts";
import { newPlainTextWarning } from "./credentials.ts";
import { Dialer, type DialerOptions, RETURN_PATIENCE_MS } from "./dialer.ts";
import { type JoinAttempt, type JoinOptions, leaveOffice, requestJoin, SleepCheck } from "./join.ts";
import { isStable, reconnectBackoff, type RetryOptions, returnDelayMs } from "./retry.ts";
import { delayUntilWake } from "./wake.ts";

/**
 * The options of a link. One that may change its protocol version does so once for each connection and each join that is
 * refused because of it, to the highest version that it speaks and that the Server named.
 */
export interface LinkOptions extends DialerOptions, RetryOptions {
  readonly logger?: Logger | undefined;
}

/** Callbacks of a link. An error that a callback throws is logged and has no other effect. */
export interface LinkListener {
  onEvent(incoming: IncomingEvent): void;
  /** The connection was lost; the link is reconnecting, unless the Server's farewell forbids it. */
  onLost(end: ConnectionEnd): void;
  /** The link reconnected, and rejoined the office that it was in. */
  onReturned(): void;
  /** The link ended: the Server refused the version, the credentials or the join, or ended the connection for good. */
  onFailed(error: Error): void;
}

/**
 * The link of a member to its Server. One loop owns the connection: it waits for a loss, reconnects with back-off,
 * rejoins the office, and releases the requests that wait.
 */
export class Link implements AsyncDisposable {
  readonly #options: LinkOptions;
  readonly #listener: LinkListener;
  readonly #log: Logger;
  readonly #closing = new AbortController();
  /** The office to be in: the loop rejoins it after each loss. */
  #membership: EnterOfficeReq | undefined;
  /** The connection for requests: open, and in the office. */
  #connection: Connection | undefined;
  /** The connection that the Server is about to end: only events of requests in flight still use it. */
  #dismissed: Connection | undefined;
  /** Why the office has refused the return so far. */
  #refusal: JoinRefusedError | undefined;
  /** The connection that this link ends to come back with another protocol version. */
  #outdated: Connection | undefined;
  #sleep: SleepCheck | undefined;
  readonly #dialer: Dialer;
  #ready = pending<Connection>();
  #supervision: Promise<void> = Promise.resolve();
  /** Aborted on leaving the office; the requests made in it then reject. */
  #leaving = new AbortController();

  private constructor(options: LinkOptions, listener: LinkListener) {
    // A random value for the life of this link: the Server recognizes a reconnecting member by it.
    this.#options = { ...options, auth: { session: crypto.randomUUID(), ...options.auth } };
    this.#listener = listener;
    this.#log = withModule(options.logger ?? silentLogger, "link");
    this.#dialer = new Dialer(this.#options, this.#log);
  }

  /**
   * Connects, and retries with back-off while the Server cannot be reached.
   *
   * @param context `listener`; `timeoutMs`: when to give up, never by default; `signal`.
   * @throws {ServerUnreachableError} after `timeoutMs`, or at once for a permanent cause.
   * @throws {AuthenticationError | ProtocolVersionError} at once.
   * @throws {TypeError} The URL cannot be used.
   */
  static async open(
    options: LinkOptions,
    context: { readonly listener: LinkListener; readonly timeoutMs?: number; readonly signal?: AbortSignal },
  ): Promise<Link> {
    const warning = options.logger && newPlainTextWarning(options.url, options);
    const link = new Link(options, context.listener);
    await loadTracing();
    if (warning !== undefined) link.#log.warn(warning);
    const { timeoutMs = Infinity, signal = link.#closing.signal } = context;
    const connection = await link.#connect(timeoutMs, signal);
    link.#resume(connection);
    link.#supervision = link.#supervise(connection);
    return link;
  }

  /** Whether requests are sent without waiting for a reconnection. */
  get isConnected(): boolean {
    return this.#connection !== undefined;
  }

  /** Why the connection has not come back at the last attempt. */
  get problem(): Error | undefined {
    return this.#refusal ?? this.#dialer.problem;
  }

  /** The largest message that the Server accepts now, in bytes; `undefined` while there is no connection. */
  get maxPayloadBytes(): number | undefined {
    return this.#connection?.maxPayloadBytes;
  }

  /** The `MAJOR.MINOR` of the protocol that this member speaks. */
  get protocolVersion(): ProtocolMinor {
    return this.#dialer.protocolVersion;
  }

  /** The office that this member is in, or is rejoining. */
  get membership(): EnterOfficeReq | undefined {
    return this.#membership;
  }

  /** See {@linkcode SleepCheck.isAwake}. */
  get isAwake(): Promise<boolean> | undefined {
    return this.#sleep?.isAwake;
  }

  /**
   * Joins an office, and rejoins it after each loss. A rejoin is retried for a minute while the name or seat is taken,
   * because the Server may still keep the lost connection. A first join is refused at once,
   * unless `patienceMs` allows retries or the connection was lost meanwhile.
   *
   * @throws {JoinRefusedError} with the reason that the Server gave.
   * @throws {RequestTimeoutError} after `timeoutMs`.
   */
  async join(membership: EnterOfficeReq, options: JoinOptions = {}): Promise<void> {
    const { timeoutMs = Infinity, patienceMs = 0 } = options;
    const reason = () =>
      new RequestTimeoutError(`Cannot join office "${membership.office_id}": no answer in time`);
    const previous = this.#membership;
    const leaving = this.#leaving.signal;
    this.#membership = membership;
    try {
      const closing = this.#closing.signal;
      const ending = AbortSignal.any([options.signal ?? closing, closing]);
      await withDeadline(timeoutMs, { reason, signal: ending }, async (signal) => {
        const attempt = this.#toAttempt({ signal, patienceMs });
        await this.#joinNow(membership, attempt).catch(async (error) => {
          await this.#changeProtocol(error, AbortSignal.any([signal, leaving]));
          await this.#joinNow(membership, attempt);
        });
      });
    } catch (error) {
      if (this.#membership === membership) this.#membership = previous;
      throw error;
    }
  }

  /**
   * Leaves the office. While disconnected nothing is sent: the Server counts a lost connection as a leave.
   *
   * @throws {LeaveRefusedError} with the reason that the Server gave; the membership has ended on this side.
   */
  async leave(options: { readonly signal?: AbortSignal | undefined } = {}): Promise<void> {
    const membership = this.#membership;
    this.#membership = undefined;
    if (membership === undefined) return;
    const message = `Cannot complete the request: office "${membership.office_id}" was left`;
    this.#leaving.abort(new SmcpError(ErrorCode.NOT_IN_ROOM, message, { details: { may_have_run: true } }));
    this.#leaving = new AbortController();
    if (this.#connection === undefined) return;
    await abortable(leaveOffice(this.#connection, membership), options.signal);
  }

  /**
   * Sends a request and resolves to the arguments of its ack; it waits within `timeoutMs` while the link reconnects. One that
   * may have reached somebody when the connection is lost fails: it is not sent a second time.
   *
   * @throws {RequestTimeoutError} after `timeoutMs`.
   * @throws {ConnectionClosedError} when the connection is lost, or the link closed.
   * @throws {SmcpError} 413 when it is too large; 4103 when the office is left.
   */
  async request(
    event: string,
    body: unknown,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly unknown[]> {
    const { timeoutMs, signal } = options;
    signal?.throwIfAborted();
    const endMs = performance.now() + timeoutMs;
    const leftMs = () => Math.max(1, Math.ceil(endMs - performance.now()));
    const leaving = this.#leaving.signal;
    const connection = this.#connection ?? await abortable(this.#untilReady(event, options), leaving);
    try {
      return await abortable(abortable(connection.request(event, body, leftMs()), leaving), signal);
    } catch (error) {
      const isUnsent = error instanceof ConnectionClosedError && error.isUnsent;
      if (!isUnsent) throw error;
      this.#closing.signal.throwIfAborted();
      await abortable(abortable(connection.closed, leaving), signal);
      return await this.request(event, body, { ...options, timeoutMs: leftMs() });
    }
  }

  /** Sends an event without an ack. While disconnected the event is dropped. */
  emit(event: string, body: unknown): void {
    (this.#connection ?? this.#dismissed)?.emit(event, body);
  }

  /**
   * Closes for good. Requests in flight reject with a {@linkcode ConnectionClosedError}, later ones with a permanent one.
   * Idempotent.
   *
   * @param owner What is closed, for that error.
   */
  async close(owner = "connection"): Promise<void> {
    const connection = this.#connection ?? this.#dismissed;
    const why = `Cannot use this ${owner}: it was closed`;
    this.#end(new ConnectionClosedError(why, { isPermanent: true, isUnsent: true }));
    await connection?.close();
    await this.#supervision;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #end(error: Error): void {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(error);
    void (this.#connection ?? this.#dismissed)?.close();
    this.#suspend();
    this.#ready.reject(error);
  }

  #resume(connection: Connection): void {
    this.#connection = connection;
    this.#refusal = undefined;
    this.#ready.resolve(connection);
    void connection.dismissed.then(() => {
      if (this.#connection !== connection) return;
      this.#suspend();
      this.#dismissed = connection;
    });
  }

  /**
   * Reconnects, without a join, with the protocol version that this refusal of a join names. The owner is not told of a
   * loss.
   *
   * @throws `error` when the version cannot change.
   */
  async #changeProtocol(error: unknown, signal: AbortSignal): Promise<void> {
    const connection = this.#connection;
    if (connection === undefined || !this.#dialer.follow(error)) throw error;
    this.#outdated = connection;
    this.#suspend();
    void connection.close();
    await abortable(this.#ready.promise, signal);
  }

  /** Makes new requests wait for the next connection. */
  #suspend(): void {
    this.#dismissed = undefined;
    if (this.#connection === undefined) return;
    this.#connection = undefined;
    this.#ready = pending();
  }

  async #supervise(first: Connection): Promise<void> {
    const { signal } = this.#closing;
    const sleep = this.#sleep = new SleepCheck(() => [this.#connection, this.#membership]);
    signal.addEventListener("abort", () => sleep[Symbol.dispose]());
    let connection = first;
    // Waits longer each time for a Server that admits this member and drops it at once.
    const backoff = reconnectBackoff(this.#options);
    let sinceMs = -Infinity;
    try {
      while (true) {
        const end = await connection.closed;
        if (signal.aborted) return;
        if (connection === this.#outdated) {
          connection = await this.#reconnect(signal);
          this.#outdated = undefined;
          this.#resume(connection);
          continue;
        }
        this.#suspend();
        const { reason, farewell, isOwn = false } = end;
        const isLocal = end.isLocal === true || sleep.concerns(connection);
        this.#log[isOwn ? "debug" : "warn"]("connection lost", { reason, code: farewell?.code });
        this.#tell(() => this.#listener.onLost(end));
        if (farewell !== undefined && !this.#mayReturn(farewell)) {
          throw toDismissal(this.#options.url, farewell);
        }
        if (isStable(performance.now() - sinceMs, { isLocal })) backoff.reset();
        else await delayUntilWake(backoff.next(), signal);
        // The Server has not lost its other clients, and they do not come back together.
        if (!isLocal) await delayUntilWake(returnDelayMs(this.#options, farewell), signal);
        connection = await this.#reconnect(signal);
        sinceMs = performance.now();
        this.#resume(connection);
        this.#log.info("reconnected", { office: this.#membership?.office_id });
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

  /** With a source of credentials, this member may get new ones in place of those that have ended. */
  #mayReturn(farewell: Farewell): boolean {
    const canRenew = this.#options.credentials !== undefined && hasEndedCredentials(farewell);
    return farewell.reconnect || canRenew;
  }

  /** Reconnects and rejoins without a time limit; throws only permanent errors. */
  async #reconnect(signal: AbortSignal): Promise<Connection> {
    const backoff = reconnectBackoff(this.#options);
    let hasChanged = false;
    while (true) {
      const connection = await this.#connect(Infinity, signal, backoff);
      try {
        await this.#restoreMembership(connection, signal);
        return connection;
      } catch (error) {
        void connection.close();
        if (!hasChanged && this.#dialer.follow(error)) {
          hasChanged = true;
          continue;
        }
        const isPassing = error instanceof ConnectionClosedError || error instanceof RequestTimeoutError;
        if (!isPassing || signal.aborted) throw error;
        if (await delayUntilWake(backoff.next(), signal)) backoff.reset();
      }
    }
  }

  async #restoreMembership(connection: Connection, signal: AbortSignal): Promise<void> {
    const membership = this.#membership;
    // After a change of the version, whoever wanted it joins.
    if (membership === undefined || this.#outdated !== undefined) return;
    const { returnPatienceMs: patienceMs = RETURN_PATIENCE_MS } = this.#options;
    const onRefused = (refusal: JoinRefusedError) => void (this.#refusal = refusal);
    await requestJoin(connection, membership, this.#toAttempt({ signal, patienceMs, onRefused }));
    if (this.#membership === undefined) await leaveOffice(connection, membership);
  }

  #connect(
    timeoutMs: number,
    signal: AbortSignal,
    backoff = reconnectBackoff(this.#options),
  ): Promise<Connection> {
    const onEvent = (incoming: IncomingEvent) => {
      if (incoming.event === CREDENTIALS_EXPIRING_NOTIFICATION) {
        void this.#dialer.renew(this.#connection, this.#closing.signal);
      } else this.#tell(() => this.#listener.onEvent(incoming));
    };
    return this.#dialer.connect({ onEvent, timeoutMs, signal, backoff });
  }

  /** Joins on the current connection. If it is lost meanwhile, waits for the next one and joins there. */
  async #joinNow(membership: EnterOfficeReq, options: JoinAttempt): Promise<void> {
    let attempt = options;
    while (true) {
      const connection = await abortable(this.#ready.promise, attempt.signal);
      try {
        return await requestJoin(connection, membership, attempt);
      } catch (error) {
        if (!(error instanceof ConnectionClosedError) || this.#closing.signal.aborted) throw error;
        // The Server may have accepted the join on the lost connection, and still hold the name for it.
        attempt = { ...attempt, patienceMs: Math.max(attempt.patienceMs, RETURN_PATIENCE_MS) };
      }
    }
  }

  #toAttempt(attempt: Pick<JoinAttempt, "signal" | "patienceMs" | "onRefused">): JoinAttempt {
    return { ...attempt, retry: this.#options, log: this.#log };
  }

  #untilReady(
    event: string,
    { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
  ): Promise<Connection> {
    const reason = () =>
      new RequestTimeoutError(`Cannot send "${event}": no connection in ${timeoutMs} ms`, { isUnsent: true });
    return withDeadline(timeoutMs, { reason, signal }, (signal) => abortable(this.#ready.promise, signal));
  }

  /** Calls a callback of the owner. Its error is logged and never ends the link. */
  #tell(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#log.error("a callback failed", { error: describeError(error) });
    }
  }
}

/** A promise to be settled later. Its rejection may stay unhandled. */
function pending<T>(): PromiseWithResolvers<T> {
  const resolvers = Promise.withResolvers<T>();
  resolvers.promise.catch(() => {});
  return resolvers;
}
