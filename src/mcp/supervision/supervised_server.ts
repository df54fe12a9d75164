/** Keeps one MCP server running: starts, watches and restarts it. */
import { untilAborted } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import type { Limiter } from "../../async/limiter.ts";
import { type Logger, withFields } from "../../log.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../../protocol/config.ts";
import { describeError, shorten } from "../../text/text.ts";
import type { ServerAuthorization } from "../auth/server_authorization.ts";
import type { McpConnection } from "../connection.ts";
import type { Era } from "../handshake.ts";
import {
  ConfigurationError,
  isAnswer,
  reasonOf,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../errors.ts";
import type { ProcessGuard } from "../stdio/guard.ts";
import { CredentialCheck, Heartbeat, RestartPace } from "./health.ts";
import { Journal } from "../journal.ts";
import type { ServerLimits } from "../limits.ts";
import {
  type ServerListener,
  type ServerState,
  type ServerStatus,
  StateChanges,
  StateLog,
} from "./server_state.ts";
import { WarnOnce } from "../warn_once.ts";

const MAX_PROBLEM_LENGTH = 1_000;

/** The members that change with the status. */
type StateChange = Omit<ServerState, "since" | "restarts" | "problem">;

export interface ServerContext {
  readonly guard: () => Promise<ProcessGuard>;
  /** Limits the servers that start at the same time. */
  readonly starts: Limiter;
  readonly limits: ServerLimits;
  /** Creates the listener of a new server. */
  readonly listen: (server: SupervisedServer) => ServerListener;
  readonly log: Logger;
  /** Removes known secrets from the output of the server; nothing by default. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Resolves the inputs at each start. A {@linkcode ConfigurationError} is final. */
  readonly resolve: (config: MCPServerConfig, signal: AbortSignal) => Promise<ResolvedServerConfig>;
  /** Returns what a server on the network is signed in with, until the signal ends its use; nothing by default. */
  readonly authorize?:
    | ((config: ResolvedServerConfig, signal: AbortSignal) => Promise<ServerAuthorization | undefined>)
    | undefined;
}

/** The time from `start()` to `stop()`, `restart()` or a final failure, with all retries. */
interface Run {
  readonly stopping: AbortController;
  readonly settled: PromiseWithResolvers<void>;
}

/** A server under supervision. Its failures are not thrown: they are part of its state. */
export class SupervisedServer {
  readonly name: string;
  readonly #context: ServerContext;
  readonly #listener: ServerListener;
  readonly #warnOnce: WarnOnce;
  readonly #journal: Journal;
  readonly #stateLog: StateLog;
  #config: MCPServerConfig;
  #connection: McpConnection | undefined;
  #heartbeat: Heartbeat | undefined;
  #credentials: CredentialCheck | undefined;
  #authorization: ServerAuthorization | undefined;
  /** Aborted at the end of the use of `#authorization`. */
  #authorizing = new AbortController();
  #state: ServerState = { status: "stopped", since: new Date(), restarts: 0 };
  #starts = 0;
  #run: Run | undefined;
  /** Like `lastError`, but set as soon as the session ends, and cleared at once by `stop()` and `restart()`. */
  #failure: unknown;
  /** Settled when no run is active. */
  #ended: Promise<void> = Promise.resolve();
  #callsInFlight = 0;
  #knownEra: Era | undefined;
  /** Whether another session is opened in place of one that the server has lost. */
  #isRenewing = false;
  readonly #changes = new StateChanges();

  constructor(config: MCPServerConfig, context: ServerContext) {
    this.name = config.name;
    this.#config = config;
    this.#context = { ...context, log: withFields(context.log, { server: config.name }) };
    this.#warnOnce = new WarnOnce(this.#context.log);
    this.#journal = new Journal({
      log: this.#context.log,
      now: () => new Date(),
      redact: context.redact,
      onLine: () => this.#listener.onLog?.(),
    });
    this.#stateLog = new StateLog(this.#context.log, this.#journal);
    this.#listener = context.listen(this);
  }

  get config(): MCPServerConfig {
    return this.#config;
  }

  /** The last state that listeners were told of; it lags until a lost process has ended. `status` is the one to show. */
  get state(): ServerState {
    return this.#state;
  }

  get connection(): McpConnection | undefined {
    return this.#connection;
  }

  /** The last 200 lines of its journal. They may hold secrets, so they stay on this machine. */
  get journalLines(): readonly string[] {
    return this.#journal.lines;
  }

  /** The status to show. It changes at once when a session is lost or stopped; `state` follows when the process ended. */
  get status(): ServerStatus {
    return this.#statusAfter(this.#connection);
  }

  /** The status and its reason, in a few words without addresses and secrets. */
  get statusText(): string {
    const { status } = this;
    return this.#failure === undefined ? status : `${status}: ${reasonOf(this.#failure)}`;
  }

  /** Resolves when the first attempt to start has succeeded or failed, or when the server was stopped. */
  async settled(): Promise<void> {
    let run: Run | undefined;
    do {
      run = this.#run;
      await run?.settled.promise;
    } while (run !== this.#run);
  }

  /** Whether it is neither supervised nor failed; its process may still be ending. */
  get isStopped(): boolean {
    return this.#run === undefined && this.#state.status !== "failed";
  }

  /** Takes a configuration that differs only in settings which need no restart. */
  adopt(config: MCPServerConfig): void {
    this.#config = config;
  }

  /** Starts supervision when `others` has resolved and the previous process has ended. Returns at once. Idempotent. */
  start(others: Promise<void> = Promise.resolve()): void {
    if (this.#run !== undefined) return;
    const run = { stopping: new AbortController(), settled: Promise.withResolvers<void>() };
    this.#run = run;
    this.#setState({ ...this.#state, status: "starting" });
    this.#ended = Promise.all([this.#ended, others]).then(() => this.#supervise(run));
  }

  /** Ends the session and the supervision; resolves when the process is gone. Idempotent. */
  async stop(): Promise<void> {
    this.#abandon("stopped");
    await this.#ended;
    if (this.#run === undefined) this.#setState({ status: "stopped" });
  }

  /** Ends the session and begins another one. Returns at once. What the server listed stays in use meanwhile. */
  restart(): void {
    this.#abandon("restarted");
    this.start();
  }

  #abandon(reason: string): void {
    const run = this.#run;
    this.#run = undefined;
    this.#connection = undefined;
    this.#failure = undefined;
    run?.stopping.abort(new ServerNotRunningError({ reason, server: this.name }));
    run?.settled.resolve();
  }

  /**
   * Sends a request in the running session, and once more in the next one when the server has lost the session before it
   * began the request.
   *
   * @param options The signal ends the wait for that session.
   * @throws {ServerNotRunningError} when it has no session, or loses it; the message names the server and its status.
   * @throws {ServerAuthorizationError} at once, when it has no session because it refused the credentials.
   */
  async use<T>(
    request: (connection: McpConnection) => Promise<T>,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<T> {
    const before = this.#connection;
    if (before?.session.isLost || this.#isRenewing) await this.#renewed(before, signal);
    try {
      return await this.#useNow(request);
    } catch (error) {
      const { cause } = error instanceof ServerNotRunningError ? error : {};
      if (!(cause instanceof ServerNotRunningError && cause.isRepeatable)) throw error;
      await this.#renewed(before, signal);
      signal?.throwIfAborted();
      return await this.#useNow(request);
    }
  }

  /** Resolves when another session than this one runs or could not be opened, or after a while. */
  async #renewed(lost: McpConnection | undefined, signal: AbortSignal | undefined): Promise<void> {
    const isOver = () => !this.#isRenewing && (this.#connection === undefined || this.#connection !== lost);
    await this.#changes.until(isOver, { signal });
  }

  async #useNow<T>(request: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) {
      if (this.#failure instanceof ServerAuthorizationError) throw this.#failure;
      throw this.#notRunning(this.#statusAfter(connection), this.#failure);
    }
    this.#callsInFlight++;
    try {
      return await request(connection);
    } catch (error) {
      if (error instanceof ServerTimeoutError) void this.#heartbeat?.check();
      if (error instanceof ServerAuthorizationError && error.status === 401) void this.#credentials?.check();
      if (!(error instanceof ServerNotRunningError)) throw error;
      throw this.#notRunning(this.#statusAfter(connection), error);
    } finally {
      this.#callsInFlight--;
    }
  }

  /** Sets the problem of a running server; `undefined` clears it. */
  report(problem: string | undefined): void {
    if (this.#state.status !== "running" || this.#state.problem === problem) return;
    const { problem: _before, ...state } = this.#state;
    this.#state = problem === undefined ? state : { ...state, problem: shorten(problem, MAX_PROBLEM_LENGTH) };
  }

  /** The status; `retrying` when the session has ended but `state` still says `running`. */
  #statusAfter(connection: McpConnection | undefined): ServerStatus {
    if (this.isStopped) return "stopped";
    const { status } = this.#state;
    return status === "running" && connection?.session.isClosed !== false ? "retrying" : status;
  }

  #notRunning(status: ServerStatus, cause: unknown): ServerNotRunningError {
    const why = cause === undefined || reasonOf(cause) === status ? undefined : reasonOf(cause);
    const reason = why === undefined ? status : status === "running" ? why : `${status} (${why})`;
    return new ServerNotRunningError({ reason, server: this.name, cause });
  }

  async #supervise(run: Run): Promise<void> {
    const { signal } = run.stopping;
    const pace = new RestartPace(this.#context.limits);
    while (!signal.aborted) {
      this.#setState({ ...this.#state, status: "starting" });
      const failure = await this.#runOnce(run);
      run.settled.resolve();
      if (signal.aborted) return;
      const waitMs = pace.waitAfter(failure);
      if (failure.isLost && waitMs === 0) {
        this.#context.log.info("MCP server has lost the session: opening another one", failure.state);
        continue;
      }
      if (failure.isFinal) {
        this.#run = undefined;
        return this.#setState({ ...failure.state, status: "failed" });
      }
      if (this.#authorization?.required !== undefined) {
        await this.#waitForSignIn(this.#authorization, { state: failure.state, signal });
        pace.reset();
        continue;
      }
      this.#setState({ ...failure.state, status: "retrying" });
      await delay(waitMs, signal).catch(() => {});
    }
  }

  /** Tries nothing until somebody has signed in: every attempt would be refused. */
  async #waitForSignIn(
    authorization: ServerAuthorization,
    { state, signal }: { readonly state: Omit<StateChange, "status">; readonly signal: AbortSignal },
  ): Promise<void> {
    const { required } = authorization;
    this.#failure = required;
    this.#setState({ ...state, lastError: describeError(required), status: "needs sign-in" });
    await authorization.untilSignedIn(signal).catch(() => {});
  }

  /** Runs one session from start to end; resolves to the reason of its end. */
  async #runOnce(
    run: Run,
  ): Promise<{ isFinal: boolean; isLost: boolean; ranMs: number; state: Omit<StateChange, "status"> }> {
    const { signal } = run.stopping;
    let connection: McpConnection | undefined, reason: string | undefined;
    try {
      connection = await this.#open(signal);
      signal.throwIfAborted();
      this.#connection = connection;
      this.#failure = undefined;
      const { session: { pid }, introduction: { version: mcpVersion } } = connection;
      const startMs = performance.now();
      this.#setState({ status: "running", mcpVersion, ...(pid === undefined ? {} : { pid }) });
      run.settled.resolve();
      this.#listener.onRunning(connection);
      const ended = await this.#watch(connection, signal);
      reason = ended.reason;
      if (!signal.aborted) {
        this.#failure = this.#authorization?.required ?? new ServerNotRunningError({ reason });
      }
      const state = { lastError: reason, stderrTail: connection.session.stderrTail };
      return {
        isFinal: false,
        isLost: connection.session.isLost,
        ranMs: ended.atMs - startMs,
        state,
      };
    } catch (error) {
      if (!signal.aborted) this.#failure = error;
      const stderrTail = error instanceof ServerNotRunningError ? error.stderrTail : "";
      return {
        isFinal: error instanceof ConfigurationError,
        isLost: false,
        ranMs: 0,
        state: { lastError: describeError(error), stderrTail },
      };
    } finally {
      this.#connection = undefined;
      this.#isRenewing = connection?.session.isLost === true;
      await connection?.session.close(reason, this.#authorization?.required);
    }
  }

  async #open(signal: AbortSignal): Promise<McpConnection> {
    const { resolve, log, limits, starts } = this.#context;
    const config = await resolve(this.config, signal);
    this.#credentials = new CredentialCheck(config, {
      resolve: () => resolve(this.config, signal),
      onRenewed: () => {
        if (signal.aborted) return;
        log.info("MCP server restarting: its credentials have changed");
        this.restart();
      },
      now: () => performance.now(),
      log,
    });
    // The sign-in of one session: a changed configuration may have another one.
    this.#authorizing.abort();
    this.#authorizing = new AbortController();
    const used = AbortSignal.any([signal, this.#authorizing.signal]);
    this.#authorization = await this.#context.authorize?.(config, used);
    const context = {
      ...this.#context,
      guard: await this.#context.guard(),
      authorization: this.#authorization,
      listener: this.#listener,
      journal: this.#journal,
      warnOnce: this.#warnOnce,
      knownEra: this.#knownEra,
    };
    // Loaded with the first connection: what only talks about servers starts faster without it.
    const { McpConnection } = await import("../connection.ts");
    const connection = await starts.run(
      () => McpConnection.open(config, context, { timeoutMs: limits.startTimeoutMs, signal }),
      signal,
    );
    const { era, isCertain } = connection.introduction;
    this.#knownEra = isCertain ? era : undefined;
    return connection;
  }

  /** Waits for the end of the session, and pings it while it is idle. One that hangs has ended with its last answer. */
  async #watch(
    connection: McpConnection,
    signal: AbortSignal,
  ): Promise<{ readonly reason: string; readonly atMs: number }> {
    const { pingIntervalMs, pingTimeoutMs: timeoutMs } = this.#context.limits;
    const over = new AbortController();
    const stop = AbortSignal.any([over.signal, signal]);
    const heartbeat = this.#heartbeat = new Heartbeat({
      ping: () => connection.session.ping({ timeoutMs, signal: stop }).then(() => true, isAnswer),
      isIdle: () => this.#callsInFlight === 0,
      intervalMs: pingIntervalMs,
    });
    const beating = heartbeat.run(stop);
    try {
      const stopped = untilAborted(stop).then(() => reasonOf(stop.reason));
      const signedOut = this.#authorization?.untilSignedOut(stop).then(() => "signed out", () => stopped);
      const ended = Promise.race([connection.session.closed, signedOut ?? stopped])
        .then((reason) => ({ reason, atMs: performance.now() }));
      const hung = heartbeat.hung.then((reason) => ({ reason, atMs: heartbeat.answeredAtMs }));
      return await Promise.race([ended, hung]);
    } finally {
      this.#heartbeat = undefined;
      over.abort();
      await beating;
    }
  }

  #setState(change: StateChange): void {
    const { status, lastError } = change;
    const before = this.#state;
    if (status === before.status && lastError === before.lastError) return;
    const since = status === before.status ? before.since : new Date();
    if (status === "starting" && before.status !== "starting") this.#starts++;
    const { problem: _before, ...rest }: Partial<ServerState> & StateChange = change;
    const state = this.#state = { ...rest, since, restarts: Math.max(0, this.#starts - 1) };
    if (status !== "starting") this.#isRenewing = false;
    this.#changes.tell();
    this.#stateLog.write(state);
    this.#listener.onStateChange(state);
  }
}
