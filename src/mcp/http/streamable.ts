/**
 * Streamable HTTP: each message is posted, and answered in JSON or by an event stream. In a version with sessions, one more
 * event stream stands open for what the server sends unasked. A stream whose events have ids is resumed when it ends.
 */
import { Backoff, type BackoffOptions, delay } from "../../async/backoff.ts";
import { settledWithin } from "../../async/abortable.ts";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { isRecord } from "../../json/json.ts";
import { encodeHeaderValue } from "../../protocol/tool_headers.ts";
import type { HttpConfig } from "../auth/protected_server.ts";
import { ServerAnswerError, ServerNotRunningError, UNREADABLE } from "../errors.ts";
import type { RpcMessage, SendOptions, Transport } from "../json_rpc.ts";
import { MIN_STREAM_INTERVAL_MS } from "../limits.ts";
import { RpcErrorCode, VERSION_MEMBER } from "../../protocol/mcp.ts";
import {
  type HttpContext,
  type HttpListener,
  HttpRequests,
  isEventStreamOf,
  requestIdOf,
} from "./requests.ts";

const SESSION_HEADER = "mcp-session-id";
const VERSION_HEADER = "mcp-protocol-version";
/** The wait before a stream is opened again, where the server names none, in milliseconds. */
const REOPEN_MS = 1_000;
/** Waits between two attempts to open a stream at a busy server. */
const STREAM_BACKOFF: BackoffOptions = { firstMs: 500, maxMs: 60_000 };
/** Sent by a busy server or proxy. Any other refusal means that the server has no such stream. */
const TEMPORARY_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const TERMINATE_TIMEOUT_MS = 2_000;
/** The parameter that goes into a header, by method: proxies on the way route requests by it. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

type StreamableConfig = Extract<HttpConfig, { type: "streamable" }>;

/** How much of a stream was read. */
interface StreamEnd {
  /** The id of its last event that had one. */
  readonly lastId: string | undefined;
  readonly isAnswered: boolean;
}

export class StreamableTransport implements Transport {
  readonly hasPerRequestStream = true;
  onmessage?: Transport["onmessage"];
  readonly #http: HttpRequests;
  readonly #listener: HttpListener;
  /** The attempts to open a stream, whatever the server asks for. */
  readonly #attempts = new TokenBucket(rateOf(1, MIN_STREAM_INTERVAL_MS));
  #version: string | undefined;
  #sessionId: string | undefined;
  #reopenMs = REOPEN_MS;
  /** Whether closing also ends the session at the server. */
  readonly #terminates: boolean;
  /** Whether the server ever opened a stream that was asked for. */
  #hasStream = false;

  /** @throws {ConfigurationError} when the URL cannot be used. */
  constructor(config: StreamableConfig, context: HttpContext) {
    this.#http = new HttpRequests(config, context);
    this.#listener = context.listener;
    this.#terminates = config.server_parameters.terminate_on_close;
  }

  async start(): Promise<void> {}

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  /** Resolves when the message was taken, and a request answered. */
  async send(message: RpcMessage, { headers, requestSignal, isWaiting }: SendOptions = {}): Promise<void> {
    const { over } = this.#http;
    const signal = requestSignal === undefined ? over : AbortSignal.any([over, requestSignal]);
    const isFirst = "method" in message && message.method === "initialize";
    if (isFirst) this.#sessionId = undefined;
    const response = await this.#http.exchange(this.#http.url, {
      message,
      headers: { ...this.#headers(message), ...headers },
      signal,
    });
    if (isFirst) this.#sessionId = response.headers.get(SESSION_HEADER) || undefined;
    if (response.status === 202) await response.body?.cancel();
    else await this.#follow(response, { message, signal, isWaiting });
    if ("method" in message && message.method === "notifications/initialized") {
      this.#listen().catch(() => {});
    }
  }

  async close({ isGone }: { readonly isGone: boolean }): Promise<void> {
    if (this.#terminates && !isGone && this.#sessionId !== undefined) {
      const request = { method: "DELETE", headers: this.#headers() } as const;
      const ended = this.#http.send(this.#http.url, request, this.#http.over)
        .then(({ body }) => body?.cancel());
      await settledWithin(ended.catch(() => {}), TERMINATE_TIMEOUT_MS);
    }
    this.#http.close();
  }

  #headers(message?: RpcMessage): Record<string, string> {
    return {
      ...(this.#sessionId !== undefined && { [SESSION_HEADER]: this.#sessionId }),
      ...(this.#version !== undefined && { [VERSION_HEADER]: this.#version }),
      ...(message !== undefined && {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...describingHeaders(message),
      }),
    };
  }

  /** Keeps the standing stream open, as long as the server offers one. */
  async #listen(): Promise<void> {
    const signal = this.#http.over;
    const response = await this.#open(undefined, signal);
    if (response !== undefined) await this.#follow(response, { signal });
  }

  /** Reads a stream, and those in which the server goes on with it. */
  async #follow(
    first: Response,
    { message, signal, isWaiting = () => true }: Pick<SendOptions, "isWaiting"> & {
      readonly message?: RpcMessage;
      readonly signal: AbortSignal;
    },
  ): Promise<void> {
    let lastId: string | undefined;
    for (let response: Response | undefined = first; response !== undefined;) {
      const end: StreamEnd = await this.#read(response, { message, signal });
      lastId = end.lastId ?? lastId;
      if (message !== undefined && (end.isAnswered || lastId === undefined || !isWaiting())) break;
      await delay(this.#reopenMs, signal);
      response = await this.#open(lastId, signal);
    }
    this.#fail(message, new ServerNotRunningError({ reason: "event stream lost" }));
  }

  /** Does nothing for a request that was answered. */
  #fail(message: RpcMessage | undefined, error: Error): void {
    const id = requestIdOf(message);
    if (id !== undefined) this.#listener.onFailed(id, error);
  }

  async #read(
    response: Response,
    { message, signal }: { readonly message: RpcMessage | undefined; readonly signal: AbortSignal },
  ): Promise<StreamEnd> {
    let lastId: string | undefined;
    let isAnswered = requestIdOf(message) === undefined;
    const { how, isStream } = await this.#http.read({
      response,
      message,
      signal,
      onEvent: ({ id, retryMs }) => {
        lastId = id ?? lastId;
        this.#reopenMs = retryMs ?? this.#reopenMs;
        return false;
      },
      onMessage: (received) => {
        isAnswered ||= !("method" in received);
        this.onmessage?.(received);
      },
    });
    if (isStream && how === "broken") this.#listener.onStreamBroken();
    if (isStream && how !== "too large") return { lastId, isAnswered };
    this.#fail(message, new ServerAnswerError(RpcErrorCode.PARSE_ERROR, UNREADABLE));
    return { lastId, isAnswered: true };
  }

  /** Opens an event stream, after the event `lastId` of an earlier one; `undefined` when the server offers none. */
  async #open(lastId: string | undefined, signal: AbortSignal): Promise<Response | undefined> {
    const headers = {
      ...this.#headers(),
      accept: "text/event-stream",
      ...(lastId !== undefined && { "last-event-id": lastId }),
    };
    const waitMs = this.#attempts.waitMs();
    this.#attempts.charge();
    await delay(waitMs, signal);
    const backoff = new Backoff(STREAM_BACKOFF);
    while (true) {
      const response = await this.#http.send(this.#http.url, { method: "GET", headers }, signal);
      if (response.ok && response.body !== null) {
        this.#hasStream ||= isEventStreamOf(response);
        if (lastId === undefined) this.#listener.onStreamOpened();
        return response;
      }
      await response.body?.cancel();
      const { status } = response;
      if (TEMPORARY_STATUS.has(status)) await delay(backoff.next(), signal);
      else {
        const isForgotten = this.#hasStream && (status === 400 || status === 404);
        if (isForgotten) this.#listener.onForgotten(`session lost: HTTP ${status}`);
        return undefined;
      }
    }
  }
}

/** What a request of a version without sessions says in headers as well: its version, its method, and what it names. */
function describingHeaders(message: RpcMessage): Record<string, string> {
  if (requestIdOf(message) === undefined || !("method" in message)) return {};
  const { method, params = {} } = message;
  const { _meta: meta } = params;
  const version = isRecord(meta) ? meta[VERSION_MEMBER] : undefined;
  if (typeof version !== "string") return {};
  const name = Object.hasOwn(NAMED_BY, method) ? params[NAMED_BY[method] ?? ""] : undefined;
  return {
    [VERSION_HEADER]: version,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": encodeHeaderValue(name) }),
  };
}
