/** The tools of an office as an MCP server in memory: by a transport, and by a `fetch` for clients that know only URLs. */
import type {
  HandlerResultTypeMap,
  InMemoryTransport,
  McpHttpHandler,
  McpRequestContext,
  Server,
  ServerContext,
} from "@modelcontextprotocol/server";
import { Throttle } from "../../async/throttle.ts";
import type { CallProgress } from "../../protocol/progress.ts";
import { toBareLine } from "../../text/safe_text.ts";
import { PACKAGE_VERSION } from "../../version.ts";
import type { Json, McpTool, McpToolResult } from "../../local_tools/mcp.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import type { ToolContext } from "./tool_context.ts";
import { A2C_COMPUTER } from "./tool_definition.ts";

const INSTRUCTIONS = "The tools of the Computers of an office: machines of people, which may come and go.";
/** How often a client is told that a list has changed, in milliseconds: a Computer that joins changes it several times. */
export const LIST_CHANGED_INTERVAL_MS = 200;

export interface ServedTools {
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

/** The SDK is loaded by the first client that needs it. */
async function loadSdk() {
  const [server, stdio] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  return { ...server, ...stdio };
}

/**
 * A transport for one client of the MCP SDKs, 1.x and 2.x: `client.connect(kit.transport())`. Messages are copied, so
 * that a client may modify what it gets.
 */
export class ToolkitTransport {
  /** Called when the transport is closed, by either side. */
  onclose?: () => void;
  /** Called with what the client has sent and the server cannot read. */
  onerror?: (error: Error) => void;
  /** Called with each message for the client. */
  onmessage?: (message: unknown) => void;
  readonly #tools: ServedTools;
  readonly #onEnd: (transport: ToolkitTransport) => void;
  #inner: InMemoryTransport | undefined;
  #isClosed = false;

  /** @internal Use {@linkcode Toolkit.transport}. */
  constructor(tools: ServedTools, onEnd: (transport: ToolkitTransport) => void) {
    this.#tools = tools;
    this.#onEnd = onEnd;
  }

  /** Resolves when the server is there. */
  async start(): Promise<void> {
    const { InMemoryTransport, Server, serveStdio } = await loadSdk();
    if (this.#isClosed) return;
    const [inner, served] = InMemoryTransport.createLinkedPair();
    inner.onmessage = (message) => this.onmessage?.(structuredClone(message));
    inner.onclose = () => void this.close();
    this.#inner = inner;
    await inner.start();
    serveStdio(() => followList(makeServer(Server, this.#tools), this.#tools), {
      transport: served,
      onerror: (error) => this.onerror?.(error),
    });
  }

  /**
   * Takes a message of the client.
   *
   * @throws {TypeError} before {@linkcode start} and after {@linkcode ToolkitTransport.close}.
   */
  async send(message: unknown): Promise<void> {
    if (this.#inner === undefined) throw new TypeError("Cannot send: the transport is closed");
    await this.#inner.send(structuredClone(message) as Parameters<InMemoryTransport["send"]>[0]);
  }

  /** Cancels the calls of the client. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const inner = this.#inner;
    this.#inner = undefined;
    await inner?.close();
    this.#onEnd(this);
    this.onclose?.();
  }
}

/** Answers the requests of clients over Streamable HTTP, each by itself: there is no session. */
export async function makeHandler(tools: ServedTools): Promise<Pick<McpHttpHandler, "fetch"> & Disposable> {
  const { createMcpHandler, Server } = await loadSdk();
  const handler = createMcpHandler(({ era }) => makeServer(Server, tools, era), {
    responseMode: "sse",
    // What is sent is in the memory of this process already.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  });
  const unfollow = onListChanged(tools, () => handler.notify.toolsChanged());
  return {
    async fetch(request) {
      request.signal.throwIfAborted();
      return await handler.fetch(request);
    },
    [Symbol.dispose]() {
      unfollow();
      void handler.close();
    },
  };
}

/** A server for one client of either era, or for one request. A client of 2025 without a session is told nothing unasked. */
function makeServer(
  SdkServer: typeof Server,
  { list, call }: ServedTools,
  era: McpRequestContext["era"] = "modern",
): Server {
  const info = { name: "a2c-smcp", title: "A2C-SMCP office", version: PACKAGE_VERSION };
  const tools = era === "modern" ? { listChanged: true } : {};
  const server = new SdkServer(info, { capabilities: { tools }, instructions: INSTRUCTIONS });
  server.setRequestHandler("tools/list", async () => {
    return { tools: await list() } as HandlerResultTypeMap["tools/list"];
  });
  server.setRequestHandler("tools/call", async ({ params: { name, arguments: args = {} } }, context) => {
    const { signal } = context.mcpReq;
    const schema = (await list()).find((tool) => tool.name === name)?.outputSchema;
    const result = await call(name, args, { signal, onProgress: reporterOf(context) });
    return toSdkResult(server, withoutSource(result), schema);
  });
  return server;
}

/** The list of tools says where a tool runs. Some toolkits give a result with metadata to the model as JSON in place of its text. */
function withoutSource({ _meta = {}, ...result }: McpToolResult): McpToolResult {
  const { [A2C_COMPUTER]: _computer, [A2C_MCP_SERVER]: _server, ...rest } = _meta;
  return Object.keys(rest).length === 0 ? result : { ...result, _meta: rest };
}

type CallResult = HandlerResultTypeMap["tools/call"];

/** The SDK's own types spell out each kind of content; it checks the result before it is sent. */
export function toSdkResult(server: Server, result: object, outputSchema: Json | undefined): CallResult {
  // A result that requires input has none.
  if (!("content" in result)) return result as CallResult;
  return server.projectCallToolResult(result as Parameters<Server["projectCallToolResult"]>[0], outputSchema);
}

/** Sends the client the progress that it asked for. */
export function reporterOf({ mcpReq }: ServerContext): ((progress: CallProgress) => void) | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return ({ progress, total, message }) => {
    const shown = message === undefined ? undefined : toBareLine(message);
    const params = { progressToken, progress, total, message: shown };
    // A client that is gone needs no progress.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}

function followList(server: Server, tools: ServedTools): Server {
  const unfollow = onListChanged(tools, () => {
    // A client that is gone, or has not begun, needs no news.
    if (server.transport !== undefined) server.sendToolListChanged().catch(() => undefined);
  });
  server.onclose = unfollow;
  return server;
}

function onListChanged(tools: ServedTools, tell: () => void): () => void {
  const throttle = new Throttle(tell, LIST_CHANGED_INTERVAL_MS);
  const unfollow = tools.onListChanged(() => throttle.request());
  return () => {
    unfollow();
    throttle.close();
  };
}
