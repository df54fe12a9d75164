/** One MCP server that is kept running: started, watched, started again. */
import { untilAborted } from "../../async/abortable.ts";
import { Backoff, delay } from "../../async/backoff.ts";
import type { Limiter } from "../../async/limiter.ts";
import { type Logger, withFields } from "../../log.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../../protocol/config.ts";
import { describeError, shorten } from "../../text.ts";
import type { McpConnection } from "../connection.ts";
import {
  ConfigurationError,
  reasonOf,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../errors.ts";
import type { ProcessGuard } from "../stdio/guard.ts";
import { Heartbeat, Renewal } from "./health.ts";
import { Journal } from "../journal.ts";
import type { ServerLimits } from "../limits.ts";
import type { NotificationListener } from "../notifications.ts";
import { WarnOnce } from "../warn_once.ts";

/** The longest wait between two starts, in milliseconds. */
const MAX_RESTART_DELAY_MS = 60_000;
/** A server that ran so long starts anew with the first wait, in milliseconds. */
const STABLE_MS = 5 * 60_000;

/** How many of the last lines of its stderr are logged with a failure; its log has more. */
const LOGGED_STDERR_LINES = 3;
/** The longest problem that is remembered, in characters. */
const MAX_PROBLEM_LENGTH = 1_000;

/** Where a server is in its life. In `failed` only a change of its configuration can help. */
export type ServerStatus = "starting" | "running" | "retrying" | "failed" | "stopped";

/** Where a server is, and why. */
export interface ServerState {
  /** Where it is. */
  readonly status: ServerStatus;
  /** Since when. */
  readonly since: Date;
  /** How often it was started again since it was configured, whatever came of it. */
  readonly restarts: number;
  /** What ended or prevented the last session. */
  readonly lastError?: string;
  /** What does not work although it is running: its tools cannot be listed. */
  readonly problem?: string;
  /** The end of what the last child process wrote to stderr. */
  readonly stderrTail?: string;
}

/** What a change of state says anew. */
type StateChange = Omit<ServerState, "since" | "restarts" | "problem">;

/** Who hears of a server's life. */
export interface ServerListener extends NotificationListener {
  /** A new session is there; whatever was listed in an earlier one must be listed again. */
  onRunning(connection: McpConnection): void;
  onStateChange(state: ServerState): void;
}

/** What a supervised server needs beyond its configuration. */
export interface ServerContext {
  readonly guard: ProcessGuard;
  /** Bounds how many servers are being started at a time. */
  readonly starts: Limiter;
  readonly limits: ServerLimits;
  /** Gives the listener of a new server. */
  readonly listen: (server: SupervisedServer) => ServerListener;
  readonly log: Logger;
  /** Masks what is known to be secret in what the server says; nothing by default. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Fills in the inputs, at each start; what it throws is a configuration error. */
  readonly resolve: (config: MCPServerConfig, signal: AbortSignal) => Promise<ResolvedServerConfig>;
}

/** From a start to the stop that ends it, however often the server dies in between. */
interface Run {
  readonly stopping: AbortController;
  readonly settled: PromiseWithResolvers<void>;
}

/** A server under supervision. It never throws for the server's faults: its state says what is wrong. */
export class SupervisedServer {
  readonly name: string;
  readonly #context: ServerContext;
  readonly #listener: ServerListener;
  readonly #warnOnce: WarnOnce;
  readonly #journal: Journal;
  #config: MCPServerConfig;
  #connection: McpConnection | undefined;
  #heartbeat: Heartbeat | undefined;
  #renewal: Renewal | undefined;
  #state: ServerState = { status: "stopped", since: new Date(), restarts: 0 };
  #starts = 0;
  /** The failure that was warned of last, unless it is over. */
  #warnedOf: string | undefined;
  #run: Run | undefined;
  /** What ended or prevented the last session; `undefined` while there is one, and after a stop. */
  #failure: unknown;
  /** Settled when no run is under way: the next one begins with the end of the last one. */
  #ended: Promise<void> = Promise.resolve();
  #callsInFlight = 0;

  constructor(config: MCPServerConfig, context: ServerContext) {
    this.name = config.name;
    this.#config = config;
    this.#context = { ...context, log: withFields(context.log, { server: config.name }) };
    this.#warnOnce = new WarnOnce(this.#context.log);
    this.#journal = new Journal({
      log: this.#context.log,
      now: () => new Date(),
      redact: context.redact,
    });
    this.#listener = context.listen(this);
  }

  get config(): MCPServerConfig {
    return this.#config;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The running session, if there is one. */
  get connection(): McpConnection | undefined {
    return this.#connection;
  }

  /** The last 200 lines of its stderr, its log messages and its changes of state, with their times: for local eyes only. */
  get log(): readonly string[] {
    return this.#journal.lines;
  }

  /** Where it is for whoever wants to use it; what is on its way out shows in the state only when it is gone. */
  get status(): ServerStatus {
    return this.#statusAfter(this.#connection);
  }

  /** Where it is and why, in a few words that hold no address and no secret. */
  get standing(): string {
    const { status } = this;
    return this.#failure === undefined ? status : `${status}: ${reasonOf(this.#failure)}`;
  }

  /** Resolves when the start has succeeded or failed for the first time, or was given up for no other one. */
  async settled(): Promise<void> {
    let run: Run | undefined;
    do {
      run = this.#run;
      await run?.settled.promise;
    } while (run !== this.#run);
  }

  /** Whether it was stopped and not started again, although its process may still be on its way out. */
  get isStopped(): boolean {
    return this.#run === undefined && this.#state.status !== "failed";
  }

  /** Takes a configuration that says the same of the process: its session goes on. */
  adopt(config: MCPServerConfig): void {
    this.#config = config;
  }

  /** Starts supervision, after `others` and once its own last process is gone; returns at once. Idempotent. */
  start(others: Promise<void> = Promise.resolve()): void {
    if (this.#run !== undefined) return;
    const run = { stopping: new AbortController(), settled: Promise.withResolvers<void>() };
    this.#run = run;
    this.#setState({ ...this.#state, status: "starting" });
    this.#ended = Promise.all([this.#ended, others]).then(() => this.#supervise(run));
  }

  /** Ends the session and supervision; resolves when the process is gone. Idempotent. */
  async stop(): Promise<void> {
    this.#abandon("stopped");
    await this.#ended;
    if (this.#run === undefined) this.#setState({ status: "stopped" });
  }

  /** Ends the session and begins another one; returns at once. What was listed stays listed meanwhile. */
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
   * Uses the running session.
   *
   * @throws {ServerNotRunningError} at once, naming the server and its state, when there is none or it ends meanwhile.
   * @throws {ServerAuthorizationError} at once, when there is none since the server refused us at its last start.
   */
  async use<T>(request: (connection: McpConnection) => Promise<T>): Promise<T> {
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
      if (error instanceof ServerAuthorizationError && error.status === 401) void this.#renewal?.check();
      if (!(error instanceof ServerNotRunningError)) throw error;
      throw this.#notRunning(this.#statusAfter(connection), error);
    } finally {
      this.#callsInFlight--;
    }
  }

  /** Something of a running server does not work; `undefined` once it does. */
  report(problem: string | undefined): void {
    if (this.#state.status !== "running" || this.#state.problem === problem) return;
    const { problem: _before, ...state } = this.#state;
    this.#state = problem === undefined ? state : { ...state, problem: shorten(problem, MAX_PROBLEM_LENGTH) };
  }

  /** A session that has just ended is not seen in the state yet. */
  #statusAfter(connection: McpConnection | undefined): ServerStatus {
    if (this.isStopped) return "stopped";
    const { status } = this.#state;
    return status === "running" && connection?.isClosed !== false ? "retrying" : status;
  }

  #notRunning(status: ServerStatus, cause: unknown): ServerNotRunningError {
    const why = cause === undefined || reasonOf(cause) === status ? undefined : reasonOf(cause);
    const reason = why === undefined ? status : status === "running" ? why : `${status} (${why})`;
    return new ServerNotRunningError({ reason, server: this.name, cause });
  }

  async #supervise(run: Run): Promise<void> {
    const { signal } = run.stopping;
    const { restartDelayMs } = this.#context.limits;
    const backoff = new Backoff({ firstMs: restartDelayMs, maxMs: MAX_RESTART_DELAY_MS });
    while (!signal.aborted) {
      this.#setState({ ...this.#state, status: "starting" });
      const startMs = performance.now();
      const failure = await this.#runOnce(run);
      run.settled.resolve();
      if (signal.aborted) return;
      if (performance.now() - startMs > STABLE_MS) backoff.reset();
      if (failure.isFinal) return this.#fail(failure.state);
      this.#setState({ ...failure.state, status: "retrying" });
      await delay(backoff.next(), signal).catch(() => {});
    }
  }

  /** Only a change can help. */
  #fail(state: Omit<StateChange, "status">): void {
    this.#run = undefined;
    this.#setState({ ...state, status: "failed" });
  }

  /** One session from start to end; tells why it ended. */
  async #runOnce(run: Run): Promise<{ isFinal: boolean; state: Omit<StateChange, "status"> }> {
    const { signal } = run.stopping;
    let connection: McpConnection | undefined;
    let reason: string | undefined;
    try {
      connection = await this.#open(signal);
      signal.throwIfAborted();
      this.#connection = connection;
      this.#failure = undefined;
      this.#setState({ status: "running" });
      run.settled.resolve();
      this.#listener.onRunning(connection);
      reason = await this.#watch(connection, signal);
      if (!signal.aborted) this.#failure = new ServerNotRunningError({ reason });
      return { isFinal: false, state: { lastError: reason, stderrTail: connection.stderrTail } };
    } catch (error) {
      if (!signal.aborted) this.#failure = error;
      const stderrTail = error instanceof ServerNotRunningError ? error.stderrTail : "";
      return {
        isFinal: error instanceof ConfigurationError,
        state: { lastError: describeError(error), stderrTail },
      };
    } finally {
      this.#connection = undefined;
      await connection?.close(reason);
    }
  }

  async #open(signal: AbortSignal): Promise<McpConnection> {
    const { resolve, guard, log, limits, starts } = this.#context;
    const config = await resolve(this.config, signal);
    this.#renewal = new Renewal(config, {
      resolve: () => resolve(this.config, signal),
      onRenewed: () => this.#renew(signal),
      now: () => performance.now(),
      log,
    });
    const { startTimeoutMs: timeoutMs } = limits;
    const context = {
      listener: this.#listener,
      journal: this.#journal,
      warnOnce: this.#warnOnce,
      guard,
      log,
      limits,
    };
    // The MCP SDK is loaded with the first connection: what only talks about servers starts faster without it.
    const { McpConnection } = await import("../connection.ts");
    return await starts.run(() => McpConnection.open(config, context, { timeoutMs, signal }), signal);
  }

  /** Tokens expire: a session that is refused begins anew with those of today. */
  #renew(signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#context.log.info("MCP server is restarted: its credentials have changed");
    this.restart();
  }

  /** Waits for the session's end, pinging while nothing else is asked. */
  async #watch(connection: McpConnection, signal: AbortSignal): Promise<string> {
    const { pingIntervalMs, pingTimeoutMs: timeoutMs } = this.#context.limits;
    const over = new AbortController();
    const stop = AbortSignal.any([over.signal, signal]);
    const heartbeat = new Heartbeat({
      ping: () => connection.ping({ timeoutMs, signal: stop }).then(() => true, isAnswer),
      isIdle: () => this.#callsInFlight === 0,
      intervalMs: pingIntervalMs,
    });
    this.#heartbeat = heartbeat;
    const beating = heartbeat.run(stop);
    try {
      const stopped = untilAborted(stop).then(() => endOf(stop));
      return await Promise.race([connection.closed, heartbeat.hung, stopped]);
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
    const state = { ...rest, since, restarts: Math.max(0, this.#starts - 1) };
    this.#state = state;
    this.#logState(state);
    this.#listener.onStateChange(state);
  }

  #logState({ status, lastError, stderrTail = "" }: ServerState): void {
    const { log } = this.#context;
    const warnedOf = this.#warnedOf;
    const isFailure = status === "failed" || status === "retrying";
    if (isFailure) this.#warnedOf = lastError;
    else if (status !== "starting") this.#warnedOf = undefined;
    this.#journal.state(status, isFailure ? lastError : undefined);
    if (isFailure) {
      const fields = { error: lastError, stderr: lastLines(stderrTail) || undefined };
      // The same failure at every attempt would bury everything else.
      if (lastError === warnedOf) log.info(`MCP server ${status}`, fields);
      else log.warn(`MCP server ${status}`, fields);
    } else if (status === "running" && warnedOf !== undefined) {
      // A reader of warnings alone saw the failure.
      log.warn("MCP server is running again");
    } else log.info(`MCP server ${status}`);
  }
}

/** A server that refuses a ping with an error is alive. */
function isAnswer(error: unknown): boolean {
  return error instanceof ServerAnswerError;
}

/** What a process wrote at last is most likely why it ended. */
function lastLines(text: string): string {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.slice(-LOGGED_STDERR_LINES).join(" | ");
}

function endOf({ reason }: AbortSignal): string {
  return reason instanceof ServerNotRunningError ? reason.reason : "over";
}
