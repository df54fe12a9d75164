/** JSON-RPC with one MCP server: requests with their answers, and what the server sends unasked, which is metered. */
import { onAbort } from "../async/abortable.ts";
import { MAX_TIMER_MS } from "../async/backoff.ts";
import { approximateSizeBytes, isRecord } from "../json/json.ts";
import { isRequestId, type RequestId, RpcError, RpcErrorCode, ServedRequests } from "../protocol/mcp.ts";
import { describeError, shorten } from "../text/text.ts";
import type { RequestLimits } from "./call_options.ts";
import { ServerAnswerError, ServerNotRunningError, ServerTimeoutError } from "./errors.ts";
import type {
  Inflow,
  RpcFailure,
  RpcMessage,
  RpcNotification,
  RpcRequest,
  RpcResult,
  Transport,
} from "./json_rpc.ts";
import { REQUEST_WEIGHT } from "./limits.ts";

/** The length to which a server's error message is cut, in characters; it is masked and cut further before it is sent. */
const MAX_ERROR_LENGTH = 65_536;

/** A result, unchecked beyond being an object. */
export type Result = Record<string, unknown>;

export interface OutgoingRequest {
  readonly method: string;
  readonly params: Record<string, unknown>;
}

export interface OutgoingOptions extends RequestLimits {
  readonly onId?: ((id: RequestId) => void) | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Receives what a server sends unasked. */
export interface PeerListener {
  onNotification(notification: RpcNotification): void;
  /**
   * Answers a request of the server. An {@linkcode RpcError} is sent as it is, any other error as an internal one.
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
  readonly result: Promise<Result>;
  /** Closes the stream of its answer, where it has one of its own. */
  readonly stream: AbortController | undefined;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

export interface PeerOptions {
  readonly inflow: Inflow;
  readonly listener: PeerListener;
}

/** One side of a JSON-RPC session: ours. Answers that no request waits for are dropped. */
export class RpcPeer {
  readonly #transport: Transport;
  readonly #inflow: Inflow;
  readonly #listener: PeerListener;
  readonly #pending = new Map<number, Pending>();
  /** The requests of the server that are being answered. */
  readonly #served = new ServedRequests();
  /** What goes with each message of a version without sessions. */
  #envelope: Readonly<Record<string, unknown>> | undefined;
  #nextId = 0;

  constructor(transport: Transport, { inflow, listener }: PeerOptions) {
    this.#transport = transport;
    this.#inflow = inflow;
    this.#listener = listener;
  }

  async start(): Promise<void> {
    const transport = this.#transport;
    transport.onclose = () => {
      this.#inflow.close();
      this.#listener.onClose();
    };
    transport.onmessage = (message) => this.receive(message);
    await transport.start();
  }

  /** Tells the transport the version that was agreed on. */
  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion?.(version);
  }

  /**
   * Speaks a version without sessions from now on: `meta` goes with each message, the server may not ask, and to close the
   * stream of an answer is to cancel its request. `undefined` ends that.
   */
  goStateless(meta: Readonly<Record<string, unknown>> | undefined): void {
    this.#envelope = meta;
  }

  /**
   * Sends a request and waits for its result.
   *
   * @throws {ServerAnswerError} when the server answers with an error.
   * @throws {ServerTimeoutError} when it does not answer in time. The request is then cancelled, as after an abort.
   */
  async request(request: OutgoingRequest, options: OutgoingOptions): Promise<Result> {
    return await this.open(request, options).result;
  }

  /** Like {@linkcode RpcPeer.request}, for those who need the id of a request that goes on. */
  open(
    request: OutgoingRequest,
    options: OutgoingOptions,
  ): { readonly id: number; readonly result: Promise<Result> } {
    const id = this.#nextId++;
    options.onId?.(id);
    return { id, result: this.#request(id, request, options) };
  }

  async #request(
    id: number,
    { method, params }: OutgoingRequest,
    options: OutgoingOptions,
  ): Promise<Result> {
    const { timeoutMs, signal, headers } = options;
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const stream = this.#opensStream ? new AbortController() : undefined;
    this.#pending.set(id, { method, result: promise, stream, resolve, reject });
    const giveUp = (reason: unknown) => {
      this.#cancel(id, reason);
      reject(reason);
    };
    const onTimeout = () =>
      giveUp(
        new ServerTimeoutError(`Cannot complete "${method}": no answer in time`, { afterMs: timeoutMs }),
      );
    const timer = timeoutMs === Infinity
      ? undefined
      : setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
    using _ = onAbort(signal, () => giveUp(signal?.reason));
    try {
      const request: RpcRequest = { method, params: this.#envelop(params), jsonrpc: "2.0", id };
      const isWaiting = () => this.#pending.has(id);
      const sendOptions = { headers, requestSignal: stream?.signal, isWaiting };
      this.#transport.send(request, sendOptions).catch(reject);
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#pending.delete(id);
    }
  }

  /** Whether the answer to each request has a stream of its own, which is closed to cancel it. */
  get #opensStream(): boolean {
    return this.#envelope !== undefined && this.#transport.hasPerRequestStream === true;
  }

  #envelop(params: Record<string, unknown>): Record<string, unknown> {
    if (this.#envelope === undefined) return params;
    const { _meta: meta } = params;
    return { ...params, _meta: { ...this.#envelope, ...(isRecord(meta) && meta) } };
  }

  async notify(method: string, params?: Record<string, unknown>): Promise<void> {
    const enveloped = this.#envelope === undefined ? params : this.#envelop(params ?? {});
    await this.#transport.send({ method, ...(enveloped && { params: enveloped }), jsonrpc: "2.0" });
  }

  fail(id: unknown, reason: Error): void {
    if (isRequestId(id)) this.#take(id)?.reject(reason);
  }

  /** Resolves when the requests that wait now have ended. */
  async quiet(): Promise<void> {
    await Promise.allSettled(this.#pending.values().map(({ result }) => result));
  }

  /** Fails all requests that wait, and gives up those of the server. */
  failAll(reason: Error): void {
    for (const { reject } of this.#pending.values()) reject(reason);
    this.#pending.clear();
    this.#served.end(reason);
  }

  #cancel(id: number, reason: unknown): void {
    const { method, stream } = this.#take(id) ?? {};
    // The handshake cannot be cancelled.
    if (method === undefined || method === "initialize") return;
    if (stream !== undefined) return stream.abort(reason);
    this.notify("notifications/cancelled", { requestId: id, reason: describeError(reason) })
      .catch((error) => this.#listener.onError(error));
  }

  receive(message: RpcMessage): void {
    if (!("method" in message)) {
      const pending = this.#take(message.id);
      if (pending === undefined) this.#inflow.take(approximateSizeBytes(message));
      else if ("error" in message) pending.reject(toAnswerError(message));
      else pending.resolve(message.result);
      return;
    }
    const isRequest = "id" in message && message.id !== undefined;
    this.#inflow.take(approximateSizeBytes(message), isRequest ? REQUEST_WEIGHT : 1);
    if (!isRequest) this.#hear(message);
    // A version without sessions has no requests of the server, and no answers to them.
    else if (this.#envelope === undefined) void this.#serve(message);
  }

  #hear(notification: RpcNotification): void {
    const { method, params = {} } = notification;
    const id = params["requestId"];
    if (method === "notifications/cancelled" && isRequestId(id)) this.#hearCancelled(id);
    this.#listener.onNotification(notification);
  }

  /** A server takes back its own request or, in a version without sessions, ends a stream of ours. */
  #hearCancelled(id: RequestId): void {
    if (this.#envelope !== undefined) {
      this.fail(id, new ServerNotRunningError({ reason: "cancelled by the server" }));
    } else this.#served.cancel(id, new TypeError("Cancelled by the MCP server"));
  }

  /** Answers a request of the server, unless it was cancelled. */
  async #serve(request: RpcRequest): Promise<void> {
    const { id } = request;
    const answer = await this.#served.serve(
      id,
      (signal) =>
        this.#listener.onRequest(request, { signal }).then(
          (result): RpcResult => ({ jsonrpc: "2.0", id, result }),
          (error): RpcFailure => ({ jsonrpc: "2.0", id, error: toErrorBody(error) }),
        ),
    );
    if (answer === undefined) return;
    await this.#inflow.answering(this.#transport.send(answer)).catch((error) =>
      this.#listener.onError(error)
    );
  }

  /** Some servers send an id back as a text. */
  #take(id: RequestId | undefined): Pending | undefined {
    const own = id === undefined || String(id).trim() === "" ? NaN : Number(id);
    const pending = this.#pending.get(own);
    this.#pending.delete(own);
    return pending;
  }
}

function toAnswerError({ error }: RpcFailure): ServerAnswerError {
  const { code, message, data } = error;
  return new ServerAnswerError(code, shorten(message, MAX_ERROR_LENGTH), { data });
}

function toErrorBody(error: unknown): RpcFailure["error"] {
  return error instanceof RpcError
    ? error.body
    : { code: RpcErrorCode.INTERNAL_ERROR, message: "Internal error" };
}
