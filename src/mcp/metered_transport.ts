/** The transport of a session: meters what the server sends unasked, and drops answers that no request waits for. */
import type { Transport, TransportSendOptions } from "@modelcontextprotocol/sdk/shared/transport";
// @ts-types="@modelcontextprotocol/sdk/types"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Logger } from "../log.ts";
import type { ResolvedServerConfig } from "../protocol/config.ts";
import { approximateSizeBytes } from "../protocol/size.ts";
import { RpcErrorCode, ServerAnswerError } from "./errors.ts";
import { openHttpTransport } from "./http/transport.ts";
import type { HttpListener } from "./http/watched_fetch.ts";
import { Inflow } from "./inflow.ts";
import type { Journal } from "./journal.ts";
import { type MessageLimits, REQUEST_WEIGHT, type ServerLimits } from "./limits.ts";
import type { ProcessGuard } from "./stdio/guard.ts";
import { StdioTransport } from "./stdio/transport.ts";

type RequestId = string | number;

/** Handles the notifications that it knows; the SDK handles the unknown ones. */
export type NotificationReader = (
  notification: { readonly method: string; readonly params?: unknown },
) => "known" | "unknown";

/** The context of {@linkcode openTransport}. */
export interface TransportContext {
  readonly guard: ProcessGuard;
  readonly log: Logger;
  /** Receives the stderr of a child process. */
  readonly journal: Journal;
  readonly limits: MessageLimits & Pick<ServerLimits, "stopGraceMs">;
  /** Learns what an HTTP answer means for the session. */
  readonly listener: HttpListener;
  readonly onNotification: NotificationReader;
}

/** Opens the transport that a configuration names. `child` is `undefined` over HTTP. */
export function openTransport(config: ResolvedServerConfig, context: TransportContext): {
  readonly transport: MeteredTransport;
  readonly child: StdioTransport | undefined;
  readonly close: (state: { readonly isGone: boolean }) => Promise<void>;
} {
  const inflow = new Inflow();
  const { onNotification } = context;
  if (config.type === "stdio") {
    const child = new StdioTransport(config.server_parameters, { ...context, inflow });
    const transport = new MeteredTransport(child, { inflow, onNotification });
    return { transport, child, close: () => child.close() };
  }
  const { transport: inner, close } = openHttpTransport(config, { ...context, inflow });
  return { transport: new MeteredTransport(inner, { inflow, onNotification }), child: undefined, close };
}

/**
 * Passes messages both ways. It drops an answer that no request waits for: the SDK would put the whole answer into an
 * error message.
 */
export class MeteredTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #inner: Transport;
  readonly #inflow: Inflow;
  /** Our requests that are not answered yet. */
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

  /** Fails a request that still waits for its answer; `reason` is the error that its sender gets. */
  fail(id: unknown, reason: Error): void {
    if (!isRequestId(id) || !this.#forget(id)) return;
    const error = reason instanceof ServerAnswerError
      ? { code: reason.rpcCode, message: reason.message }
      : { code: RpcErrorCode.CONNECTION_CLOSED, message: reason.message, data: reason };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  /** Returns whether the SDK gets the message. */
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
