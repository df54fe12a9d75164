/** One MCP server that is kept running: started, watched, started again. */
import { Backoff, type BackoffOptions, delay } from "../async/backoff.ts";
import { type Logger, withFields } from "../log.ts";
import type { MCPServerConfig, ResolvedServerConfig } from "../protocol/config.ts";
import { describeError } from "../protocol/errors.ts";
import { McpConnection, type NotificationListener } from "./connection.ts";
import {
  ConfigurationError,
  ServerAnswerError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "./errors.ts";
import type { ProcessGuard } from "./guard.ts";
import { Heartbeat } from "./heartbeat.ts";
import { WarnOnce } from "./warn_once.ts";

/** Waits between two starts. */
const RESTART_BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 60_000 };
/** A server that ran so long starts anew with the first wait, in milliseconds. */
const STABLE_MS = 5 * 60_000;

/** Where a server is in its life. In `failed` only a change of its configuration can help. */
export type ServerStatus = "starting" | "running" | "retrying" | "failed" | "stopped";

/** Where a server is, and why. */
export interface ServerState {
  /** Where it is. */
  readonly status: ServerStatus;
  /** What ended or prevented the last session. */
  readonly lastError?: string;
  /** The end of what the last child process wrote to stderr. */
  readonly stderrTail?: string;
}

/** Deadlines and limits of MCP servers; each has a default. */
export interface ServerLimits {
  /** From the start to the end of the initialisation, in milliseconds; 60,000 by default. */
  readonly startTimeoutMs: number;
  /** The longest message of a stdio server, in bytes; 64 MiB by default. */
  readonly maxMessageBytes: number;
  /** How often an idle server is pinged, in milliseconds; 30,000 by default. */
  readonly pingIntervalMs: number;
  /** How long a ping may take, in milliseconds; 10,000 by default. */
  readonly pingTimeoutMs: number;
}

/** The defaults of {@linkcode ServerLimits}. */
export const DEFAULT_SERVER_LIMITS: ServerLimits = {
  startTimeoutMs: 60_000,
  maxMessageBytes: 64 * 1024 * 1024,
  pingIntervalMs: 30_000,
  pingTimeoutMs: 10_000,
};

/** Who hears of a server's life. */
export interface ServerListener extends NotificationListener {
  /** A new session is there; whatever was listed in an earlier one must be listed again. */
  onRunning(connection: McpConnection): void;
  onStateChange(state: ServerState): void;
}

/** What a supervised server needs beyond its configuration. */
export interface ServerContext {
  readonly guard: ProcessGuard;
  readonly limits: ServerLimits;
  /** Gives the listener of a new server. */
  readonly listen: (server: SupervisedServer) => ServerListener;
  readonly log: Logger;
  /** Fills in the inputs, at each start; what it throws is a configuration error. */
  readonly resolve: (config: MCPServerConfig, signal: AbortSignal) => Promise<ResolvedServerConfig>;
}

/** A server under supervision. It never throws for the server's faults: its state says what is wrong. */
export class SupervisedServer {
  readonly config: MCPServerConfig;
  readonly #context: ServerContext;
  readonly #listener: ServerListener;
  readonly #stopping = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  readonly #warnOnce: WarnOnce;
  #connection: McpConnection | undefined;
  #heartbeat: Heartbeat | undefined;
  #state: ServerState = { status: "stopped" };
  #run: Promise<void> | undefined;
  #callsInFlight = 0;

  constructor(config: MCPServerConfig, context: ServerContext) {
    this.config = config;
    this.#context = { ...context, log: withFields(context.log, { server: config.name }) };
    this.#warnOnce = new WarnOnce(this.#context.log);
    this.#listener = context.listen(this);
  }

  get name(): string {
    return this.config.name;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The running session, if there is one. */
  get connection(): McpConnection | undefined {
    return this.#connection;
  }

  /** Resolves when the first start has succeeded or failed. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Starts supervision; returns at once. */
  start(): void {
    this.#run ??= this.#supervise(this.#stopping.signal);
  }

  /** Ends the session and supervision. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort(new ServerNotRunningError({ reason: "stopped", server: this.name }));
    await this.#run;
    this.#setState({ status: "stopped" });
    this.#settled.resolve();
  }

  /**
   * Uses the running session.
   *
   * @throws {ServerNotRunningError} at once, naming the server and its state, when there is none or it ends meanwhile.
   */
  async use<T>(request: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) throw this.#notRunning(this.#statusAfter(connection));
    this.#callsInFlight++;
    try {
      return await request(connection);
    } catch (error) {
      if (error instanceof ServerTimeoutError) void this.#heartbeat?.check();
      if (!(error instanceof ServerNotRunningError)) throw error;
      throw this.#notRunning(this.#statusAfter(connection), error);
    } finally {
      this.#callsInFlight--;
    }
  }

  /** A session that has just ended is not seen in the state yet. */
  #statusAfter(connection: McpConnection | undefined): ServerStatus {
    if (this.#stopping.signal.aborted) return "stopped";
    const { status } = this.#state;
    return status === "running" && connection?.isClosed !== false ? "retrying" : status;
  }

  #notRunning(status: ServerStatus, cause?: ServerNotRunningError): ServerNotRunningError {
    const why = cause === undefined || cause.reason === status ? undefined : cause.reason;
    const reason = why === undefined ? status : status === "running" ? why : `${status} (${why})`;
    return new ServerNotRunningError({ reason, server: this.name, cause });
  }

  async #supervise(signal: AbortSignal): Promise<void> {
    const backoff = new Backoff(RESTART_BACKOFF);
    while (!signal.aborted) {
      this.#setState({ ...this.#state, status: "starting" });
      const startMs = performance.now();
      const failure = await this.#runOnce(signal);
      this.#settled.resolve();
      if (signal.aborted) return;
      if (performance.now() - startMs > STABLE_MS) backoff.reset();
      if (failure.isFinal) return this.#setState({ ...failure.state, status: "failed" });
      this.#setState({ ...failure.state, status: "retrying" });
      await delay(backoff.next(), signal).catch(() => {});
    }
  }

  /** One session from start to end; tells why it ended. */
  async #runOnce(signal: AbortSignal): Promise<{ isFinal: boolean; state: Omit<ServerState, "status"> }> {
    let connection: McpConnection | undefined;
    let reason: string | undefined;
    try {
      connection = await this.#open(signal);
      this.#connection = connection;
      this.#setState({ status: "running" });
      this.#settled.resolve();
      this.#listener.onRunning(connection);
      reason = await this.#watch(connection, signal);
      return { isFinal: false, state: { lastError: reason, stderrTail: connection.stderrTail } };
    } catch (error) {
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
    const { resolve, guard, log, limits } = this.#context;
    const config = await resolve(this.config, signal);
    const { maxMessageBytes } = limits;
    return await McpConnection.open(
      config,
      { listener: this.#listener, guard, log, warnOnce: this.#warnOnce, maxMessageBytes },
      { timeoutMs: limits.startTimeoutMs, signal },
    );
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
      return await Promise.race([connection.closed, heartbeat.hung, untilAborted(stop)]);
    } finally {
      this.#heartbeat = undefined;
      over.abort();
      await beating;
    }
  }

  #setState(state: ServerState): void {
    const { status, lastError, stderrTail } = state;
    if (status === this.#state.status && lastError === this.#state.lastError) return;
    this.#state = state;
    if (status === "failed" || status === "retrying") {
      this.#context.log.warn(`MCP server ${status}`, { error: lastError, stderr: stderrTail || undefined });
    } else this.#context.log.info(`MCP server ${status}`);
    this.#listener.onStateChange(state);
  }
}

/** A server that refuses a ping with an error is alive. */
function isAnswer(error: unknown): boolean {
  return error instanceof ServerAnswerError;
}

function untilAborted(signal: AbortSignal): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (signal.aborted) resolve("stopped");
  else signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  return promise;
}
