/**
 * Intercepts requests between the transport and the SDK's server. `McpServer` has no public way to extend its handlers:
 * it sets them when the first resource is registered, fails when other handlers are set, and does not return a handler
 * that is set. But it accepts any transport, an object with `start`, `send` and `close`. So this kit puts itself into
 * the transport: it answers the methods that it implements, passes all other messages on, and calls the SDK's own
 * handler when an answer needs both. Resources that the author registers with the SDK keep working. URIs are used as
 * the client sent them, while the SDK changes them with `new URL()`.
 *
 * The transport stays the object that it is, since version 2 of the SDK asks of which class it is.
 */
import { type RequestId, type RpcErrorBody, ServedRequests } from "../../protocol/mcp.ts";
import { continueTrace, loadTracing } from "../../tracing.ts";
import type { Answerer } from "./answerer.ts";
import type { Session } from "./session.ts";
import {
  type Exchange,
  isRequest,
  readErrorBody,
  type RpcHandler,
  type RpcMessage,
  type RpcRequest,
  type RpcResult,
  toErrorBody,
} from "./json_rpc.ts";

/** What a transport of the SDK tells about a message besides it. */
export interface MessageExtra {
  /** Who sent the message, according to the transport's authentication. */
  readonly authInfo?: unknown;
}

/** The SDK's `Transport`, as our own type, which any copy and version of the SDK matches. */
export interface SdkTransport {
  readonly sessionId?: string | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: RpcMessage, extra?: MessageExtra) => void) | undefined;
  start(): Promise<void>;
  send(message: RpcMessage, options?: unknown): Promise<void>;
}

/** One client of the transport. */
export interface ServedClient {
  readonly session: Session;
  readonly answerTo: Answerer;
}

export interface Interceptor {
  /** Called when the transport starts. */
  onOpen(): ServedClient;
  /** Called with an error of the author's callbacks that is not sent to the client. */
  onFailure(error: Error, request: RpcRequest): void;
  onClose(session: Session): void;
}

/** A request to the SDK's own handler that waits for its answer. */
interface Waiter {
  readonly resolve: (result: RpcResult) => void;
  readonly reject: (error: unknown) => void;
}

export class Interception {
  readonly #transport: SdkTransport;
  readonly #interceptor: Interceptor;
  readonly #served = new ServedRequests();
  readonly #waiting = new Map<RequestId, Waiter>();
  /** The transport's own ways to start and to send, or those of another provider that came before. */
  readonly #start: () => Promise<void>;
  readonly #send: SdkTransport["send"];
  /** Set by the author before the server is connected. */
  readonly #before: SdkTransport["onmessage"];
  /** Set by the SDK when the server is connected. */
  #sdk: Pick<SdkTransport, "onmessage" | "onerror"> = {};
  #client: ServedClient | undefined;
  #hasEnded = false;

  /** Comes into a transport that the SDK is about to start. */
  constructor(transport: SdkTransport, interceptor: Interceptor) {
    this.#transport = transport;
    this.#interceptor = interceptor;
    this.#start = transport.start.bind(transport);
    this.#send = transport.send.bind(transport);
    this.#before = transport.onmessage;
    // Who listened before is called from here, also for messages that the SDK never sees.
    transport.onmessage = undefined;
    transport.start = () => this.#open();
    transport.send = (message, options) => this.#sendFromSdk(message, options);
  }

  /** Sends a message past the SDK. */
  async send(message: RpcMessage): Promise<void> {
    await this.#send(message);
  }

  /** Ends the session: the transport is closed, or the server could not be connected to it. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#served.end(new DOMException("The session has ended", "AbortError"));
    const { session } = this.#client ?? {};
    session?.close();
    if (session !== undefined) this.#interceptor.onClose(session);
  }

  /** Passes an error that is not sent to the client to the server's `onerror`. */
  report(error: unknown): void {
    try {
      this.#sdk.onerror?.(toError(error));
    } catch (thrown) {
      // Otherwise the request would get no answer, and the process might exit.
      console.error("onerror threw an error:", thrown);
    }
  }

  async #open(): Promise<void> {
    // Whoever starts the transport again has come in anew.
    if (this.#hasEnded) return await this.#start();
    const transport = this.#transport;
    const { onmessage, onclose, onerror } = transport;
    this.#sdk = { onmessage, onerror };
    transport.onmessage = (message, extra) => {
      this.#before?.(message, extra);
      continueTrace(message.params?.["_meta"], () => this.#receive(message, extra));
    };
    transport.onclose = () => {
      this.end();
      onclose?.();
    };
    this.#client = this.#interceptor.onOpen();
    await loadTracing();
    await this.#start();
  }

  async #sendFromSdk(message: RpcMessage, options: unknown): Promise<void> {
    const waiter = message.method !== undefined || message.id === undefined || message.id === null
      ? undefined
      : this.#waiting.get(message.id);
    if (waiter === undefined) return await this.#send(message, options);
    if (message.result !== undefined) waiter.resolve(message.result);
    else waiter.reject(readErrorBody(message.error));
  }

  #fail(error: unknown, request: RpcRequest): void {
    this.report(error);
    this.#interceptor.onFailure(toError(error), request);
  }

  #receive(message: RpcMessage, extra: MessageExtra | undefined): void {
    if (this.#hasEnded) return;
    if (isRequest(message)) {
      const answer = this.#client?.answerTo(message);
      if (answer !== undefined) {
        this.#respond(message, extra, answer).catch((error) => this.report(error));
        return;
      }
    } else if (message.method === "notifications/initialized") {
      this.#client?.session.markInitialized();
    } else if (message.method === "notifications/cancelled") {
      this.#served.cancel(
        message.params?.["requestId"],
        new DOMException("Cancelled by the client", "AbortError"),
      );
    }
    this.#sdk.onmessage?.(message, extra);
  }

  async #respond(
    request: RpcRequest,
    extra: MessageExtra | undefined,
    answer: RpcHandler,
  ): Promise<void> {
    const { id, jsonrpc } = request;
    const fail = (error: unknown) => this.#fail(error, request);
    try {
      const outcome = await this.#served.serve(
        id,
        (signal) => answerOrError(this.#exchange(request, extra, { signal, fail }), answer),
      );
      if (outcome !== undefined) await this.#send({ jsonrpc, id, ...outcome });
    } finally {
      this.#waiting.delete(id);
    }
  }

  #exchange(
    request: RpcRequest,
    extra: MessageExtra | undefined,
    { signal, fail }: { readonly signal: AbortSignal; readonly fail: (error: unknown) => void },
  ): Exchange {
    return {
      params: request.params ?? {},
      request: { signal, sessionId: this.#transport.sessionId, authInfo: extra?.authInfo },
      report: fail,
      next: async (params) => {
        const { promise, resolve, reject } = Promise.withResolvers<RpcResult>();
        signal.throwIfAborted();
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        this.#waiting.set(request.id, { resolve, reject });
        this.#sdk.onmessage?.(params === undefined ? request : { ...request, params }, extra);
        return await promise;
      },
    };
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

export function toError(error: unknown): Error {
  return error instanceof Error ? error : new TypeError(`Cannot serve a client: ${error}`, { cause: error });
}
