/** A small MCP server of the tools of an office: both eras of MCP, over any channel of JSON-RPC messages. */
import { Throttle } from "../../async/throttle.ts";
import { isRecord } from "../../json/json.ts";
import { toBareLine } from "../../text/safe_text.ts";
import { describeError } from "../../text.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import type { ToolContext } from "./local_tool.ts";
import type { Json, McpTool, McpToolResult } from "./mcp.ts";

const SESSION_VERSIONS: readonly unknown[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
const STATELESS_VERSION = "2026-07-28";
const META = "io.modelcontextprotocol/";
const SUBSCRIPTION_ID = `${META}subscriptionId`;
const LIST_CHANGED = "notifications/tools/list_changed";
/** How often a client is told that the list has changed, in milliseconds. */
const LIST_CHANGED_INTERVAL_MS = 200;
const MAX_OPEN = 1_000;

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const UNSUPPORTED_VERSION = -32022;

const SERVER_INFO = { name: "a2c-smcp", title: "A2C-SMCP office", version: PACKAGE_VERSION };
const INSTRUCTIONS = "The tools of the Computers of an office: machines of people, which may come and go.";

export interface RpcTools {
  readonly list: () => Promise<readonly McpTool[]>;
  /** Rejects only with the reason of the signal. */
  readonly call: (
    name: string,
    args: Json,
    context: Pick<ToolContext, "signal" | "onProgress">,
  ) => Promise<McpToolResult>;
  /** Calls the listener when the list has changed, until the returned function is called. */
  readonly onListChanged: (listener: () => void) => () => void;
}

type RequestId = string | number;

interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Json;
  readonly isStateless: boolean;
}

class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export class RpcSession {
  readonly #tools: RpcTools;
  readonly #send: (message: Json) => void;
  readonly #isPerRequest: boolean;
  readonly #open = new Map<RequestId, AbortController>();
  /** The requests that listen to changes of the list. */
  readonly #listening = new Set<RequestId>();
  readonly #throttle = new Throttle(() => this.#tellListChanged(), LIST_CHANGED_INTERVAL_MS);
  #unsubscribe: (() => void) | undefined;
  /** Whether the client is one of 2025 and has begun. */
  #hasBegun = false;
  #isClosed = false;

  /** @param options `isPerRequest`: serves one request alone, and so tells a client of 2025 nothing unasked. */
  constructor(
    tools: RpcTools,
    { send, isPerRequest = false }: {
      readonly send: (message: Json) => void;
      readonly isPerRequest?: boolean;
    },
  ) {
    this.#tools = tools;
    this.#send = send;
    this.#isPerRequest = isPerRequest;
  }

  /** Takes a message of the client. Answers are sent, also those to messages that are no requests of MCP. */
  receive(message: unknown): void {
    if (!isRecord(message) || this.#isClosed) return;
    const { id, method, params } = message;
    if (typeof method !== "string") return;
    const given = isRecord(params) ? params : {};
    if (typeof id !== "string" && typeof id !== "number") return this.#notice(method, given);
    const version = metaOf(given)[`${META}protocolVersion`];
    void this.#answer({ id, method, params: given, isStateless: version !== undefined }, version);
  }

  /** Cancels all calls; nothing is sent any more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#unsubscribe?.();
    this.#throttle.close();
    for (const ending of this.#open.values()) ending.abort();
    this.#open.clear();
    this.#listening.clear();
  }

  #notice(method: string, { requestId, reason }: Json): void {
    if (method === "notifications/initialized" && !this.#isPerRequest) {
      this.#hasBegun = true;
      this.#followList();
    }
    if (method !== "notifications/cancelled") return;
    const id = typeof requestId === "string" || typeof requestId === "number" ? requestId : "";
    this.#open.get(id)?.abort(
      new DOMException(`Cancelled by the client: ${reason ?? "no reason"}`, "AbortError"),
    );
    if (this.#listening.delete(id)) this.#open.delete(id);
  }

  async #answer(request: RpcRequest, version: unknown): Promise<void> {
    const { id } = request;
    const ending = new AbortController();
    try {
      if (this.#open.has(id)) {
        throw new RpcError(INVALID_REQUEST, `Cannot serve request "${id}": its id is in use`);
      }
      if (this.#open.size >= MAX_OPEN) {
        throw new RpcError(INTERNAL_ERROR, "Cannot serve the request: too many are open");
      }
      this.#open.set(id, ending);
      assertVersion(version);
      const result = await this.#serve(request, ending.signal);
      // A request that listens stays open, and one that was cancelled wants no answer.
      if (result !== undefined && !ending.signal.aborted) {
        this.#reply(id, { result: toResult(result, request) });
      }
    } catch (error) {
      if (!ending.signal.aborted) this.#reply(id, { error: toRpcError(error) });
    } finally {
      if (this.#open.get(id) === ending && !this.#listening.has(id)) this.#open.delete(id);
    }
  }

  async #serve(request: RpcRequest, signal: AbortSignal): Promise<Json | undefined> {
    const { id, method, params, isStateless } = request;
    switch (method) {
      case "initialize":
        return this.#introduce(params);
      case "server/discover":
        return {
          supportedVersions: [STATELESS_VERSION],
          capabilities: CAPABILITIES,
          instructions: INSTRUCTIONS,
          ...UNCACHED,
        };
      case "ping":
        return {};
      case "tools/list": {
        const tools = await this.#tools.list();
        return isStateless ? { tools, ...UNCACHED } : { tools: tools.map(toSessionTool) };
      }
      case "tools/call":
        return await this.#call(request, signal);
      case "subscriptions/listen":
        this.#listen(id, params);
        return undefined;
      default:
        throw new RpcError(METHOD_NOT_FOUND, `Cannot serve "${method}": only tools are served here`);
    }
  }

  #introduce({ protocolVersion }: Json): Json {
    return {
      protocolVersion: SESSION_VERSIONS.includes(protocolVersion) ? protocolVersion : SESSION_VERSIONS[0],
      capabilities: this.#isPerRequest ? { tools: {} } : CAPABILITIES,
      serverInfo: SERVER_INFO,
      instructions: INSTRUCTIONS,
    };
  }

  async #call({ params, isStateless }: RpcRequest, signal: AbortSignal): Promise<Json> {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string" || !isRecord(args)) {
      throw new RpcError(
        INVALID_PARAMS,
        'Cannot call the tool: "name" must be a text, and "arguments" an object',
      );
    }
    const { progressToken } = metaOf(params);
    const onProgress: ToolContext["onProgress"] = progressToken === undefined
      ? undefined
      : ({ message, ...progress }) => {
        const shown = message === undefined ? {} : { message: toBareLine(message) };
        this.#notify("notifications/progress", { progressToken, ...progress, ...shown });
      };
    const result = { ...await this.#tools.call(name, args, { signal, onProgress }) };
    return isStateless ? result : toSessionResult(result);
  }

  #listen(id: RequestId, { notifications }: Json): void {
    if (!isRecord(notifications)) {
      throw new RpcError(INVALID_PARAMS, 'Cannot listen: "notifications" must be an object');
    }
    const toolsListChanged = notifications["toolsListChanged"] === true;
    this.#notify("notifications/subscriptions/acknowledged", {
      notifications: toolsListChanged ? { toolsListChanged } : {},
      _meta: { [SUBSCRIPTION_ID]: id },
    });
    if (!toolsListChanged) return;
    this.#listening.add(id);
    this.#followList();
  }

  #followList(): void {
    this.#unsubscribe ??= this.#tools.onListChanged(() => this.#throttle.request());
  }

  #tellListChanged(): void {
    if (this.#hasBegun) this.#notify(LIST_CHANGED, {});
    for (const id of this.#listening) this.#notify(LIST_CHANGED, { _meta: { [SUBSCRIPTION_ID]: id } });
  }

  #notify(method: string, params: Json): void {
    if (!this.#isClosed) this.#send({ jsonrpc: "2.0", method, params });
  }

  #reply(id: RequestId, answer: Json): void {
    if (!this.#isClosed) this.#send({ jsonrpc: "2.0", id, ...answer });
  }
}

const CAPABILITIES = { tools: { listChanged: true } };
/** Lists change when they like, and differ by client. */
const UNCACHED = { ttlMs: 0, cacheScope: "private" };

function metaOf({ _meta: meta }: Json): Json {
  return isRecord(meta) ? meta : {};
}

function assertVersion(version: unknown): void {
  if (version === undefined || version === STATELESS_VERSION) return;
  throw new RpcError(UNSUPPORTED_VERSION, `Cannot speak MCP ${version}`, {
    supported: [STATELESS_VERSION],
    requested: version,
  });
}

/** Each result of 2026-07-28 says that it is one, and whose. */
function toResult(result: Json, { isStateless, method }: RpcRequest): Json {
  if (!isStateless && method !== "server/discover") return result;
  return {
    resultType: "complete",
    ...result,
    _meta: { ...metaOf(result), [`${META}serverInfo`]: SERVER_INFO },
  };
}

function toRpcError(error: unknown): Json {
  if (!(error instanceof RpcError)) return { code: INTERNAL_ERROR, message: describeError(error) };
  const { code, message, data } = error;
  return { code, message, ...(data === undefined ? {} : { data }) };
}

/** Clients of 2025 refuse a whole list for one output schema that is not of an object. */
function toSessionTool({ outputSchema, ...tool }: McpTool): Json {
  return { ...tool, ...(outputSchema?.["type"] === "object" ? { outputSchema } : {}) };
}

/** Clients of 2025 refuse structured content that is not an object. */
function toSessionResult({ structuredContent, ...result }: Json): Json {
  return { ...result, ...(isRecord(structuredContent) ? { structuredContent } : {}) };
}
