/** JSON-RPC with one MCP server: requests with their answers, and what the server sends unasked, which is metered. */
import { MAX_TIMER_MS } from "../async/backoff.ts";
import { approximateSizeBytes } from "../protocol/size.ts";
import { describeError, shorten } from "../text.ts";
import type { RequestLimits } from "./call_options.ts";
import { RpcErrorCode, ServerAnswerError, ServerTimeoutError } from "./errors.ts";
import type { Inflow } from "./inflow.ts";
import {
  isRequestId,
  type RequestId,
  type RpcFailure,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResult,
  type SendOptions,
  type Transport,
} from "./json_rpc.ts";
import { REQUEST_WEIGHT } from "./limits.ts";

/** The length to which a server's error message is cut, in characters; it is masked and cut further before it is sent. */
const MAX_ERROR_LENGTH = 65_536;

/** A result, unchecked beyond being an object. */
export type Result = Record<string, unknown>;

/** A request to send. */
export interface OutgoingRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** The options of one request. */
export interface OutgoingOptions extends RequestLimits {
  /** Further headers of its HTTP request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Receives what a server sends unasked. */
export interface PeerListener {
  onNotification(notification: RpcNotification): void;
  /**
   * Answers a request of the server. A {@linkcode ServerAnswerError} is sent as it is, any other error as an internal one.
   *
   * @param options The signal is aborted when the server cancels its request, or the session ends.
   */
  onRequest(request: RpcRequest, options: { readonly signal: AbortSignal }): Promise<Result>;
  onClose(): void;
  onError(error: Error): void;
}

/** A request that waits for its answer. */
interface Pending {
  readonly method: string;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** The options of a peer. */
export interface PeerOptions {
  readonly inflow: Inflow;
  readonly listener: PeerListener;
}

/** One side of a JSON-RPC session: ours. Answers that no request waits for are dropped. */
export class RpcPeer {
  readonly #transport: Transport;
  readonly #inflow: Inflow;
  readonly #listener: PeerListener;
  readonly #pending = new Map<RequestId, Pending>();
  /** The requests of the server that are being answered. */
  readonly #serving = new Map<RequestId, AbortController>();
  #nextId = 0;

  constructor(transport: Transport, { inflow, listener }: PeerOptions) {
    this.#transport = transport;
    this.#inflow = inflow;
    this.#listener = listener;
  }

  /** Opens the transport. */
  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onclose = () => {
      this.#inflow.close();
      this.#listener.onClose();
    };
    transport.onerror = (error) => {
      this.#inflow.take(0);
      this.#listener.onError(error);
    };
    transport.onmessage = (message) => this.#receive(message);
    await transport.start();
  }

  /** Tells the transport the version that was agreed on. */
  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }

  /**
   * Sends a request and waits for its result.
   *
   * @throws {ServerAnswerError} when the server answers with an error.
   * @throws {ServerTimeoutError} when it does not answer in time. The request is then cancelled, as after an abort.
   */
  async request({ method, params }: OutgoingRequest, options: OutgoingOptions): Promise<Result> {
    const { timeoutMs, signal } = options;
    signal?.throwIfAborted();
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#pending.set(id, { method, resolve, reject });
    const giveUp = (reason: unknown) => {
      if (this.#pending.has(id)) this.#cancel(id, { method, reason });
      reject(reason);
    };
    const onAbort = () => giveUp(signal?.reason);
    const onTimeout = () => giveUp(new ServerTimeoutError(`Cannot complete "${method}": no answer in time`));
    const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const request: RpcRequest = { method, params, jsonrpc: "2.0", id };
      this.#transport.send(request, toSendOptions(options)).catch(reject);
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.#pending.delete(id);
    }
  }

  /** Sends a notification. */
  async notify(method: string, params?: Record<string, unknown>): Promise<void> {
    await this.#transport.send({ method, ...(params && { params }), jsonrpc: "2.0" });
  }

  /** Fails a request that still waits for its answer. */
  fail(id: unknown, reason: Error): void {
    if (isRequestId(id)) this.#take(id)?.reject(reason);
  }

  /** Fails all requests that wait, and gives up those of the server. */
  failAll(reason: Error): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    for (const serving of this.#serving.values()) serving.abort(reason);
    this.#serving.clear();
  }

  #cancel(id: RequestId, { method, reason }: { readonly method: string; readonly reason: unknown }): void {
    this.#pending.delete(id);
    // The handshake cannot be cancelled.
    if (method === "initialize") return;
    this.notify("notifications/cancelled", { requestId: id, reason: describeError(reason) })
      .catch((error) => this.#listener.onError(error));
  }

  #receive(message: RpcMessage): void {
    if (!("method" in message)) {
      const pending = this.#take(message.id);
      if (pending === undefined) this.#inflow.take(approximateSizeBytes(message));
      else if ("error" in message) pending.reject(toAnswerError(message));
      else pending.resolve(message.result);
      return;
    }
    const isRequest = "id" in message && message.id !== undefined;
    this.#inflow.take(approximateSizeBytes(message), isRequest ? REQUEST_WEIGHT : 1);
    if (isRequest) void this.#serve(message);
    else this.#hear(message);
  }

  #hear(notification: RpcNotification): void {
    const { method, params = {} } = notification;
    if (method === "notifications/cancelled") {
      const id = params["requestId"];
      if (isRequestId(id)) this.#serving.get(id)?.abort(new TypeError("Cancelled by the MCP server"));
    }
    this.#listener.onNotification(notification);
  }

  /** Answers a request of the server, unless it was cancelled. */
  async #serve(request: RpcRequest): Promise<void> {
    const { id } = request;
    const serving = new AbortController();
    this.#serving.set(id, serving);
    const answer = await this.#listener.onRequest(request, { signal: serving.signal }).then(
      (result): RpcResult => ({ jsonrpc: "2.0", id, result }),
      (error): RpcFailure => ({ jsonrpc: "2.0", id, error: toErrorBody(error) }),
    );
    if (this.#serving.get(id) === serving) this.#serving.delete(id);
    if (serving.signal.aborted) return;
    await this.#inflow.answering(this.#transport.send(answer)).catch((error) =>
      this.#listener.onError(error)
    );
  }

  #take(id: RequestId | undefined): Pending | undefined {
    if (id === undefined) return undefined;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

function toSendOptions({ headers }: OutgoingOptions): SendOptions {
  return headers === undefined ? {} : { headers };
}

function toAnswerError({ error }: RpcFailure): ServerAnswerError {
  const { code, message, data } = error;
  return new ServerAnswerError(code, shorten(message, MAX_ERROR_LENGTH), { data });
}

function toErrorBody(error: unknown): RpcFailure["error"] {
  if (!(error instanceof ServerAnswerError)) {
    return { code: RpcErrorCode.INTERNAL_ERROR, message: "Internal error" };
  }
  return { code: error.rpcCode, message: error.message };
}
