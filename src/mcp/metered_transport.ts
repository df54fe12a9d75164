/** A transport that tells what was asked for from what was not, and lets the latter pass at a bounded pace. */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import { ErrorCode as RpcErrorCode, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { approximateSizeBytes } from "../protocol/size.ts";
import { ServerAnswerError } from "./errors.ts";
import type { Inflow } from "./inflow.ts";
import { REQUEST_WEIGHT } from "./limits.ts";

type RequestId = string | number;

/** Takes the notifications that it knows; the others are the SDK's. */
export type NotificationReader = (
  notification: { readonly method: string; readonly params?: unknown },
) => "known" | "unknown";

/**
 * Passes messages on both ways. An answer that nobody waits for, or waits for no longer, ends here: the SDK would write
 * it down as a whole.
 */
export class MeteredTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #inner: Transport;
  readonly #inflow: Inflow;
  /** Requests of ours that are not answered. */
  readonly #asked = new Set<RequestId>();
  readonly #onNotification: NotificationReader;

  constructor(
    inner: Transport,
    options: { readonly inflow: Inflow; readonly onNotification: NotificationReader },
  ) {
    this.#inner = inner;
    this.#inflow = options.inflow;
    this.#onNotification = options.onNotification;
  }

  get sessionId(): string | undefined {
    return this.#inner.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#inner.setProtocolVersion?.(version);
  }

  async start(): Promise<void> {
    this.#inner.onclose = () => {
      this.#inflow.close();
      this.onclose?.();
    };
    this.#inner.onerror = (error) => {
      this.#inflow.take(0);
      this.onerror?.(error);
    };
    this.#inner.onmessage = (message, extra) => {
      if (this.#receives(message)) this.onmessage?.(message, extra);
    };
    await this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!("method" in message)) return await this.#inflow.answering(this.#inner.send(message, options));
    if ("id" in message) this.#asked.add(message.id);
    else if (message.method === "notifications/cancelled") this.#forget(message.params?.["requestId"]);
    await this.#inner.send(message, options);
  }

  async close(): Promise<void> {
    this.#inflow.close();
    await this.#inner.close();
  }

  /** The answer to a request, if it is one that still waits, can never come: it fails with `reason` itself. */
  fail(id: unknown, reason: Error): void {
    if (!isRequestId(id) || !this.#forget(id)) return;
    const error = reason instanceof ServerAnswerError
      ? { code: reason.rpcCode, message: reason.message }
      : { code: RpcErrorCode.ConnectionClosed, message: reason.message, data: reason };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  /** Whether the message is for the SDK. */
  #receives(message: JSONRPCMessage): boolean {
    const isAnswer = !("method" in message);
    if (isAnswer && this.#forget(message.id)) return true;
    const isRequest = !isAnswer && "id" in message;
    this.#inflow.take(approximateSizeBytes(message), isRequest ? REQUEST_WEIGHT : 1);
    if (isAnswer) return false;
    return isRequest || this.#onNotification(message) === "unknown";
  }

  #forget(id: unknown): boolean {
    return isRequestId(id) && this.#asked.delete(id);
  }
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number";
}
