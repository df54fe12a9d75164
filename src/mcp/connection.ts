/** One session with an MCP server, over any transport. */
import { abortable } from "../async/abortable.ts";
import { Deadline } from "../async/deadline.ts";
import { isRecord } from "../json.ts";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { describeError } from "../text.ts";
import { makeMcpRequest } from "../tracing.ts";
import type { CallOptions, RequestLimits, ToolCall } from "./call_options.ts";
import {
  type EntryWarning,
  type ListKind,
  type ListPage,
  LISTS,
  type McpTool,
  readAllPages,
  readContents,
  readResourceEntry,
  readTool,
  toListPage,
} from "./entries.ts";
import {
  isFailure,
  RpcErrorCode,
  ServerAnswerError,
  type ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  toFailure,
} from "./errors.ts";
import { initialize, type Introduction } from "./handshake.ts";
import type { HttpListener } from "./http/watched_fetch.ts";
import { Inflow } from "./inflow.ts";
import type { Journal } from "./journal.ts";
import type { RpcRequest } from "./json_rpc.ts";
import type { ServerLimits } from "./limits.ts";
import { type NotificationListener, readNotification, ThrottledListener } from "./notifications.ts";
import { type OpenTransport, prepareTransport, type TransportContext } from "./open_transport.ts";
import { ProgressReports } from "./progress.ts";
import { AskingCalls } from "./questions.ts";
import { type OutgoingOptions, type PeerListener, type Result, RpcPeer } from "./rpc_peer.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { hasTasks, TaskCalls } from "./tasks.ts";
import type { StdioTransport } from "./stdio/transport.ts";
import type { WarnOnce } from "./warn_once.ts";

/** How long a server may take to answer a ping after its event stream broke, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** The capabilities of an MCP server that matter here. */
export interface ServerCapabilities {
  readonly tools: boolean;
  readonly resources: boolean;
  /** `resources.subscribe`; without it, Desktop and Finder ignore the server. */
  readonly subscribe: boolean;
  /** `resources.listChanged`; without it, the resources are listed for each request. */
  readonly listChanged: boolean;
  /** `completions`. */
  readonly completions: boolean;
  readonly prompts: boolean;
}

/** What has a parameter to complete, as MCP writes it. */
export type CompletionRef =
  | { readonly type: "ref/resource"; readonly uri: string }
  | { readonly type: "ref/prompt"; readonly name: string };

/** The context of a session. */
export interface ConnectionContext extends Pick<TransportContext, "authorization"> {
  readonly listener: NotificationListener;
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** Receives the stderr and the log messages of the server. */
  readonly journal: Journal;
  /** Logs each malformed entry of a list once, however often the list is read. */
  readonly warnOnce: WarnOnce;
  readonly limits: ServerLimits;
}

/** An open session. Its requests throw the errors of `errors.ts`, or the reason of the aborted signal. */
export class McpConnection {
  readonly #context: ConnectionContext;
  readonly #peer: RpcPeer;
  readonly #notifications: ThrottledListener;
  readonly #calls = new AskingCalls();
  readonly #progress: ProgressReports;
  readonly #tasks: TaskCalls;
  /** The transport of a child process; `undefined` over HTTP. */
  readonly #child: StdioTransport | undefined;
  readonly #closeTransport: OpenTransport["close"];
  readonly #spanAttributes: Readonly<Record<string, string>>;
  readonly #closed = Promise.withResolvers<string>();
  /** Aborted when the session ends, with the error for its requests. */
  readonly #over = new AbortController();
  readonly #listBytes = { tools: 0, resources: 0, templates: 0, prompts: 0 };
  #goneReason: string | undefined;
  #introduction: Introduction = { version: "", capabilities: {} };
  #isProbing = false;

  private constructor(
    config: ResolvedServerConfig,
    context: ConnectionContext,
    openTransport: (context: TransportContext) => OpenTransport,
  ) {
    const { listener, log, limits } = context;
    this.#context = context;
    this.#spanAttributes = { "a2c.mcp_server": config.name };
    this.#progress = new ProgressReports(context.warnOnce);
    const over = this.#over.signal;
    this.#tasks = new TaskCalls((method, params, limits) => this.#request(method, params, limits), {
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
   * Starts the server, or connects to it, and initializes a session.
   *
   * @throws {ConfigurationError} when the configuration can never work.
   * @throws {ServerNotRunningError | ServerTimeoutError | ServerAuthorizationError} when another attempt may succeed.
   */
  static async open(
    config: ResolvedServerConfig,
    context: ConnectionContext,
    limits: RequestLimits,
  ): Promise<McpConnection> {
    limits.signal?.throwIfAborted();
    const connection = new McpConnection(config, context, await prepareTransport(config));
    try {
      await connection.#open(limits);
      return connection;
    } catch (error) {
      await connection.#closeTransport({ isGone: connection.isClosed });
      throw connection.#startFailure(error);
    }
  }

  #peerListener(): PeerListener {
    const { log, journal } = this.#context;
    return {
      onNotification: (notification) =>
        readNotification(notification, {
          listener: this.#notifications,
          journal,
          progress: this.#progress,
          tasks: this.#tasks,
        }),
      onRequest: async ({ method, params }: RpcRequest, options) => {
        if (method === "ping") return {};
        if (method === "elicitation/create") return await this.#calls.answer(params, options);
        throw new ServerAnswerError(RpcErrorCode.METHOD_NOT_FOUND, "Method not found");
      },
      onClose: () => this.#end("closed"),
      onError: (error) => log.debug("MCP transport error", { error: error.message }),
    };
  }

  #httpListener(): HttpListener {
    return {
      onGone: (reason, error) => this.#end(reason, error),
      onStreamBroken: () => this.#probe(),
      onStreamOpened: () => this.#notifications.onNotificationsLost(),
      onAnswerLost: (id) => this.#peer.fail(id, new ServerNotRunningError({ reason: "event stream lost" })),
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

  get capabilities(): ServerCapabilities {
    const { tools, resources, completions, prompts } = this.#introduction.capabilities;
    const { subscribe, listChanged } = isRecord(resources) ? resources : {};
    return {
      tools: tools !== undefined,
      resources: resources !== undefined,
      subscribe: subscribe === true,
      listChanged: listChanged === true,
      completions: completions !== undefined,
      prompts: prompts !== undefined,
    };
  }

  /** What the server said about itself when the session began. */
  get introduction(): Introduction {
    return this.#introduction;
  }

  /** The last 8,192 characters that a child process wrote to stderr; empty over HTTP. */
  get stderrTail(): string {
    return this.#child?.stderrTail ?? "";
  }

  /** The size of the last list of that kind, as far as it was read; 0 before the first. */
  listBytes(kind: "tools" | "resources"): number {
    return this.#listBytes[kind];
  }

  /** Reads all pages of `tools/list`. */
  async listTools(limits: RequestLimits): Promise<McpTool[]> {
    return await this.#listAll("tools", readTool, limits);
  }

  /** Reads all pages of `resources/list`. */
  async listResources(limits: RequestLimits): Promise<McpResource[]> {
    return await this.#listAll("resources", readResourceEntry, limits);
  }

  /** Reads all pages of a list, unchecked. */
  async listEntries(kind: ListKind, limits: RequestLimits): Promise<unknown[]> {
    return await this.#listAll(kind, (entry) => entry, limits);
  }

  /** Reads one page of a list, unchecked. */
  async listEntriesPage(
    kind: ListKind,
    cursor: string | undefined,
    limits: RequestLimits,
  ): Promise<ListPage> {
    return await this.#listPage(kind, cursor, limits);
  }

  /** Sends `completion/complete`; the result is unchecked. */
  async complete(
    completion: {
      readonly ref: CompletionRef;
      readonly argument: { readonly name: string; readonly value: string };
      readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
    },
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    const { ref, argument, context } = completion;
    return await this.#request("completion/complete", { ref, argument, ...(context && { context }) }, limits);
  }

  /** Sends `prompts/get`; the result is unchecked. */
  async getPrompt(
    prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    return await this.#request("prompts/get", { ...prompt }, limits);
  }

  /** Sends `tools/call`; the result is unchecked. */
  async callTool(
    { needsTask, ...call }: ToolCall,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    const { ask, onProgress = () => {}, ...limits } = options;
    using running = this.#calls.begin(ask);
    using progress = this.#progress.open(onProgress);
    const params = { ...call, _meta: { progressToken: progress.token } };
    if (needsTask !== true || !hasTasks(this.introduction)) {
      return await this.#request("tools/call", params, limits);
    }
    const { onTask } = running;
    return await this.#tasks.call(params, { ...limits, onTask, onStatus: progress.note });
  }

  /** `resources/read`. */
  async readResource(
    uri: string,
    limits: RequestLimits,
  ): Promise<{ contents: ResourceContents[]; [key: string]: unknown }> {
    const result = await this.#request("resources/read", { uri }, limits);
    const contents = readContents(
      result["contents"],
      (message) => this.#context.warnOnce.warn(message, { uri }),
    );
    return { ...result, contents };
  }

  /** `resources/subscribe`. */
  async subscribe(uri: string, limits: RequestLimits): Promise<void> {
    await this.#request("resources/subscribe", { uri }, limits);
  }

  /** `resources/unsubscribe`. */
  async unsubscribe(uri: string, limits: RequestLimits): Promise<void> {
    await this.#request("resources/unsubscribe", { uri }, limits);
  }

  /** `ping`. */
  async ping(limits: RequestLimits): Promise<void> {
    await this.#request("ping", {}, limits);
  }

  /** Ends the session and its child process; requests in flight fail with the reason. Idempotent. */
  async close(reason = "closed"): Promise<void> {
    const closing = this.#closeTransport({ isGone: this.isClosed });
    this.#end(reason);
    await closing;
  }

  #end(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void {
    if (this.#goneReason !== undefined) return;
    this.#goneReason = this.#child?.exit ?? reason;
    this.#notifications[Symbol.dispose]();
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

  async #listAll<T>(
    kind: ListKind,
    readEntry: (entry: unknown, warn: EntryWarning) => T | undefined,
    { timeoutMs, signal }: RequestLimits,
  ): Promise<T[]> {
    return await readAllPages({
      what: LISTS[kind].what,
      readPage: (cursor, timeoutMs) => this.#listPage(kind, cursor, { timeoutMs, signal }),
      readEntry,
      maxBytes: this.#context.limits.maxListBytes,
      timeoutMs,
      warn: (message) => this.#context.warnOnce.warn(message),
      onBytes: (bytes) => void (this.#listBytes[kind] = bytes),
    });
  }

  async #listPage(
    kind: ListKind,
    cursor: string | undefined,
    limits: RequestLimits,
  ): Promise<ListPage> {
    const { method, member } = LISTS[kind];
    const result = await this.#request(method, cursor === undefined ? {} : { cursor }, limits);
    return toListPage(result, member);
  }

  async #open({ timeoutMs, signal: caller }: RequestLimits): Promise<void> {
    // An SSE stream may open and never name its endpoint, so the time begins before the first request.
    using deadline = new Deadline(timeoutMs, {
      reason: () => new ServerTimeoutError(`Cannot complete "initialize": no answer in ${timeoutMs} ms`),
      signal: caller,
    });
    const signal = AbortSignal.any([deadline.signal, this.#over.signal]);
    await abortable(this.#peer.start(), signal);
    this.#introduction = await initialize(this.#peer, { timeoutMs, signal });
  }

  async #request(method: string, params: Result, options: OutgoingOptions): Promise<Result> {
    options.signal?.throwIfAborted();
    this.#over.signal.throwIfAborted();
    try {
      return await makeMcpRequest(method, this.#spanAttributes, (meta) => {
        const request = { method, params: withMeta(params, meta) };
        return this.#peer.request(request, options);
      });
    } catch (error) {
      throw options.signal?.aborted ? options.signal.reason : toFailure(error);
    }
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
