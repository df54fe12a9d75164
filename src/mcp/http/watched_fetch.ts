/** `fetch` for the SDK's HTTP transports: bounds each answer, and reports what it means for the session. */
import { isRequestId, type RequestId } from "../../protocol/mcp.ts";
import type { FetchLike } from "@modelcontextprotocol/client";
import { Backoff, type BackoffOptions, delay, MAX_TIMER_MS } from "../../async/backoff.ts";
import { Deadline } from "../../async/deadline.ts";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { readBoundedText } from "../../files/files.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { shorten } from "../../text/text.ts";
import type { HttpConfig } from "../auth/protected_server.ts";
import { endsSession, type HttpFetch } from "../auth/authorized_fetch.ts";
import {
  isFailure,
  networkReason,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../errors.ts";
import type { Inflow } from "../inflow.ts";
import { type MessageLimits, MIN_STREAM_INTERVAL_MS } from "../limits.ts";
import type { Oversized } from "../message_bytes.ts";
import { readMessages, readUnparsable, type RpcFailure, type RpcMessage, toUnreadable } from "../json_rpc.ts";
import { EventFrames } from "./body_frames.ts";
import { MessageFrames } from "./message_frames.ts";
import { type BodyEnd, LargeMessages, watchBody } from "./watched_body.ts";

/** The requests whose answer may come when a tool has finished. */
const LONG_REQUESTS = ["tools/call", "tasks/result"] as const;
/** Waits between two attempts to open the standalone event stream. */
const STREAM_BACKOFF: BackoffOptions = { firstMs: 500, maxMs: 60_000 };
/** Sent by a busy server or proxy. Any other status means that the server has no standalone event stream. */
const TEMPORARY_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** How much of the body of a refusal is read. */
const MAX_REFUSAL_BYTES = 65_536;
const MAX_REFUSAL_MS = 5_000;
/** The length to which a text that is no JSON-RPC error is cut, in characters. */
const MAX_REFUSAL_LENGTH = 500;

/** What the SDK's transports do not report. */
export interface HttpListener {
  /** The server has forgotten the session. */
  onForgotten(reason: string): void;
  /** The server cannot be reached, or refuses us. */
  onGone(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void;
  /** An event stream broke: its remaining messages may be lost, and the server may be gone. */
  onStreamBroken(): void;
  /** The standalone event stream was opened again without resuming: earlier notifications may be lost. */
  onStreamOpened(): void;
  onMessage(message: RpcMessage): void;
  /** The event stream that carries the answer to a request ended without it, and cannot be resumed. */
  onAnswerLost(requestId: unknown): void;
  /** A question of the server came in the stream of the answer to a request of ours. */
  onQuestion(questionId: unknown, requestId: unknown): void;
  /** A message exceeds a limit: the answer to this request, if that is known. The session goes on. */
  onTooLarge(requestId: RequestId | undefined, reason: string): void;
  /** Whether a question of the server waits for its answer. The stream of its call is silent meanwhile. */
  isAsked(): boolean;
}

export interface HttpContext {
  readonly listener: HttpListener;
  readonly limits: MessageLimits;
  readonly inflow: Inflow;
  readonly send?: HttpFetch | undefined;
}

interface Exchange {
  readonly method: string;
  /** Whether it opens an event stream that belongs to no request. */
  readonly isStandalone: boolean;
  readonly init: RequestInit | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The `fetch` of one transport: every answer is examined before the SDK reads it. */
export class WatchedFetch {
  readonly #kind: HttpConfig["type"];
  readonly #client: Deno.HttpClient;
  readonly #context: HttpContext;
  /** How long an answer may take to begin (`timeout`), in milliseconds. */
  readonly #timeoutMs: number;
  /** How long a body may stay silent (`sse_read_timeout`), in milliseconds. */
  readonly #silenceMs: number;
  readonly #largeMessages = new LargeMessages();
  /** The attempts to open the standalone event stream, whatever the server asks for. */
  readonly #streams = new TokenBucket(rateOf(1, MIN_STREAM_INTERVAL_MS));
  /** Whether the server ever opened a standalone event stream. */
  #hasStream = false;

  constructor(config: HttpConfig, client: Deno.HttpClient, context: HttpContext) {
    const { timeout, sse_read_timeout } = config.server_parameters;
    this.#kind = config.type;
    this.#client = client;
    this.#context = context;
    this.#timeoutMs = toMilliseconds(timeout);
    this.#silenceMs = toMilliseconds(sse_read_timeout);
  }

  readonly fetch: FetchLike = async (url, init) => {
    const method = init?.method ?? "GET";
    const exchange = { method, isStandalone: method === "GET", init, signal: init?.signal ?? undefined };
    if (exchange.isStandalone) await this.#awaitTurn(exchange.signal);
    const response = await this.#send(url, exchange);
    const { body, status, statusText, headers } = response;
    if (status >= 400) return await this.#refuse(exchange, response);
    // The SDK follows redirects within the origin, and would read the body of any other redirect.
    const hasMessages = exchange.isStandalone || this.#kind === "streamable" && status !== 202;
    if (!response.ok || body === null || !hasMessages) return await withoutBody(response);
    const read = new Headers(headers);
    if (!isEventStream(response) && !exchange.isStandalone) read.set("content-type", "application/json");
    return new Response(this.#watch(exchange, body, response), { status, statusText, headers: read });
  };

  async #awaitTurn(signal: AbortSignal | undefined): Promise<void> {
    const waitMs = this.#streams.waitMs();
    this.#streams.charge();
    if (waitMs > 0) await delay(waitMs, signal);
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @throws {ServerTimeoutError} when the answer takes too long to begin.
   */
  async #send(url: string | URL, exchange: Exchange): Promise<Response> {
    const { init, isStandalone, signal } = exchange;
    const isStreamable = this.#kind === "streamable";
    if (isStreamable && isStandalone) return await this.#openStream(url, exchange);
    // A server that answers in JSON answers these when the tool has finished.
    const timeoutMs = isStreamable && isLong(init?.body)
      ? Math.max(this.#timeoutMs, this.#silenceMs)
      : this.#timeoutMs;
    using deadline = new Deadline(timeoutMs, {
      reason: () => {
        const message = `Cannot use the MCP server: no HTTP answer in ${timeoutMs} ms`;
        return new ServerTimeoutError(message, { afterMs: timeoutMs });
      },
      signal,
    });
    return await this.#reach(url, { ...init, signal: deadline.signal });
  }

  /** The SDK would retry twice at most, and never receive a notification after that. */
  async #openStream(url: string | URL, { init, signal }: Exchange): Promise<Response> {
    const backoff = new Backoff(STREAM_BACKOFF);
    while (true) {
      const response = await this.#reach(url, { ...init, signal });
      if (!TEMPORARY_STATUS.has(response.status)) return response;
      await response.body?.cancel();
      await delay(backoff.next(), signal);
    }
  }

  async #reach(url: string | URL, init: RequestInit): Promise<Response> {
    const { send = fetch, listener } = this.#context;
    try {
      return await send(url, { ...init, client: this.#client });
    } catch (error) {
      if (isFailure(error)) {
        if (endsSession(error)) listener.onGone("needs sign-in", error);
      } else if (init.signal?.aborted !== true) {
        const reason = "not reachable";
        const detail = `${addressOf(url)}: ${networkReason(error)}`;
        listener.onGone(reason, new ServerNotRunningError({ reason, detail, cause: error }));
      }
      throw error;
    }
  }

  /**
   * Turns a refusal into an error of ours, with what the JSON-RPC error in its body says: the SDK's error shows the whole
   * body. A Streamable HTTP server may refuse the standalone event stream with any status.
   */
  async #refuse({ method, init }: Exchange, response: Response): Promise<Response> {
    const { status } = response;
    const { listener } = this.#context;
    const reason = `HTTP ${status}`;
    if (this.#kind === "streamable" && method !== "POST") {
      const isForgotten = status === 400 || status === 404;
      if (this.#hasStream && method === "GET" && isForgotten) listener.onForgotten(`session lost: ${reason}`);
      return response;
    }
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      const failure = new ServerAuthorizationError(status);
      if (method === "GET") listener.onGone(reason, failure);
      throw failure;
    }
    const { error, text } = await readRefusal(response, requestIdOf(init?.body));
    const failure = new ServerNotRunningError({ reason, detail: text, httpStatus: status });
    if (method === "GET") listener.onGone(reason, failure);
    if (error === undefined) throw failure;
    throw new ServerAnswerError(error.code, error.message, { data: error.data, httpStatus: status });
  }

  #watch(
    exchange: Exchange,
    body: ReadableStream<Uint8Array>,
    response: Response,
  ): ReadableStream<Uint8Array> {
    const { isStandalone, init, signal } = exchange;
    const { limits, inflow, listener } = this.#context;
    if (isStandalone) {
      this.#hasStream ||= isEventStream(response);
      if (this.#kind === "streamable" && !isResumed(init)) listener.onStreamOpened();
    }
    const ownId = isStandalone ? undefined : requestIdOf(init?.body);
    const isStream = isStandalone || isEventStream(response);
    let frames: EventFrames | undefined;
    return watchBody(body, {
      silenceMs: this.#silenceMs,
      mayBeSilent: () => listener.isAsked(),
      frames: new MessageFrames({
        isEventStream: isStream,
        framesOf: ({ isJson }) => {
          const onOversized = (event: Oversized) => this.#onTooLarge(exchange, event);
          return frames = new EventFrames(limits, { isJson, onOversized });
        },
        onMessage: (message) => this.#pass(message, exchange),
      }),
      inflow,
      largeMessages: this.#largeMessages,
      signal,
      onEnd: (end, error) => {
        const { hasIds = false, isJson = false } = frames ?? {};
        if (error instanceof RangeError) this.#onTooLarge(exchange, { flaw: error });
        else if (isStream && !isJson) this.#onStreamEnd(exchange, { end, hasIds });
        else if (ownId !== undefined) listener.onMessage(toUnreadable(ownId));
      },
    });
  }

  /** Passes a message on; what comes in the answer to a request of ours belongs to that. */
  #pass(message: RpcMessage, { init }: Exchange): void {
    const { listener } = this.#context;
    const { body } = init ?? {};
    if ("method" in message) {
      const isQuestion = "id" in message && message.method === "elicitation/create";
      // A tool may ask in the stream of its answer.
      if (isQuestion && isLong(body)) listener.onQuestion(message.id, requestIdOf(body));
    } else if (message.id === undefined) {
      const id = requestIdOf(body);
      return listener.onMessage({ ...message, ...(id !== undefined && { id }) });
    }
    listener.onMessage(message);
  }

  /** Drops an event, or a body, above a limit. An event that does not end costs the stream that others need. */
  #onTooLarge(
    { isStandalone, init }: Exchange,
    { flaw, ends }: Oversized,
  ): void {
    const { listener, inflow } = this.#context;
    const [answer] = readUnparsable(new TextDecoder().decode(ends));
    listener.onTooLarge(answer?.id ?? requestIdOf(init?.body), flaw.message);
    if (inflow.takeOversized() || isStandalone && ends === undefined) listener.onGone(flaw.message);
  }

  #onStreamEnd(
    { isStandalone, init }: Exchange,
    { end, hasIds }: { readonly end: BodyEnd; readonly hasIds: boolean },
  ): void {
    const { listener } = this.#context;
    // The SDK would open another stream, which begins a session that is not initialized.
    if (this.#kind === "sse") return listener.onGone("event stream lost");
    if (!isStandalone && !hasIds) listener.onAnswerLost(requestIdOf(init?.body));
    if (end === "broken") listener.onStreamBroken();
  }
}

/** A refusal by its HTTP status may go with a JSON-RPC error, which says more. */
interface Refusal {
  readonly error?: RpcFailure["error"];
  /** The beginning of any other text that is no page. */
  readonly text?: string;
}

/** Reads the body of the refusal of the request `id`, or cancels it. */
async function readRefusal(response: Response, id: RequestId | undefined): Promise<Refusal> {
  const text = (await readText(response))?.trim() ?? "";
  const value = parseJson(text);
  const event = parseJson(/^data:(.*)$/m.exec(text)?.[1] ?? "");
  const [message] = readMessages(
    isRecord(value) && isRecord(value["error"]) ? { jsonrpc: "2.0", ...value } : event,
  );
  if (message !== undefined && "error" in message) {
    // An error about the HTTP request as a whole has no id, or null.
    const isOwn = message.id === undefined || id === undefined || Number(message.id) === Number(id);
    if (isOwn) return { error: message.error };
  }
  return text === "" || text.startsWith("<") ? {} : { text: shorten(text, MAX_REFUSAL_LENGTH) };
}

async function readText({ body }: Response): Promise<string | undefined> {
  if (body === null) return undefined;
  const signal = AbortSignal.timeout(MAX_REFUSAL_MS);
  return await readBoundedText(body, { maxBytes: MAX_REFUSAL_BYTES, signal }).catch(() => undefined);
}

/** Returns the response without its body, which is not read. */
async function withoutBody(response: Response): Promise<Response> {
  const { body, status, statusText, headers } = response;
  await body?.cancel();
  return new Response(null, { status, statusText, headers });
}

/** Our requests have the method first. */
function isLong(body: unknown): boolean {
  return typeof body === "string" && LONG_REQUESTS.some((method) => body.startsWith(`{"method":"${method}"`));
}

function requestIdOf(body: unknown): RequestId | undefined {
  const message: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
  const { method, id } = isRecord(message) ? message : {};
  return typeof method === "string" && isRequestId(id) ? id : undefined;
}

/** A server that gives its events ids sends again what followed the last id: no notification is lost. */
function isResumed(init: RequestInit | undefined): boolean {
  return new Headers(init?.headers).has("last-event-id");
}

/** Without user name and query, which may hold secrets. */
function addressOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

function toMilliseconds(time: number | string): number {
  const ms = typeof time === "number" ? time * 1000 : Temporal.Duration.from(time).total("milliseconds");
  return Math.min(ms, MAX_TIMER_MS);
}
