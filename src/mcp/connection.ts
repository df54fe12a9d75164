/** What a Computer asks an MCP server: lists, calls, reads and subscriptions, in a session of any version. */
import { isRecord } from "../json/json.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { RpcErrorCode, SKILLS_EXTENSION } from "../protocol/mcp.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import type { Ask, CallOptions, RequestLimits, ToolCall } from "./call_options.ts";
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
import { ServerAnswerError, toFailure } from "./errors.ts";
import { ToolHeaders } from "../protocol/tool_headers.ts";
import { makeMcpRequest } from "../tracing.ts";
import type { Introduction } from "./handshake.ts";
import { requestInRounds } from "./input_rounds.ts";
import type { OutgoingOptions, Result } from "./rpc_peer.ts";
import { McpSession, type SessionContext } from "./session.ts";
import { callAsTask, hasTasks, type TaskSession } from "./tasks.ts";

/** The capabilities of an MCP server that matter here. */
export interface ServerCapabilities {
  readonly tools: boolean;
  readonly resources: boolean;
  /** `resources.subscribe`; without it, Desktop and Finder ignore the server. */
  readonly subscribe: boolean;
  /** `resources.listChanged`; without it, the resources are listed for each request. */
  readonly listChanged: boolean;
  readonly completions: boolean;
  readonly prompts: boolean;
  /** The Skills extension: `skills/list`. */
  readonly skills: boolean;
}

/** What has a parameter to complete, as MCP writes it. */
export type CompletionRef =
  | { readonly type: "ref/resource"; readonly uri: string }
  | { readonly type: "ref/prompt"; readonly name: string };

interface RequestOptions extends OutgoingOptions {
  /** Answers what the server asks; without it, questions are declined. */
  readonly ask?: Ask | undefined;
}

/** An open session, and what is asked in it. Requests throw the errors of `errors.ts`, or the reason of the aborted signal. */
export class McpConnection {
  /** Its signs of life and its end. */
  readonly session: McpSession;
  /** What the server said about itself when the session began. */
  readonly introduction: Introduction;
  readonly #context: SessionContext;
  readonly #spanAttributes: Readonly<Record<string, string>>;
  readonly #listBytes = { tools: 0, resources: 0, templates: 0, prompts: 0, skills: 0 };
  readonly #listFreshMs: { [Kind in ListKind]?: number | undefined } = {};
  /** The arguments that go into HTTP headers; `undefined` where there are no headers. */
  readonly #toolHeaders: ToolHeaders | undefined;

  private constructor(session: McpSession, config: ResolvedServerConfig, context: SessionContext) {
    this.introduction = session.introduction;
    this.session = session;
    this.#context = context;
    this.#spanAttributes = { "a2c.mcp_server": config.name };
    const hasHeaders = config.type === "streamable" && this.introduction.era === "2026";
    this.#toolHeaders = hasHeaders ? new ToolHeaders() : undefined;
  }

  /** Starts the server, or connects to it, and opens a session; throws as {@linkcode McpSession.open} does. */
  static async open(
    config: ResolvedServerConfig,
    context: SessionContext,
    limits: RequestLimits,
  ): Promise<McpConnection> {
    return new McpConnection(await McpSession.open(config, context, limits), config, context);
  }

  get capabilities(): ServerCapabilities {
    const { tools, resources, completions, prompts, extensions } = this.introduction.capabilities;
    const { subscribe, listChanged } = isRecord(resources) ? resources : {};
    return {
      tools: tools !== undefined,
      resources: resources !== undefined,
      subscribe: subscribe === true,
      listChanged: listChanged === true,
      completions: completions !== undefined,
      prompts: prompts !== undefined,
      skills: isRecord(extensions) && isRecord(extensions[SKILLS_EXTENSION]),
    };
  }

  /** Whether the server announces changes of a list. It never does so of its skills. */
  announces(kind: "tools" | "resources" | "skills"): boolean {
    const capability = this.introduction.capabilities[kind];
    return isRecord(capability) && capability["listChanged"] === true;
  }

  /** Whether many subscriptions cost no more requests than one. */
  get subscribesTogether(): boolean {
    return this.introduction.era === "2026";
  }

  /** The size of the last list of that kind, as far as it was read; 0 before the first. */
  listBytes(kind: ListKind): number {
    return this.#listBytes[kind];
  }

  /**
   * How long the last list of that kind may be used without another request, in milliseconds, as the server said;
   * `undefined` when it said nothing of it.
   */
  listFreshMs(kind: ListKind): number | undefined {
    return this.#listFreshMs[kind];
  }

  /** The same of any other result. In a version with sessions, servers say nothing of it. */
  freshMsOf({ ttlMs }: Readonly<Record<string, unknown>>): number | undefined {
    if (this.introduction.era === "2025") return undefined;
    return typeof ttlMs === "number" && ttlMs > 0 ? ttlMs : 0;
  }

  async listTools(limits: RequestLimits): Promise<McpTool[]> {
    const headers = this.#toolHeaders;
    const read = (entry: unknown, warn: EntryWarning) => {
      const tool = readTool(entry, warn);
      return tool === undefined || headers === undefined ? tool : headers.accept(tool, warn);
    };
    return await this.#listAll("tools", read, limits);
  }

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
    return await this.#request(
      "completion/complete",
      { ref, argument, ...(context && { context }) },
      limits,
    );
  }

  async getPrompt(
    prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> },
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    return await this.#request("prompts/get", { ...prompt }, limits);
  }

  async callTool(
    { needsTask, ...call }: ToolCall,
    options: CallOptions,
  ): Promise<Record<string, unknown>> {
    const { onProgress, ask, isLocal, ...limits } = options;
    const { calls, over } = this.session;
    using running = calls.begin({ ask, isLocal, onProgress });
    const params = { ...call, _meta: { progressToken: running.token } };
    if (needsTask === true && hasTasks(this.introduction)) {
      const request: TaskSession["request"] = (...asked) => this.#request(...asked);
      return await callAsTask(params, { ...limits, call: running }, {
        request,
        log: this.#context.log,
        over,
      });
    }
    const request = (headers?: Record<string, string>) =>
      this.#request("tools/call", params, { ...limits, ask, headers, onId: running.onRequest });
    const toolHeaders = this.#toolHeaders;
    if (toolHeaders === undefined) return await request();
    try {
      return await request(toolHeaders.headersOf(call));
    } catch (error) {
      if (!(error instanceof ServerAnswerError) || error.rpcCode !== RpcErrorCode.HEADER_MISMATCH) {
        throw error;
      }
      // The tool may ask for other headers than when it was listed last.
      await this.listTools(limits);
      return await request(toolHeaders.headersOf(call));
    }
  }

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

  /** Asks the server to announce the changes of a resource. */
  async subscribe(uri: string, limits: RequestLimits): Promise<void> {
    const { listening } = this.session;
    if (listening === undefined) await this.#request("resources/subscribe", { uri }, limits);
    else await listening.subscribe(uri, limits);
  }

  async unsubscribe(uri: string, limits: RequestLimits): Promise<void> {
    const { listening } = this.session;
    if (listening === undefined) await this.#request("resources/unsubscribe", { uri }, limits);
    else listening.unsubscribe(uri);
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
    const freshMs = this.freshMsOf(result);
    // The whole list is as fresh as its page that is so for the shortest time.
    const before = cursor === undefined ? undefined : this.#listFreshMs[kind];
    this.#listFreshMs[kind] = freshMs === undefined ? undefined : Math.min(freshMs, before ?? freshMs);
    return toListPage(result, member);
  }

  /**
   * Sends a request; what the server asks before it answers is answered by `ask`.
   *
   * @throws {ServerAnswerError} when the server answers with an error.
   * @throws {ServerTimeoutError} when it does not answer in time.
   * @throws {ServerNotRunningError} when the session has ended or ends.
   */
  async #request(method: string, params: Result, { ask, ...outgoing }: RequestOptions): Promise<Result> {
    const { peer, over, calls } = this.session;
    const { timeoutMs, signal } = outgoing;
    signal?.throwIfAborted();
    over.throwIfAborted();
    const send = (params: Result, timeoutMs: number) =>
      makeMcpRequest(
        method,
        this.#spanAttributes,
        (meta) => peer.request({ method, params: withMeta(params, meta) }, { ...outgoing, timeoutMs }),
      );
    try {
      if (this.introduction.era === "2025") return await send(params, timeoutMs);
      const signals = [over, ...signal === undefined ? [] : [signal]];
      return await requestInRounds({ method, params, send, timeoutMs, calls, ask, signals });
    } catch (error) {
      throw signal?.aborted ? signal.reason : await this.session.judge(toFailure(error), method);
    }
  }
}

/** Adds what a trace sends along to the metadata of a request. */
function withMeta(params: Result, meta: Readonly<Record<string, string>> | undefined): Result {
  if (meta === undefined) return params;
  const { _meta } = params;
  return { ...params, _meta: { ...(isRecord(_meta) && _meta), ...meta } };
}
