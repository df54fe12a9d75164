/** One session with an MCP server, over any transport and in any version: its beginning, its signs of life, and its end. */
import { abortable, settledWithin } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { RpcError, RpcErrorCode } from "../protocol/mcp.ts";
import { describeError } from "../text/text.ts";
import type { ServerAuthorization } from "./auth/server_authorization.ts";
import type { RequestLimits } from "./call_options.ts";
import {
  isAnswer,
  isFailure,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  statusOf,
} from "./errors.ts";
import {
  capabilitiesOf,
  choiceOf,
  type Era,
  type Introduction,
  nextOpening,
  type Opening,
  shakeHands,
} from "./handshake.ts";
import type { HttpListener } from "./http/requests.ts";
import { Inflow, type RpcRequest, type Transport } from "./json_rpc.ts";
import type { Journal } from "./journal.ts";
import type { ServerLimits } from "./limits.ts";
import { listenedLists, Listening } from "./listening.ts";
import { BoundedNotifications, type NotificationListener, readNotification } from "./notifications.ts";
import { type PeerListener, RpcPeer } from "./rpc_peer.ts";
import { SessionCalls } from "./session_calls.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** How long a server may take to answer a ping after its event stream broke, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;
/** How long requests are waited for that a server may refuse because it has lost the session, in milliseconds. */
const REFUSALS_MS = 1_000;
/** The statuses of a server or proxy that is too busy, or too slow. */
const BUSY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** How long the start of a session waits for the stream of changes, in milliseconds. */
const LISTEN_TIMEOUT_MS = 2_000;

export interface SessionContext {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  readonly journal: Journal;
  /** Logs each malformed entry of a list once, however often the list is read. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
  /** What the server said in its last session that it speaks. */
  readonly knownEra?: Era | undefined;
  readonly authorization?: ServerAuthorization | undefined;
}

interface TransportContext extends Omit<SessionContext, "listener"> {
  readonly inflow: Inflow;
  /** Learns what an HTTP answer means for the session. */
  readonly listener: HttpListener;
}

/** A session: it opens, tells changes, is probed for signs of life, and ends. What is asked in it is in `connection.ts`. */
export class McpSession {
  /** Sends the requests of the session. */
  readonly peer: RpcPeer;
  /** The running calls, which questions of the server and reports of progress belong to. */
  readonly calls: SessionCalls;
  /** Aborted when the session ends, with the error for its requests. */
  readonly over: AbortSignal;
  /** What the server said about itself when the session began. */
  introduction: Introduction = { era: "2025", version: "", capabilities: {}, isCertain: false };
  /** Whether it ended because the server knows it no longer. */
  isLost = false;
  readonly #context: SessionContext;
  readonly #config: ResolvedServerConfig;
  readonly #notifications: BoundedNotifications;
  readonly #transport: Transport;
  readonly #closed = Promise.withResolvers<string>();
  readonly #over = new AbortController();
  #goneReason: string | undefined;
  /** The stream of changes, in a version without sessions. */
  #listening: Listening | undefined;
  #isOpen = false;
  #probing: Promise<void> | undefined;

  private constructor(
    config: ResolvedServerConfig,
    context: SessionContext,
    openTransport: (context: TransportContext) => Transport,
  ) {
    const { listener, log, limits } = context;
    this.#context = context;
    this.#config = config;
    this.calls = new SessionCalls(context.warnOnce);
    this.over = this.#over.signal;
    this.#notifications = new BoundedNotifications({
      listener,
      maxPerSecond: limits.maxNotificationsPerSecond,
      log,
    });
    const inflow = new Inflow();
    this.#transport = openTransport({ ...context, inflow, listener: this.#httpListener() });
    this.peer = new RpcPeer(this.#transport, { inflow, listener: this.#peerListener() });
  }

  /**
   * Starts the server, or connects to it, and opens a session. A server that is to be asked for its versions, and that
   * said last that it has sessions, is not asked again; if that has changed, it is.
   *
   * @throws {ConfigurationError} when the configuration can never work.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when another attempt may succeed.
   */
  static async open(
    config: ResolvedServerConfig,
    context: SessionContext,
    limits: RequestLimits,
  ): Promise<McpSession> {
    const choice = choiceOf(config);
    const isKnown = choice === "auto" && context.knownEra === "2025";
    for (let opening: Opening = { choice: isKnown ? "2025" : choice };;) {
      try {
        return await McpSession.#openAs(opening, { config, context, limits });
      } catch (error) {
        const next = nextOpening(opening, { choice, error, config });
        if (next === undefined) throw error;
        opening = next;
      }
    }
  }

  static async #openAs(
    opening: Opening,
    { config, context, limits }: {
      readonly config: ResolvedServerConfig;
      readonly context: SessionContext;
      readonly limits: RequestLimits;
    },
  ): Promise<McpSession> {
    limits.signal?.throwIfAborted();
    const session = new McpSession(config, context, await prepareTransport(config, context));
    try {
      await session.#open(opening, limits);
      return session;
    } catch (error) {
      await session.#transport.close({ isGone: session.isClosed });
      session.#end("closed");
      throw session.#startFailure(error);
    }
  }

  #peerListener(): PeerListener {
    const { log, journal } = this.#context;
    return {
      onNotification: (notification) => {
        if (this.#listening?.hear(notification)) return;
        readNotification(notification, { listener: this.#notifications, journal, calls: this.calls });
      },
      onRequest: async ({ id, method, params }: RpcRequest, { signal }) => {
        if (method === "ping") return {};
        if (method === "elicitation/create") return await this.calls.answer(params, { id, signal });
        throw new RpcError(RpcErrorCode.METHOD_NOT_FOUND, "Method not found");
      },
      onClose: () => this.#end("closed"),
      onError: (error) => log.debug("MCP transport error", { error: error.message }),
    };
  }

  #httpListener(): HttpListener {
    return {
      onForgotten: (reason) => void this.#lose(reason),
      onGone: (reason, error) => this.#end(reason, error),
      onStreamBroken: () => void this.#probe("event stream lost"),
      onStreamOpened: () => this.#notifications.onNotificationsLost(),
      onFailed: (id, error) => this.peer.fail(id, error),
      onQuestion: (questionId, requestId) => this.calls.relate(questionId, requestId),
      isAsked: () => this.calls.hasOpenQuestions,
    };
  }

  /** Resolves to the reason when the session ends. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#goneReason !== undefined;
  }

  /** The process of a server over stdio. */
  get pid(): number | undefined {
    return this.#transport.pid;
  }

  /** The last 8,192 characters that a child process wrote to stderr; empty over HTTP. */
  get stderrTail(): string {
    return this.#transport.stderrTail ?? "";
  }

  /**
   * Asks after a refusal by HTTP whether the server still has the session: whatever its status and its words, they may be
   * about the request alone. One that has lost it has not begun the request.
   *
   * @returns The error that the request rejects with.
   */
  async judge(error: unknown, method: string): Promise<unknown> {
    const httpStatus = statusOf(error);
    const isStateless = this.introduction.era === "2026";
    const mayBeLost = this.#isOpen && !(isStateless && error instanceof ServerAnswerError);
    if (httpStatus === undefined || !mayBeLost || BUSY.has(httpStatus)) return error;
    const reason = `session lost: HTTP ${httpStatus}`;
    await this.#probe(reason);
    const isRepeatable = httpStatus < 500 && !method.startsWith("tasks/");
    return this.isLost
      ? new ServerNotRunningError({ reason, httpStatus, cause: error, isRepeatable })
      : error;
  }

  /** Asks the server for a sign of life. Its refusal by HTTP means that it has lost the session. */
  async ping(limits: RequestLimits): Promise<void> {
    this.over.throwIfAborted();
    const method = this.introduction.era === "2025" ? "ping" : "server/discover";
    try {
      await this.peer.request({ method, params: {} }, limits);
    } catch (error) {
      const status = statusOf(error) ?? 500;
      if (!isAnswer(error) && status < 500 && !BUSY.has(status)) {
        await this.#lose(`session lost: HTTP ${status}`);
      }
      throw error;
    }
  }

  /** The stream of changes of a version without sessions, in which resources are subscribed; `undefined` in the others. */
  get listening(): Listening | undefined {
    return this.#listening;
  }

  /** Ends the session and its child process; requests in flight fail with the reason. Idempotent. */
  async close(reason = "closed", error?: ServerAuthorizationError): Promise<void> {
    const closing = this.#transport.close({ isGone: this.isClosed });
    this.#end(reason, error);
    await closing;
  }

  #end(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void {
    if (this.#goneReason !== undefined) return;
    this.#goneReason = this.#transport.exit ?? reason;
    this.#notifications[Symbol.dispose]();
    this.#listening?.close();
    const failure = error ?? new ServerNotRunningError({ reason: this.#goneReason });
    this.#over.abort(failure);
    this.peer.failAll(failure);
    this.#closed.resolve(this.#goneReason);
  }

  /** Pings the server, which may be gone, or may have lost the session. Never rejects. */
  #probe(reason: string): Promise<void> {
    if (this.#goneReason !== undefined) return Promise.resolve();
    return this.#probing ??= this.ping({ timeoutMs: PROBE_TIMEOUT_MS })
      .catch((error) => isAnswer(error) ? undefined : this.#lose(reason))
      .finally(() => this.#probing = undefined);
  }

  /** Ends a session that the server has lost. Requests that are under way learn first whether it has begun them. */
  async #lose(reason: string): Promise<void> {
    await settledWithin(this.peer.quiet(), REFUSALS_MS);
    if (this.#goneReason === undefined) this.isLost = true;
    this.#end(reason);
  }

  async #open(opening: Opening, { timeoutMs, signal: caller }: RequestLimits): Promise<void> {
    // An SSE stream may open and never name its endpoint, so the time begins before the first request.
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete "initialize": no answer in ${timeoutMs} ms`),
      signal: caller,
    });
    const signal = AbortSignal.any([deadline.signal, this.over]);
    await abortable(this.peer.start(), signal);
    const capabilities = capabilitiesOf(this.#config);
    const { pingTimeoutMs: askTimeoutMs } = this.#context.limits;
    this.introduction = await shakeHands(this.peer, {
      ...opening,
      capabilities,
      askTimeoutMs,
      timeoutMs,
      signal,
    });
    if (this.introduction.era === "2026") await this.#listen(signal);
    this.#isOpen = true;
  }

  /** Opens the stream of changes before anything is read, so that no change is missed. A slow one is not waited for. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { log } = this.#context;
    const onReopened = () => this.#notifications.onNotificationsLost();
    const lists = listenedLists(this.introduction.capabilities);
    const listening = this.#listening = new Listening({ peer: this.peer, lists, log, onReopened });
    const isInTime = await abortable(
      settledWithin(listening.begun.then(() => true), LISTEN_TIMEOUT_MS),
      signal,
    );
    if (isInTime !== true) void listening.begun.then(onReopened);
  }

  /** Adds what a child wrote to stderr. */
  #startFailure(error: unknown): unknown {
    const { stderrTail } = this;
    if (error instanceof ServerNotRunningError) {
      return new ServerNotRunningError({ ...error, cause: error, stderrTail });
    }
    if (isFailure(error) || error instanceof ServerAnswerError) return error;
    return new ServerNotRunningError({ reason: describeError(error), cause: error, stderrTail });
  }
}

/** Loads what the transport of a configuration needs, and returns a function that opens it. */
async function prepareTransport(
  config: ResolvedServerConfig,
  { guard }: SessionContext,
): Promise<(context: TransportContext) => Transport> {
  if (config.type === "stdio") {
    await guard.ready();
    const { server_parameters, sandbox } = config;
    return (context) => new StdioTransport(server_parameters, { ...context, sandbox });
  }
  if (config.type === "sse") {
    const { SseTransport } = await import("./http/sse.ts");
    return (context) => new SseTransport(config, context);
  }
  const { StreamableTransport } = await import("./http/streamable.ts");
  return (context) => new StreamableTransport(config, context);
}
