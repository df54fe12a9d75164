/** A small MCP server of the tools of an office: both eras of MCP, over any channel of JSON-RPC messages. */
import { untilAborted } from "../../async/abortable.ts";
import { Throttle } from "../../async/throttle.ts";
import { isRecord } from "../../json/json.ts";
import {
  type RequestId,
  RpcError,
  type RpcErrorBody,
  RpcErrorCode,
  ServedRequests,
  SESSION_VERSIONS,
  STATELESS_VERSION,
} from "../../protocol/mcp.ts";
import { toBareLine } from "../../text/safe_text.ts";
import { describeError } from "../../text/text.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import type { ToolContext } from "./local_tool.ts";
import type { Json, McpTool, McpToolResult } from "./mcp.ts";

const META = "io.modelcontextprotocol/";
const SUBSCRIPTION_ID = `${META}subscriptionId`;
const LIST_CHANGED = "notifications/tools/list_changed";
/** How often a client is told that the list has changed, in milliseconds. */
const LIST_CHANGED_INTERVAL_MS = 200;
const MAX_OPEN = 1_000;

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

interface RpcRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly params: Json;
  readonly isStateless: boolean;
}

export class RpcSession {
  readonly #tools: RpcTools;
  readonly #send: (message: Json) => void;
  readonly #isPerRequest: boolean;
  readonly #served = new ServedRequests();
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
    this.#served.end(new DOMException("The session has ended", "AbortError"));
  }

  #notice(method: string, { requestId, reason }: Json): void {
    if (method === "notifications/initialized" && !this.#isPerRequest) {
      this.#hasBegun = true;
      this.#followList();
    }
    if (method !== "notifications/cancelled") return;
    const words = `Cancelled by the client: ${reason ?? "no reason"}`;
    this.#served.cancel(requestId, new DOMException(words, "AbortError"));
  }

  async #answer(request: RpcRequest, version: unknown): Promise<void> {
    const { id } = request;
    if (this.#served.has(id)) {
      return this.#refuse(id, RpcErrorCode.INVALID_REQUEST, `Cannot serve request "${id}": its id is in use`);
    }
    if (this.#served.size >= MAX_OPEN) {
      return this.#refuse(id, RpcErrorCode.INTERNAL_ERROR, "Cannot serve the request: too many are open");
    }
    const answer = await this.#served.serve(id, async (signal) => {
      try {
        assertVersion(version);
        return { result: toResult(await this.#serve(request, signal), request) };
      } catch (error) {
        return { error: toErrorBody(error) };
      }
    });
    if (answer !== undefined) this.#reply(id, answer);
  }

  #refuse(id: RequestId, code: number, message: string): void {
    this.#reply(id, { error: { code, message } });
  }

  async #serve(request: RpcRequest, signal: AbortSignal): Promise<Json> {
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
        return await this.#listen(id, { params, signal });
      default:
        throw new RpcError(
          RpcErrorCode.METHOD_NOT_FOUND,
          `Cannot serve "${method}": only tools are served here`,
        );
    }
  }

  #introduce({ protocolVersion }: Json): Json {
    return {
      protocolVersion: typeof protocolVersion === "string" && SESSION_VERSIONS.includes(protocolVersion)
        ? protocolVersion
        : SESSION_VERSIONS[0],
      capabilities: this.#isPerRequest ? { tools: {} } : CAPABILITIES,
      serverInfo: SERVER_INFO,
      instructions: INSTRUCTIONS,
    };
  }

  async #call({ params, isStateless }: RpcRequest, signal: AbortSignal): Promise<Json> {
    const { name, arguments: args = {} } = params;
    if (typeof name !== "string" || !isRecord(args)) {
      throw new RpcError(
        RpcErrorCode.INVALID_PARAMS,
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

  /** Ends when the client cancels the request: it stays open as long as the client listens. */
  async #listen(
    id: RequestId,
    { params: { notifications }, signal }: { readonly params: Json; readonly signal: AbortSignal },
  ): Promise<Json> {
    if (!isRecord(notifications)) {
      throw new RpcError(
        RpcErrorCode.INVALID_PARAMS,
        'Cannot listen: "notifications" must be an object',
      );
    }
    const toolsListChanged = notifications["toolsListChanged"] === true;
    this.#notify("notifications/subscriptions/acknowledged", {
      notifications: toolsListChanged ? { toolsListChanged } : {},
      _meta: { [SUBSCRIPTION_ID]: id },
    });
    if (toolsListChanged) {
      this.#listening.add(id);
      this.#followList();
    }
    await untilAborted(signal);
    this.#listening.delete(id);
    return {};
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
  throw new RpcError(RpcErrorCode.UNSUPPORTED_VERSION, `Cannot speak MCP ${version}`, {
    data: { supported: [STATELESS_VERSION], requested: version },
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

function toErrorBody(error: unknown): RpcErrorBody {
  if (error instanceof RpcError) return error.body;
  return { code: RpcErrorCode.INTERNAL_ERROR, message: describeError(error) };
}

/** Clients of 2025 refuse a whole list for one output schema that is not of an object. */
function toSessionTool({ outputSchema, ...tool }: McpTool): Json {
  return { ...tool, ...(outputSchema?.["type"] === "object" ? { outputSchema } : {}) };
}

/** Clients of 2025 refuse structured content that is not an object. */
function toSessionResult({ structuredContent, ...result }: Json): Json {
  return { ...result, ...(isRecord(structuredContent) ? { structuredContent } : {}) };
}
