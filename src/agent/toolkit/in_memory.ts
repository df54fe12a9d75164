/** Ways into the MCP server of a toolkit that need no socket: a transport, and a `fetch` for clients that know only URLs. */
import { isRecord } from "../../json/json.ts";
import type { Json } from "./mcp.ts";
import { RpcSession, type RpcTools } from "./rpc_session.ts";

/**
 * A transport for one client of the MCP SDKs, 1.x and 2.x: `client.connect(kit.transport())`. Messages are copied, so
 * that a client may modify what it gets.
 */
export class ToolkitTransport {
  /** Called when the transport is closed, by either side. */
  onclose?: () => void;
  /** Never called: nothing in memory fails. */
  onerror?: (error: Error) => void;
  /** Called with each message for the client. */
  onmessage?: (message: unknown) => void;
  readonly #session: RpcSession;
  readonly #onEnd: (transport: ToolkitTransport) => void;
  #isClosed = false;

  /** Use {@linkcode Toolkit.transport}. */
  constructor(tools: RpcTools, onEnd: (transport: ToolkitTransport) => void) {
    this.#onEnd = onEnd;
    this.#session = new RpcSession(tools, { send: (message) => this.#deliver(message) });
  }

  /** Resolves at once. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /**
   * Takes a message of the client.
   *
   * @throws {TypeError} after {@linkcode close}.
   */
  send(message: unknown): Promise<void> {
    if (this.#isClosed) return Promise.reject(new TypeError("Cannot send: the transport is closed"));
    this.#session.receive(structuredClone(message));
    return Promise.resolve();
  }

  /** Cancels the calls of the client. Idempotent. */
  close(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#isClosed = true;
    this.#session.close();
    this.#onEnd(this);
    this.onclose?.();
    return Promise.resolve();
  }

  /** A client expects no message while it sends one. */
  #deliver(message: Json): void {
    const copy: unknown = structuredClone(message);
    queueMicrotask(() => {
      if (!this.#isClosed) this.onmessage?.(copy);
    });
  }
}

/**
 * Answers the requests of an MCP client over Streamable HTTP, each by itself: there is no session.
 *
 * @throws the reason of the request's signal when it is aborted before the answer begins.
 */
export async function serveFetch(tools: RpcTools, request: Request): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  const message = await request.json().catch(() => undefined) as unknown;
  request.signal.throwIfAborted();
  if (!isRequest(message)) return new Response(null, { status: message === undefined ? 400 : 202 });
  const stream = toEventStream(tools, message, request.signal);
  return new Response(stream, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}

interface IdentifiedMessage {
  readonly id: string | number;
  readonly method: string;
}

/** What has an id but no method answers a question, and nothing is asked here. */
function isRequest(message: unknown): message is IdentifiedMessage {
  if (!isRecord(message) || typeof message["method"] !== "string") return false;
  return typeof message["id"] === "string" || typeof message["id"] === "number";
}

/** The events of one request, up to its answer. */
function toEventStream(
  tools: RpcTools,
  message: IdentifiedMessage,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  return new ReadableStream({
    start(controller) {
      const session = new RpcSession(tools, {
        isPerRequest: true,
        send(sent) {
          controller.enqueue(encoder.encode(`event: message\ndata: ${JSON.stringify(sent)}\n\n`));
          if (sent["id"] !== message.id) return;
          controller.close();
          ending.abort();
        },
      });
      ended.addEventListener("abort", () => session.close(), { once: true });
      signal.addEventListener("abort", () => controller.error(signal.reason), {
        once: true,
        signal: ending.signal,
      });
      session.receive(message);
    },
    cancel: () => ending.abort(),
  });
}
