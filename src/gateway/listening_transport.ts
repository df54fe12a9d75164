/** Notices which resources a client of 2026 listens to: the SDK serves `subscriptions/listen` without telling. */
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type MessageExtraInfo,
  type Transport,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { hasProto, isRecord } from "../json/json.ts";
import { LISTEN_METHOD, RpcErrorCode } from "../protocol/mcp.ts";

/** Of a message, its parameters, and their arguments. */
const CHECKED_LEVELS = 3;

/** Follows resources; resolves to a function that ends it. */
export type FollowResources = (uris: readonly string[]) => Promise<() => void>;

/** The resources of a `subscriptions/listen`; none for any other request. */
export function listenedResources({ method, params }: Pick<JSONRPCRequest, "method" | "params">): string[] {
  if (method !== LISTEN_METHOD) return [];
  const filter = params?.["notifications"];
  const uris = isRecord(filter) ? filter["resourceSubscriptions"] : undefined;
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

/** A transport whose client listens: what it listens to is followed before the request is served. */
export class ListeningTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  readonly #inner: Transport;
  readonly #follow: FollowResources;
  readonly #followed = new Map<string | number, Promise<() => void>>();
  readonly #ended = Promise.withResolvers<void>();

  constructor(inner: Transport, follow: FollowResources) {
    this.#inner = inner;
    this.#follow = follow;
    inner.onmessage = (message, extra) => this.#receive(message, extra);
    inner.onerror = (error) => this.onerror?.(error);
    inner.onclose = () => this.#end();
  }

  get closed(): Promise<void> {
    return this.#ended.promise;
  }

  start(): Promise<void> {
    return this.#inner.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      this.#release(message.params?.["requestId"]);
    }
    if (isJSONRPCRequest(message) && hasProto(message, CHECKED_LEVELS)) return this.#refuse(message.id);
    const uris = isJSONRPCRequest(message) ? listenedResources(message) : [];
    if (!isJSONRPCRequest(message) || uris.length === 0) return this.onmessage?.(message, extra);
    // An id that is used again ends what it followed before.
    this.#release(message.id);
    const followed = this.#follow(uris);
    this.#followed.set(message.id, followed);
    void followed.finally(() => {
      // The SDK would serve a request without an end, since it heard of the cancellation before.
      if (this.#followed.get(message.id) === followed) this.onmessage?.(message, extra);
    });
  }

  #refuse(id: string | number): void {
    const message = 'Cannot serve this request: an object has a member named "__proto__"';
    this.send({ jsonrpc: "2.0", id, error: { code: RpcErrorCode.INVALID_PARAMS, message } })
      .catch((error) => this.onerror?.(error));
  }

  #release(id: unknown): void {
    if (typeof id !== "string" && typeof id !== "number") return;
    void this.#followed.get(id)?.then((end) => end());
    this.#followed.delete(id);
  }

  #end(): void {
    for (const id of this.#followed.keys()) this.#release(id);
    this.#ended.resolve();
    this.onclose?.();
  }
}
