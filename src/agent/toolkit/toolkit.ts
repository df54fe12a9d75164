/** The tools of an office for LLM toolkits. */
import { settledWithin } from "../../async/abortable.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import type { CallProgress } from "../../protocol/progress.ts";
import { toSeenError, toSeenName } from "../../text/safe_text.ts";
import { type AiSdkVersion, type AiTool, toAiTool, type ToolParts } from "./ai_sdk.ts";
import { BUILTIN_NAMES, makeBuiltins } from "./builtins/all.ts";
import { type DesktopPromptOptions, writeDesktopPrompt } from "./desktop_prompt.ts";
import { errorResult, type McpTool, type McpToolResult } from "../../local_tools/mcp.ts";
import type { LocalTool } from "./tool_context.ts";
import { makeMcpClient, type ToolkitMcpClient } from "./anthropic.ts";
import { makeHandler, type ServedTools, ToolkitTransport } from "./mcp_server.ts";
import type { Office } from "./office.ts";
import { OfficeView } from "./office_view.ts";
import { type OpenAiTool, toOpenAiTool } from "./openai.ts";
import { OfficeCalls } from "./office_calls.ts";
import { isForModel } from "./tool_definition.ts";
import { type GivenName, ToolNames } from "./tool_names.ts";
import { noToolResult } from "./tool_result.ts";
import { Toolset } from "./toolset.ts";

/** How long the first list waits for the tools of Computers that are slow, in milliseconds. */
const FIRST_LIST_MS = 3_000;

/** Which tools a toolkit has, and how they are called. */
export interface ToolkitOptions {
  /** Only these Computers; all by default. */
  readonly computers?: readonly string[] | undefined;
  /**
   * Whether to offer `list_computers`, `view_desktop`, `find_documents` and `read_document` beside the tools of the
   * Computers; `true` by default.
   */
  readonly builtins?: boolean | undefined;
  /** Names that tools had before, such as {@linkcode Toolkit.names} of an earlier run. */
  readonly names?: Iterable<GivenName> | undefined;
  /** How long a call may take without progress, in milliseconds; 300,000 by default. */
  readonly callTimeoutMs?: number | undefined;
  /**
   * Whether a person has to agree before a tool is called. By default all but those whose annotations say that they
   * only read (`readOnlyHint: true`), or that what they write destroys nothing (`destructiveHint: false`).
   * Annotations are claims of an MCP server: what must not run unasked, its Computer has to refuse.
   */
  readonly needsApproval?: ((tool: McpTool) => boolean) | undefined;
  /** Receives log lines; they are dropped by default. */
  readonly logger?: Logger | undefined;
}

/** What comes with a call. */
export interface ToolkitCallOptions {
  /** Cancels the call, up to the MCP server; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the call. */
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
}

/**
 * The tools of the Computers of an office, as LLM toolkits take them. It follows the office until it is disposed of or
 * its Agent is closed. Get one from {@linkcode createToolkit}.
 */
export class Toolkit implements Disposable {
  readonly #view: OfficeView;
  readonly #names: ToolNames;
  readonly #toolset: Toolset;
  readonly #calls: OfficeCalls;
  readonly #locals: ReadonlyMap<string, LocalTool>;
  readonly #parts: ToolParts;
  readonly #ready: Promise<void>;
  readonly #transports = new Set<ToolkitTransport>();
  #handler: ReturnType<typeof makeHandler> | undefined;
  readonly #disposed = new AbortController();

  /** @internal Use {@linkcode createToolkit}. */
  constructor(office: Office, options: ToolkitOptions) {
    const { computers, builtins = true, logger = silentLogger, needsApproval = isDestructive } = options;
    this.#view = new OfficeView({ computers, logger });
    const reserved = builtins ? BUILTIN_NAMES : [];
    this.#names = new ToolNames({ given: options.names, reserved });
    // A model reads a document by its own URI, and there are no others to read.
    const toClientUri = (uri: string) => uri;
    this.#toolset = new Toolset(this.#view, { names: this.#names, toClientUri, logger });
    this.#calls = new OfficeCalls(this.#view, { toClientUri, timeoutMs: options.callTimeoutMs });
    const locals = builtins ? makeBuiltins({ view: this.#view }) : [];
    this.#locals = new Map(locals.map((tool) => [tool.definition.name, tool]));
    this.#parts = { list: () => this.tools(), call: this.call.bind(this), needsApproval };
    this.#ready = settledWithin(this.#view.follow(office), FIRST_LIST_MS).then(() => this.#toolset.start());
    office.ended?.addEventListener("abort", () => this.#end(office.ended?.reason), {
      once: true,
      signal: this.#disposed.signal,
    });
  }

  /** The names that tools have been given, to be passed as {@linkcode ToolkitOptions.names} to the next run. */
  get names(): GivenName[] {
    return this.#names.given;
  }

  /** All tools that are there now, once those of the Computers have been listed; not those that only pages may call. */
  async tools(): Promise<McpTool[]> {
    await this.#ready;
    const own = [...this.#locals.values()];
    return [...own, ...this.#toolset.all].map(({ definition }) => definition).filter(isForModel);
  }

  /**
   * Calls a tool by its name. A failure is a result with `isError`, whose text tells a model what to do.
   *
   * @throws the reason of `options.signal`, and nothing else.
   */
  async call(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    { signal = new AbortController().signal, onProgress }: ToolkitCallOptions = {},
  ): Promise<McpToolResult> {
    await this.#ready;
    signal.throwIfAborted();
    const { aborted, reason } = this.#disposed.signal;
    if (aborted) {
      const why = reason instanceof DOMException
        ? "the toolkit was disposed of, or its Agent was closed"
        : toSeenError(reason);
      return errorResult(`Cannot call ${toSeenName(name)}: ${why}`, {
        error_code: ErrorCode.UNAVAILABLE,
        may_have_run: false,
      });
    }
    const local = this.#locals.get(name);
    if (local !== undefined) return await local.run(args, { signal });
    const tool = this.#toolset.find(name);
    if (tool === undefined) {
      return noToolResult(name, { problem: this.#view.problem, gone: this.#toolset.goneOf(name) });
    }
    return await this.#calls.call(tool, args, { signal, onProgress });
  }

  /**
   * The tools for the AI SDK of Vercel, as they are now: call it again before each run.
   *
   * @param options `version`: the major version of the AI SDK; 7 by default.
   */
  async aiTools<Version extends AiSdkVersion = 7>(
    { version = 7 as Version }: { readonly version?: Version } = {},
  ): Promise<Record<string, AiTool<Version>>> {
    const parts = { ...this.#parts, version };
    return Object.fromEntries((await this.tools()).map((tool) => [tool.name, toAiTool(tool, parts)]));
  }

  /**
   * Function tools for the OpenAI Agents SDK, as they are now: `new Agent({ tools: await kit.openAiTools() })`. They
   * ask a person where an approval is needed.
   */
  async openAiTools(): Promise<OpenAiTool[]> {
    return (await this.tools()).map((tool) => toOpenAiTool(tool, this.#parts));
  }

  /**
   * An MCP client for the helpers of the Anthropic SDK: `mcpTools((await client.listTools()).tools, client)`.
   *
   * @param options `signal`: cancels all calls of this client, since the helpers pass none on.
   */
  mcpClient({ signal }: { readonly signal?: AbortSignal | undefined } = {}): ToolkitMcpClient {
    return makeMcpClient(this.#parts, signal);
  }

  /** A transport in memory for one client of an MCP SDK: `client.connect(kit.transport())`. */
  transport(): ToolkitTransport {
    const transport = new ToolkitTransport(this.#served, (ended) => this.#transports.delete(ended));
    this.#transports.add(transport);
    return transport;
  }

  /**
   * Answers the requests of an MCP client over HTTP in memory, whatever their URL, for toolkits that know MCP servers by
   * URL alone. It may be passed on without the toolkit.
   */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
    await (await (this.#handler ??= makeHandler(this.#served))).fetch(new Request(input, init));

  /**
   * The Desktop as a block of a system message: the windows of all Computers, as they are now.
   *
   * @throws {RangeError} when `maxChars` is less than 500.
   */
  async prompt(options: DesktopPromptOptions = {}): Promise<string> {
    await this.#ready;
    return await writeDesktopPrompt({ view: this.#view }, options);
  }

  /** Calls `listener` when the tools have changed, until the returned function is called or the toolkit ends. */
  onToolsChange(listener: () => void): () => void {
    return this.#view.onChange(({ kind }) => {
      if (kind === "tools" || kind === "members" || kind === "connection") listener();
    });
  }

  /** Closes the transports, and follows the office no longer. The Agent stays open. Idempotent. */
  [Symbol.dispose](): void {
    this.#end();
  }

  /** @param reason Why it has no office any more, of its own accord. */
  #end(reason?: unknown): void {
    this.#disposed.abort(reason);
    for (const transport of [...this.#transports]) void transport.close();
    void this.#handler?.then((handler) => handler[Symbol.dispose]());
    this.#view[Symbol.dispose]();
  }

  get #served(): ServedTools {
    return {
      list: () => this.tools(),
      call: (name, args, options) => this.call(name, args, options),
      onListChanged: (listener) => this.onToolsChange(listener),
    };
  }
}

/**
 * The tools of the office for an LLM toolkit, such as the AI SDK (`docs/toolkits.md`). Dispose of it when it is not needed
 * any more; it ends with the Agent. An observer's toolkit can read, and every call of a tool is refused.
 *
 * @throws {TypeError} when `agent` is no Agent.
 */
export function createToolkit(agent: Office, options: ToolkitOptions = {}): Toolkit {
  requireOffice(agent);
  return new Toolkit(agent, options);
}

/** By the defaults of MCP, which also stand for a hint of a wrong type: a tool writes, and what writes is destructive. */
function isDestructive({ annotations: { readOnlyHint, destructiveHint } = {} }: McpTool): boolean {
  return readOnlyHint !== true && destructiveHint !== false;
}

/** Types do not stop a caller in JavaScript, and what an office lacks would only be missed in the background. */
function requireOffice(office: Partial<Office> | undefined): void {
  const isOffice = [office?.on, office?.computer, office?.listOffice].every((method) =>
    typeof method === "function"
  );
  if (!isOffice) {
    throw new TypeError("Cannot create a toolkit: expected an Agent, such as that of await Agent.connect()");
  }
}
