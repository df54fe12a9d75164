/** One session with an MCP server, over any transport and in any version: its beginning, its requests, and its end. */
import { abortable, settledWithin } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import { isRecord } from "../json.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { describeError } from "../text.ts";
import { makeMcpRequest } from "../tracing.ts";
import type { Ask, RequestLimits } from "./call_options.ts";
import type { EraMemory } from "./era_memory.ts";
import {
  isFailure,
  RpcErrorCode,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  toFailure,
} from "./errors.ts";
import {
  type ClientCapabilities,
  type EraChoice,
  type Introduction,
  isRefusal,
  shakeHands,
} from "./handshake.ts";
import type { HttpListener } from "./http/watched_fetch.ts";
import { Inflow } from "./inflow.ts";
import { requestInRounds } from "./input_rounds.ts";
import type { Journal } from "./journal.ts";
import type { RpcRequest } from "./json_rpc.ts";
import type { ServerLimits } from "./limits.ts";
import { type ListenedLists, Listening } from "./listening.ts";
import { type NotificationListener, readNotification, ThrottledListener } from "./notifications.ts";
import { type OpenTransport, prepareTransport, type TransportContext } from "./open_transport.ts";
import { ProgressReports } from "./progress.ts";
import { AskingCalls } from "./questions.ts";
import { type OutgoingOptions, type PeerListener, type Result, RpcPeer } from "./rpc_peer.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { TaskCalls } from "./tasks.ts";
import type { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** Says that pages of MCP Apps can be shown. */
const MCP_APPS = { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } as const;

/** How long a server may take to answer a ping after its event stream broke, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;
/** How long the start of a session waits for the stream of changes, in milliseconds. */
const LISTEN_TIMEOUT_MS = 2_000;

/** The context of a session. */
export interface SessionContext extends Pick<TransportContext, "authorization"> {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** Receives the stderr and the log messages of the server. */
  readonly journal: Journal;
  /** Logs each malformed entry of a list once, however often the list is read. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
  /** Remembers which kind of versions a server speaks. */
  readonly eras?: EraMemory | undefined;
}

/** The options of a request that the server may answer by asking. */
export interface SessionRequestOptions extends OutgoingOptions {
  /** Answers what the server asks; without it, questions are declined. */
  readonly ask?: Ask | undefined;
}

/** An open session. Its requests throw the errors of `errors.ts`, or the reason of the aborted signal. */
export class McpSession {
  readonly #context: SessionContext;
  readonly #config: ResolvedServerConfig;
  readonly #peer: RpcPeer;
  readonly #notifications: ThrottledListener;
  /** The running calls, which questions of the server belong to. */
  readonly calls = new AskingCalls();
  readonly progress: ProgressReports;
  /** The calls that run as tasks. */
  readonly tasks: TaskCalls;
  /** The transport of a child process; `undefined` over HTTP. */
  readonly #child: StdioTransport | undefined;
  readonly #closeTransport: OpenTransport["close"];
  readonly #spanAttributes: Readonly<Record<string, string>>;
  readonly #closed = Promise.withResolvers<string>();
  /** Aborted when the session ends, with the error for its requests. */
  readonly #over = new AbortController();
  #goneReason: string | undefined;
  #introduction: Introduction = { era: "2025", version: "", capabilities: {}, isCertain: false };
  /** The stream of changes, in a version without sessions. */
  #listening: Listening | undefined;
  #isOpen = false;
  #isProbing = false;

  private constructor(
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
    this.#notifications = new ThrottledListener({
      listener,
      maxPerSecond: limits.maxNotificationsPerSecond,
      log,
    });
    const inflow = new Inflow();
    const { transport, child, close } = openTransport({ ...context, inflow, listener: this.#httpListener() });
    this.#child = child;
    this.#closeTransport = close;
    this.#peer = new RpcPeer(transport, { inflow, listener: this.#peerListener() });
  }

  /**
   * Starts the server, or connects to it, and opens a session. A server that is to be asked for its versions, and that
   * said once that it has sessions, is not asked again; if that has changed, it is.
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
    const { eras } = context;
    const known = choice === "auto" ? await eras?.recall(config) : undefined;
    const first = known === "2025" ? known : choice;
    try {
      return await McpSession.#openAs(first, { config, context, limits });
    } catch (error) {
      const next = nextChoice({ first, choice, error, config });
      if (next === undefined) throw error;
      eras?.forget(config);
      return await McpSession.#openAs(next, { config, context, limits });
    }
  }

  static async #openAs(
    choice: EraChoice,
    { config, context, limits }: {
      readonly config: ResolvedServerConfig;
      readonly context: SessionContext;
      readonly limits: RequestLimits;
    },
  ): Promise<McpSession> {
    limits.signal?.throwIfAborted();
    const session = new McpSession(config, context, await prepareTransport(config));
    try {
      await session.#open(choice, limits);
      const { era, isCertain } = session.#introduction;
      if (choice === "auto" && isCertain) context.eras?.remember(config, era);
      return session;
    } catch (error) {
      await session.#closeTransport({ isGone: session.isClosed });
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
        throw new ServerAnswerError(RpcErrorCode.METHOD_NOT_FOUND, "Method not found");
      },
      // At the start the SDK closes a transport that it cannot use, and then throws the reason.
      onClose: () => (this.#isOpen || this.#child !== undefined) && this.#end("closed"),
      onError: (error) => log.debug("MCP transport error", { error: error.message }),
    };
  }

  #httpListener(): HttpListener {
    return {
      onGone: (reason, error) => this.#end(reason, error),
      onStreamBroken: () => this.#probe(),
      onStreamOpened: () => this.#notifications.onNotificationsLost(),
      onAnswerLost: (id) => this.#peer.fail(id, new ServerNotRunningError({ reason: "event stream lost" })),
      onQuestion: (questionId, requestId) => this.calls.relate(questionId, requestId),
      isAsked: () => this.calls.hasOpenQuestions,
      onAnswerTooLarge: (id, reason) => {
        this.#context.log.warn("dropped an answer of the MCP server: it is too large", { reason });
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
      throw outgoing.signal?.aborted ? outgoing.signal.reason : toFailure(error);
    }
  }

  /** Asks the server for a sign of life. */
  async ping(limits: RequestLimits): Promise<void> {
    const method = this.#introduction.era === "2025" ? "ping" : "server/discover";
    await this.request(method, {}, limits);
  }

  /** Asks the server to announce the changes of a resource. */
  async subscribe(uri: string, limits: RequestLimits): Promise<void> {
    if (this.#listening === undefined) await this.request("resources/subscribe", { uri }, limits);
    else await this.#listening.subscribe(uri, limits);
  }

  /** Ends a subscription. */
  async unsubscribe(uri: string, limits: RequestLimits): Promise<void> {
    if (this.#listening === undefined) await this.request("resources/unsubscribe", { uri }, limits);
    else this.#listening.unsubscribe(uri);
  }

  /** Ends the session and its child process; requests in flight fail with the reason. Idempotent. */
  async close(reason = "closed", error?: ServerAuthorizationError): Promise<void> {
    const closing = this.#closeTransport({ isGone: this.isClosed });
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

  /** Pings the server after its event stream broke: the server may be gone, or may have forgotten the session. */
  #probe(): void {
    if (this.#isProbing || this.#goneReason !== undefined) return;
    this.#isProbing = true;
    this.ping({ timeoutMs: PROBE_TIMEOUT_MS })
      .catch((error) => {
        if (!(error instanceof ServerAnswerError)) this.#end("event stream lost");
      })
      .finally(() => this.#isProbing = false);
  }

  async #open(choice: EraChoice, { timeoutMs, signal: caller }: RequestLimits): Promise<void> {
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
      choice,
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

  /** Prefers the exit of a child over the broken pipe that it caused. */
  #startFailure(error: unknown): unknown {
    const exit = this.#child?.exit;
    if (error instanceof ServerNotRunningError && exit !== undefined) {
      return new ServerNotRunningError({ reason: exit, cause: error, stderrTail: this.stderrTail });
    }
    if (isFailure(error) || error instanceof ServerAnswerError) return error;
    return new ServerNotRunningError({
      reason: describeError(error),
      cause: error,
      stderrTail: this.stderrTail,
    });
  }
}
/** Adds what a trace sends along to the metadata of a request. */
function withMeta(params: Result, meta: Readonly<Record<string, string>> | undefined): Result {
  if (meta === undefined) return params;
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) && _meta), ...meta } };
}

/** Which versions a configuration asks for. HTTP with SSE has sessions in every version. */
function choiceOf(config: ResolvedServerConfig): EraChoice {
  if (config.type === "sse") return "2025";
  return config.mcp_version ?? (config.type === "stdio" ? "2025" : "auto");
}

/**
 * How to open the session of a server another time after it failed; `undefined` when the failure has another reason. A
 * server that has sessions according to our memory may have none any more, and a program with sessions may end at a
 * question that it does not expect.
 */
function nextChoice({ first, choice, error, config }: {
  readonly first: EraChoice;
  readonly choice: EraChoice;
  readonly error: unknown;
  readonly config: ResolvedServerConfig;
}): EraChoice | undefined {
  if (choice !== "auto") return undefined;
  if (first === "2025") return isRefusal(error) ? "auto" : undefined;
  return config.type === "stdio" && error instanceof ServerNotRunningError ? "2025" : undefined;
}

/** What this client can do for a server. */
function capabilitiesOf({ elicitation, apps }: ResolvedServerConfig): ClientCapabilities {
  return {
    ...(elicitation === "decline" ? {} : { elicitation: { form: {}, url: {} } }),
    ...(apps === true ? { extensions: MCP_APPS } : {}),
  };
}

/** The lists whose changes a server can tell. */
function listenedLists({ tools, prompts, resources }: Readonly<Record<string, unknown>>): ListenedLists {
  const tells = (capability: unknown) => isRecord(capability) && capability["listChanged"] === true;
  return {
    ...(tells(tools) && { toolsListChanged: true }),
    ...(tells(prompts) && { promptsListChanged: true }),
    ...(tells(resources) && { resourcesListChanged: true }),
  };
}
