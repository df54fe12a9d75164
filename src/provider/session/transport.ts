/**
 * Intercepts requests between the transport and the SDK's server. `McpServer` has no public way to extend its handlers:
 * it sets them when the first resource is registered, fails when other handlers are set, and does not return a handler
 * that is set. But it accepts any transport, an object with `start`, `send` and `close`. So this kit wraps the
 * transport: it answers the methods that it implements, passes all other messages on, and calls the SDK's own handler
 * when an answer needs both. Resources that the author registers with the SDK keep working. URIs are used as the client
 * sent them, while the SDK changes them with `new URL()`.
 */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport";
import type { JSONRPCMessage, MessageExtraInfo, RequestId } from "@modelcontextprotocol/sdk/types";
import { continueTrace, loadTracing } from "../../tracing.ts";
import {
  type Exchange,
  isRequest,
  readErrorBody,
  type RpcErrorBody,
  type RpcHandler,
  type RpcRequest,
  type RpcResult,
  toErrorBody,
} from "./json_rpc.ts";

/** Handles the messages of one session. */
export interface Interceptor {
  /** The function that answers requests of this method; `undefined` leaves them to the SDK. */
  answerTo(method: string): RpcHandler | undefined;
  /** Called when the session begins. */
  onOpen(): void;
  /** Called when the client has sent `notifications/initialized`. */
  onInitialized(): void;
  /** Called with an error of the author's callbacks that is not sent to the client. */
  onFailure(error: Error, request: RpcRequest): void;
  /** Called when the session has ended. */
  onClose(): void;
}

/** A request to the SDK's own handler that waits for its answer. */
interface Waiter {
  readonly resolve: (result: RpcResult) => void;
  readonly reject: (error: unknown) => void;
}

/** The wrapper that the SDK uses as its transport. */
export class InterceptedTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #inner: Transport;
  readonly #interceptor: Interceptor;
  readonly #running = new Map<RequestId, AbortController>();
  readonly #waiting = new Map<RequestId, Waiter>();

  constructor(inner: Transport, interceptor: Interceptor) {
    this.#inner = inner;
    this.#interceptor = interceptor;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    // Callbacks that were set before still have to be called, as the SDK does.
    const { onmessage, onclose, onerror } = this.#inner;
    this.#inner.onmessage = (message, extra) => {
      onmessage?.(message, extra);
      const meta = "method" in message ? message.params?._meta : undefined;
      continueTrace(meta, () => this.#receive(message, extra));
    };
    this.#inner.onclose = () => {
      onclose?.();
      this.#end();
    };
    this.#inner.onerror = (error) => {
      onerror?.(error);
      this.onerror?.(error);
    };
    this.#interceptor.onOpen();
    await loadTracing();
    try {
      await this.#inner.start();
    } catch (error) {
      this.#interceptor.onClose();
      throw error;
    }
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const waiter = "method" in message || message.id === undefined
      ? undefined
      : this.#waiting.get(message.id);
    if (waiter === undefined) return await this.#inner.send(message, options);
    if ("result" in message) waiter.resolve(message.result);
    else if ("error" in message) waiter.reject(readErrorBody(message.error));
  }

  async close(): Promise<void> {
    await this.#inner.close();
  }

  /** Passes an error that is not sent to the client to the server's `onerror`. */
  report(error: unknown): void {
    try {
      this.onerror?.(toError(error));
    } catch (thrown) {
      // Otherwise the request would get no answer, and the process might exit.
      console.error("onerror threw an error:", thrown);
    }
  }

  #fail(error: unknown, request: RpcRequest): void {
    this.report(error);
    this.#interceptor.onFailure(toError(error), request);
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isRequest(message)) {
      const answer = this.#interceptor.answerTo(message.method);
      if (answer !== undefined) {
        this.#respond(message, extra, answer).catch((error) => this.report(error));
        return;
      }
    } else if ("method" in message && message.method === "notifications/initialized") {
      this.#interceptor.onInitialized();
    } else if ("method" in message && message.method === "notifications/cancelled") {
      this.#cancel(message.params?.["requestId"]);
    }
    this.onmessage?.(message, extra);
  }

  async #respond(
    request: RpcRequest,
    extra: MessageExtraInfo | undefined,
    answer: RpcHandler,
  ): Promise<void> {
    const { id, jsonrpc } = request;
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, controller);
    try {
      const fail = (error: unknown) => this.#fail(error, request);
      const outcome = await answerOrError(this.#exchange(request, extra, { signal, fail }), answer);
      // A client that cancelled the request expects no answer.
      if (!signal.aborted) await this.#inner.send({ jsonrpc, id, ...outcome });
    } finally {
      this.#waiting.delete(id);
      if (this.#running.get(id) === controller) this.#running.delete(id);
    }
  }

  #exchange(
    request: RpcRequest,
    extra: MessageExtraInfo | undefined,
    { signal, fail }: { readonly signal: AbortSignal; readonly fail: (error: unknown) => void },
  ): Exchange {
    return {
      params: request.params ?? {},
      request: { signal, sessionId: this.sessionId, authInfo: extra?.authInfo },
      report: fail,
      next: async (params) => {
        const { promise, resolve, reject } = Promise.withResolvers<RpcResult>();
        signal.throwIfAborted();
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        this.#waiting.set(request.id, { resolve, reject });
        this.onmessage?.(params === undefined ? request : { ...request, params }, extra);
        return await promise;
      },
    };
  }

  #cancel(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#running.get(id)?.abort();
  }

  #end(): void {
    for (const controller of this.#running.values()) controller.abort();
    this.#interceptor.onClose();
    this.onclose?.();
  }
}

async function answerOrError(
  exchange: Exchange,
  answer: RpcHandler,
): Promise<{ result: RpcResult } | { error: RpcErrorBody }> {
  try {
    return { result: await answer(exchange) };
  } catch (error) {
    const { body, isForeign } = toErrorBody(error);
    if (isForeign && !exchange.request.signal.aborted) exchange.report(error);
    return { error: body };
  }
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new TypeError(`Cannot serve a client: ${error}`, { cause: error });
}
