/** One MCP server that is kept running: started, watched, started again. */
import { Backoff, type BackoffOptions, delay } from "../async/backoff.ts";
import { type Logger, withFields } from "../log.ts";
import type { MCPServerConfig } from "../protocol/config.ts";
import { describeError } from "../protocol/errors.ts";
import { McpConnection, type NotificationListener } from "./connection.ts";
import { ConfigurationError, ServerNotRunningError } from "./errors.ts";
import type { ProcessGuard } from "./guard.ts";

/** Waits between two starts. */
const RESTART_BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 60_000 };
/** A server that ran so long starts anew with the first wait, in milliseconds. */
const STABLE_MS = 5 * 60_000;
/** So many pings in a row without an answer, and the server counts as hung. */
const MAX_UNANSWERED_PINGS = 2;

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
  readonly resolve: (config: MCPServerConfig, signal: AbortSignal) => Promise<MCPServerConfig>;
}

/** A server under supervision. It never throws for the server's faults: its state says what is wrong. */
export class SupervisedServer {
  readonly config: MCPServerConfig;
  readonly #context: ServerContext;
  readonly #listener: ServerListener;
  readonly #stopping = new AbortController();
  readonly #settled = Promise.withResolvers<void>();
  #connection: McpConnection | undefined;
  #state: ServerState = { status: "stopped" };
  #run: Promise<void> | undefined;
  #callsInFlight = 0;

  constructor(config: MCPServerConfig, context: ServerContext) {
    this.config = config;
    this.#context = { ...context, log: withFields(context.log, { server: config.name }) };
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
    this.#stopping.abort(new ServerNotRunningError(`Cannot use MCP server "${this.name}": stopped`));
    await this.#run;
    this.#setState({ status: "stopped" });
    this.#settled.resolve();
  }

  /**
   * Uses the running session.
   *
   * @throws {ServerNotRunningError} at once, naming the server and its state, when there is none.
   */
  async use<T>(request: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = this.#connection;
    if (connection === undefined) throw this.#notRunning();
    this.#callsInFlight++;
    try {
      return await request(connection);
    } finally {
      this.#callsInFlight--;
    }
  }

  #notRunning(): ServerNotRunningError {
    const { status, lastError } = this.#state;
    const why = lastError === undefined ? "" : `, last error: ${lastError}`;
    return new ServerNotRunningError(`Cannot use MCP server "${this.name}": ${status}${why}`);
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
    try {
      connection = await this.#open(signal);
      this.#connection = connection;
      this.#setState({ status: "running" });
      this.#settled.resolve();
      this.#listener.onRunning(connection);
      const reason = await this.#watch(connection, signal);
      return { isFinal: false, state: { lastError: reason, stderrTail: connection.stderrTail } };
    } catch (error) {
      const stderrTail = error instanceof ServerNotRunningError ? error.stderrTail : "";
      return {
        isFinal: error instanceof ConfigurationError,
        state: { lastError: describeError(error), stderrTail },
      };
    } finally {
      this.#connection = undefined;
      await connection?.close();
    }
  }

  async #open(signal: AbortSignal): Promise<McpConnection> {
    const { resolve, guard, log, limits } = this.#context;
    const config = await resolve(this.config, signal);
    return await McpConnection.open(
      config,
      { listener: this.#listener, guard, log, maxMessageBytes: limits.maxMessageBytes },
      { timeoutMs: limits.startTimeoutMs, signal },
    );
  }

  /** Waits for the session's end, pinging while nothing else is asked. */
  async #watch(connection: McpConnection, signal: AbortSignal): Promise<string> {
    const over = new AbortController();
    const stop = AbortSignal.any([over.signal, signal]);
    const hung = this.#pingUntilHung(connection, stop);
    try {
      const stopped = untilAborted(stop);
      return await Promise.race([connection.closed, hung, stopped]);
    } finally {
      over.abort();
    }
  }

  async #pingUntilHung(connection: McpConnection, signal: AbortSignal): Promise<string> {
    const { pingIntervalMs, pingTimeoutMs } = this.#context.limits;
    let unanswered = 0;
    while (unanswered < MAX_UNANSWERED_PINGS) {
      if (!await delay(pingIntervalMs, signal).then(() => true, () => false)) return "stopped";
      if (this.#callsInFlight > 0) continue;
      const answered = await connection.ping({ timeoutMs: pingTimeoutMs, signal }).then(() => true, isAnswer);
      unanswered = answered ? 0 : unanswered + 1;
    }
    return `no answer to ${MAX_UNANSWERED_PINGS} pings`;
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
  return error instanceof Error && "code" in error && error.code === "SERVER_ANSWER";
}

function untilAborted(signal: AbortSignal): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  if (signal.aborted) resolve("stopped");
  else signal.addEventListener("abort", () => resolve("stopped"), { once: true });
  return promise;
}
