/** One session with an MCP server, over any transport and in any version: its beginning, its requests, and its end. */
import { abortable, settledWithin } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { RpcError, RpcErrorCode } from "../protocol/mcp.ts";
import { describeError } from "../text/text.ts";
import { makeMcpRequest } from "../tracing.ts";
import type { Ask, RequestLimits } from "./call_options.ts";
import type { EraMemory } from "./era_memory.ts";
import {
  isAnswer,
  isFailure,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  statusOf,
  toFailure,
} from "./errors.ts";
import {
  capabilitiesOf,
  choiceOf,
  type Introduction,
  nextOpening,
  type Opening,
  shakeHands,
} from "./handshake.ts";
import type { HttpListener } from "./http/requests.ts";
import { Inflow } from "./inflow.ts";
import { requestInRounds } from "./input_rounds.ts";
import type { Journal } from "./journal.ts";
import type { RpcRequest, Transport } from "./json_rpc.ts";
import type { ServerLimits } from "./limits.ts";
import { listenedLists, Listening } from "./listening.ts";
import { BoundedNotifications, type NotificationListener, readNotification } from "./notifications.ts";
import { type OpenTransport, prepareTransport, type TransportContext } from "./open_transport.ts";
import { ProgressReports } from "./progress.ts";
import { AskingCalls } from "./questions.ts";
import { type OutgoingOptions, type PeerListener, type Result, RpcPeer } from "./rpc_peer.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { TaskCalls } from "./tasks.ts";
import type { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** How long a server may take to answer a ping after its event stream broke, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;
/** How long requests are waited for that a server may refuse because it has lost the session, in milliseconds. */
const REFUSALS_MS = 1_000;
/** The statuses of a server or proxy that is too busy, or too slow. */
const BUSY: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** How long the start of a session waits for the stream of changes, in milliseconds. */
const LISTEN_TIMEOUT_MS = 2_000;

export interface SessionContext extends Pick<TransportContext, "authorization"> {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  readonly journal: Journal;
  /** Logs each malformed entry of a list once, however often the list is read. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
  /** Remembers which kind of versions a server speaks. */
  readonly eras?: EraMemory | undefined;
}

export interface SessionRequestOptions extends OutgoingOptions {
  /** Answers what the server asks; without it, questions are declined. */
  readonly ask?: Ask | undefined;
}

type SessionClass<Session> = new (...parts: ConstructorParameters<typeof McpSession>) => Session;

/** An open session. Its requests throw the errors of `errors.ts`, or the reason of the aborted signal. */
export class McpSession {
  readonly #context: SessionContext;
  readonly #config: ResolvedServerConfig;
  readonly #peer: RpcPeer;
  readonly #notifications: BoundedNotifications;
  /** The running calls, which questions of the server belong to. */
  readonly calls: AskingCalls = new AskingCalls();
  readonly progress: ProgressReports;
  /** The calls that run as tasks. */
  readonly tasks: TaskCalls;
  /** The transport of a child process; `undefined` over HTTP. */
  readonly #child: StdioTransport | undefined;
  readonly #transport: Transport;
  readonly #spanAttributes: Readonly<Record<string, string>>;
  readonly #closed = Promise.withResolvers<string>();
  /** Aborted when the session ends, with the error for its requests. */
  readonly #over = new AbortController();
  #goneReason: string | undefined;
  #introduction: Introduction = { era: "2025", version: "", capabilities: {}, isCertain: false };
  /** The stream of changes, in a version without sessions. */
  #listening: Listening | undefined;
  #isOpen = false;
  #isLost = false;
  #probing: Promise<void> | undefined;

  constructor(
    config: ResolvedServerConfig,
    context: SessionContext,
    openTransport: (context: TransportContext) => OpenTransport,
  ) {
    const { listener, log, limits } = context;
    this.#context = context;
    this.#config = config;
    this.#spanAttributes = { "a2c.mcp_server": config.name };
    this.progress = new ProgressReports(context.warnOnce);
    const over = this.#over.signal;
    this.tasks = new TaskCalls((method, params, limits) => this.request(method, params, limits), {
      log,
      over,
    });
    this.#notifications = new BoundedNotifications({
      listener,
      maxPerSecond: limits.maxNotificationsPerSecond,
      log,
    });
    const inflow = new Inflow();
    const { transport, child } = openTransport({ ...context, inflow, listener: this.#httpListener() });
    this.#child = child;
    this.#transport = transport;
    this.#peer = new RpcPeer(transport, { inflow, listener: this.#peerListener() });
  }

  /**
   * Starts the server, or connects to it, and opens a session. A server that is to be asked for its versions, and that
   * said once that it has sessions, is not asked again; if that has changed, it is.
   *
   * @throws {ConfigurationError} when the configuration can never work.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when another attempt may succeed.
   */
  static async open<Session extends McpSession>(
    this: SessionClass<Session>,
    config: ResolvedServerConfig,
    context: SessionContext,
    limits: RequestLimits,
  ): Promise<Session> {
    const choice = choiceOf(config);
    const { eras } = context;
    const known = choice === "auto" ? await eras?.recall(config) : undefined;
    for (let opening: Opening = { choice: known === "2025" ? known : choice };;) {
      try {
        return await McpSession.#openAs(opening, { kind: this, config, context, limits });
      } catch (error) {
        const next = nextOpening(opening, { choice, error, config });
        if (next === undefined) throw error;
        if (next.version === undefined) eras?.forget(config);
        opening = next;
      }
    }
  }

  static async #openAs<Session extends McpSession>(
    opening: Opening,
    { kind: Session, config, context, limits }: {
      readonly kind: SessionClass<Session>;
      readonly config: ResolvedServerConfig;
      readonly context: SessionContext;
      readonly limits: RequestLimits;
    },
  ): Promise<Session> {
    limits.signal?.throwIfAborted();
    const session = new Session(config, context, await prepareTransport(config));
    try {
      await session.#open(opening, limits);
      const { era, isCertain } = session.#introduction;
      if (opening.choice === "auto" && isCertain) context.eras?.remember(config, era);
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
        const { progress, tasks } = this;
        readNotification(notification, { listener: this.#notifications, journal, progress, tasks });
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
      onFailed: (id, error) => this.#peer.fail(id, error),
      onQuestion: (questionId, requestId) => this.calls.relate(questionId, requestId),
      isAsked: () => this.calls.hasOpenQuestions,
      onTooLarge: (id, reason) => {
        this.#context.log.warn("dropped a message of the MCP server", { error: reason });
        this.#peer.fail(id, new ServerAnswerError(RpcErrorCode.PARSE_ERROR, reason));
      },
    };
  }

  /** Resolves to the reason when the session ends. */
  get closed(): Promise<string> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#goneReason !== undefined;
  }

  /** Whether it ended because the server knows it no longer. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** What the server said about itself when the session began. */
  get introduction(): Introduction {
    return this.#introduction;
  }

  /** The last 8,192 characters that a child process wrote to stderr; empty over HTTP. */
  get stderrTail(): string {
    return this.#child?.stderrTail ?? "";
  }

  /**
   * Sends a request; what the server asks before it answers is answered by `ask`.
   *
   * @throws {ServerAnswerError} when the server answers with an error.
   * @throws {ServerTimeoutError} when it does not answer in time.
   * @throws {ServerNotRunningError} when the session has ended or ends.
   */
  async request(method: string, params: Result, options: SessionRequestOptions): Promise<Result> {
    const { ask, ...outgoing } = options;
    outgoing.signal?.throwIfAborted();
    this.#over.signal.throwIfAborted();
    const { timeoutMs } = outgoing;
    const send = (params: Result, timeoutMs: number) =>
      makeMcpRequest(
        method,
        this.#spanAttributes,
        (meta) => this.#peer.request({ method, params: withMeta(params, meta) }, { ...outgoing, timeoutMs }),
      );
    try {
      if (this.#introduction.era === "2025") return await send(params, timeoutMs);
      const signals = [this.#over.signal, ...outgoing.signal === undefined ? [] : [outgoing.signal]];
      return await requestInRounds({ method, params, send, timeoutMs, calls: this.calls, ask, signals });
    } catch (error) {
      throw outgoing.signal?.aborted ? outgoing.signal.reason : await this.#judge(toFailure(error), method);
    }
  }

  /**
   * Asks after a refusal by HTTP whether the server still has the session: whatever its status and its words, they may be
   * about the request alone. One that has lost it has not begun the request.
   */
  async #judge(error: unknown, method: string): Promise<unknown> {
    const httpStatus = statusOf(error);
    const isStateless = this.#introduction.era === "2026";
    const mayBeLost = this.#isOpen && method !== this.#pingMethod &&
      !(isStateless && error instanceof ServerAnswerError);
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
    try {
      await this.request(this.#pingMethod, {}, limits);
    } catch (error) {
      const status = statusOf(error) ?? 500;
      if (!isAnswer(error) && status < 500 && !BUSY.has(status)) {
        await this.#lose(`session lost: HTTP ${status}`);
      }
      throw error;
    }
  }

  get #pingMethod(): string {
    return this.#introduction.era === "2025" ? "ping" : "server/discover";
  }

  /** Asks the server to announce the changes of a resource. */
  async subscribe(uri: string, limits: RequestLimits): Promise<void> {
    if (this.#listening === undefined) await this.request("resources/subscribe", { uri }, limits);
    else await this.#listening.subscribe(uri, limits);
  }

  async unsubscribe(uri: string, limits: RequestLimits): Promise<void> {
    if (this.#listening === undefined) await this.request("resources/unsubscribe", { uri }, limits);
    else this.#listening.unsubscribe(uri);
  }

  /** Ends the session and its child process; requests in flight fail with the reason. Idempotent. */
  async close(reason = "closed", error?: ServerAuthorizationError): Promise<void> {
    const closing = this.#transport.close({ isGone: this.isClosed });
    this.#end(reason, error);
    await closing;
  }

  #end(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void {
    if (this.#goneReason !== undefined) return;
    this.#goneReason = this.#child?.exit ?? reason;
    this.#notifications[Symbol.dispose]();
    this.#listening?.close();
    const failure = error ?? new ServerNotRunningError({ reason: this.#goneReason });
    this.#over.abort(failure);
    this.#peer.failAll(failure);
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
    await settledWithin(this.#peer.quiet(), REFUSALS_MS);
    if (this.#goneReason === undefined) this.#isLost = true;
    this.#end(reason);
  }

  async #open(opening: Opening, { timeoutMs, signal: caller }: RequestLimits): Promise<void> {
    // An SSE stream may open and never name its endpoint, so the time begins before the first request.
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete "initialize": no answer in ${timeoutMs} ms`),
      signal: caller,
    });
    const signal = AbortSignal.any([deadline.signal, this.#over.signal]);
    await abortable(this.#peer.start(), signal);
    const capabilities = capabilitiesOf(this.#config);
    const { pingTimeoutMs: askTimeoutMs } = this.#context.limits;
    this.#introduction = await shakeHands(this.#peer, {
      ...opening,
      capabilities,
      askTimeoutMs,
      timeoutMs,
      signal,
    });
    if (this.#introduction.era === "2026") await this.#listen(signal);
    this.#isOpen = true;
  }

  /** Opens the stream of changes before anything is read, so that no change is missed. A slow one is not waited for. */
  async #listen(signal: AbortSignal): Promise<void> {
    const { log } = this.#context;
    const onReopened = () => this.#notifications.onNotificationsLost();
    const lists = listenedLists(this.#introduction.capabilities);
    const listening = this.#listening = new Listening({ peer: this.#peer, lists, log, onReopened });
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
/** Adds what a trace sends along to the metadata of a request. */
function withMeta(params: Result, meta: Readonly<Record<string, string>> | undefined): Result {
  if (meta === undefined) return params;
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) && _meta), ...meta } };
}
