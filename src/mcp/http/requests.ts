/** HTTP requests to one MCP server: each answer is examined and bounded, and what it means for the session is reported. */
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { Deadline } from "../../async/deadline.ts";
import { Limiter } from "../../async/limiter.ts";
import { readBoundedText } from "../../text/bounded_text.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import type { Logger } from "../../log.ts";
import { type RequestId, RpcErrorCode } from "../../protocol/mcp.ts";
import { openHttpClient, type ProxiedClient } from "../../reach/http_client.ts";
import { credentialsRefused, throughProxy } from "../../reach/proxies.ts";
import { describeError, shorten } from "../../text/text.ts";
import { createAuthorizedFetch, endsSession, type HttpFetch } from "../auth/authorized_fetch.ts";
import type { HttpConfig } from "../auth/protected_server.ts";
import type { ServerAuthorization } from "../auth/server_authorization.ts";
import {
  ConfigurationError,
  isFailure,
  networkReason,
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../errors.ts";
import { type Inflow, readMessages, readUnparsable, type RpcFailure, type RpcMessage } from "../json_rpc.ts";
import { MAX_LARGE_MESSAGES, type MessageLimits } from "../limits.ts";
import type { Oversized } from "../message_bytes.ts";
import { type BodyEvent, BodyEvents, messagesIn, readBody } from "./body_events.ts";

/** The requests whose answer may come when a tool has finished. */
const LONG_REQUESTS: readonly string[] = ["tools/call", "tasks/result"];
const MAX_REDIRECTS = 5;
/** How much of the body of a refusal is read. */
const MAX_REFUSAL_BYTES = 65_536;
const MAX_REFUSAL_MS = 5_000;
/** The length to which a text that is no JSON-RPC error is cut, in characters. */
const MAX_REFUSAL_LENGTH = 500;

/** What answers over HTTP mean for a session, besides their messages. */
export interface HttpListener {
  /** The server has forgotten the session. */
  onForgotten(reason: string): void;
  /** The server cannot be reached, or refuses us. */
  onGone(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void;
  /** An event stream broke: its remaining messages may be lost, and the server may be gone. */
  onStreamBroken(): void;
  /** The standalone event stream was opened again without resuming: earlier notifications may be lost. */
  onStreamOpened(): void;
  /** The answer to a request of ours is lost. */
  onFailed(requestId: RequestId, error: Error): void;
  /** A question of the server came in the stream of the answer to a request of ours. */
  onQuestion(questionId: unknown, requestId: unknown): void;
  /** Whether a question of the server waits for its answer. The stream of its call is silent meanwhile. */
  isAsked(): boolean;
}

export interface HttpContext {
  readonly log: Logger;
  readonly listener: HttpListener;
  readonly limits: MessageLimits;
  readonly inflow: Inflow;
  readonly authorization?: ServerAuthorization | undefined;
}

interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The answer to a message of ours, or a stream that belongs to none. */
export interface Answer {
  readonly response: Response;
  /** What is answered. */
  readonly message?: RpcMessage | undefined;
  readonly signal: AbortSignal;
  readonly onMessage: (message: RpcMessage) => void;
  /** Receives each event before its messages; returns whether it has none. */
  readonly onEvent?: (event: BodyEvent) => boolean;
}

/** How the body of an answer ended. */
export interface BodyEnd {
  readonly how: "complete" | "broken" | "too large";
  /** Whether it was an event stream. */
  readonly isStream: boolean;
}

export class HttpRequests {
  readonly url: URL;
  readonly #headers: Headers;
  readonly #context: HttpContext;
  readonly #fetch: HttpFetch;
  /** By origin: a host has one with TLS and one without. */
  readonly #clients = new Map<string, ProxiedClient>();
  readonly #over = new AbortController();
  /** How long an answer may take to begin (`timeout`), in milliseconds. */
  readonly #timeoutMs: number;
  /** How long a body may stay silent (`sse_read_timeout`), in milliseconds. */
  readonly #silenceMs: number;
  readonly #turns = new Limiter(MAX_LARGE_MESSAGES);

  /** @throws {ConfigurationError} when the URL cannot be used. */
  constructor({ server_parameters: parameters }: HttpConfig, context: HttpContext) {
    this.url = parseUrl(parameters.url);
    const headers = Object.entries(parameters.headers ?? {});
    this.#headers = new Headers(headers.map(([name, value]) => [name, String(value)]));
    this.#context = context;
    const { authorization } = context;
    this.#fetch = authorization === undefined ? fetch : createAuthorizedFetch(this.url, authorization);
    this.#timeoutMs = toMilliseconds(parameters.timeout);
    this.#silenceMs = toMilliseconds(parameters.sse_read_timeout);
  }

  /** Aborted when the session ends. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  close(): void {
    this.#over.abort(new ServerNotRunningError({ reason: "closed" }));
    this.#context.inflow.close();
    for (const { client } of this.#clients.values()) client.close();
  }

  /**
   * Posts a message, or opens the stream of all messages when there is none, and waits for the head of the answer.
   *
   * @throws {ServerAnswerError} when the server refuses it with a JSON-RPC error.
   * @throws {ServerNotRunningError | ServerAuthorizationError | ServerTimeoutError} for any other refusal or failure.
   */
  async exchange(url: URL, { message, headers, signal }: {
    readonly message?: RpcMessage;
    readonly headers: Readonly<Record<string, string>>;
    readonly signal: AbortSignal;
  }): Promise<Response> {
    // A server that answers in JSON answers these when the tool has finished.
    const timeoutMs = isLong(message) ? Math.max(this.#timeoutMs, this.#silenceMs) : this.#timeoutMs;
    using deadline = new Deadline(timeoutMs, {
      reason: () => {
        const message = `Cannot use the MCP server: no HTTP answer in ${timeoutMs} ms`;
        return new ServerTimeoutError(message, { afterMs: timeoutMs });
      },
      signal,
    });
    const request: HttpRequest = message === undefined
      ? { method: "GET", headers }
      : { method: "POST", headers, body: JSON.stringify(message) };
    const response = await this.send(url, request, deadline.signal);
    return response.ok ? response : await refuse(response, requestIdOf(message));
  }

  /** Sends a request, and follows redirects that keep its method and stay within the origin. */
  async send(url: URL, request: HttpRequest, signal: AbortSignal): Promise<Response> {
    for (let followed = 0;; followed++) {
      const response = await this.#reach(url, request, signal);
      const target = followed < MAX_REDIRECTS ? redirectWithin(url, request, response) : undefined;
      if (target === undefined) return response;
      await response.body?.cancel();
      url = target;
    }
  }

  async #reach(
    url: URL,
    { method, headers: own, body }: HttpRequest,
    signal: AbortSignal,
  ): Promise<Response> {
    const { listener } = this.#context;
    const headers = new Headers(this.#headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const { client, proxy } = this.#clientFor(url);
    const init = { method, headers, redirect: "manual", signal, client } as const;
    try {
      const response = await this.#fetch(url, body === undefined ? init : { ...init, body });
      if (response.status !== 407 || proxy === undefined) return response;
      await response.body?.cancel();
      throw credentialsRefused(proxy);
    } catch (error) {
      if (isFailure(error)) {
        if (endsSession(error)) listener.onGone("needs sign-in", error);
      } else if (!signal.aborted) {
        const reason = "not reachable";
        const detail = `${addressOf(url)}: ${throughProxy(proxy, networkReason(error))}`;
        listener.onGone(reason, new ServerNotRunningError({ reason, detail, cause: error }));
      }
      throw error;
    }
  }

  #clientFor(url: URL): ProxiedClient {
    try {
      const client = this.#clients.get(url.origin) ?? openHttpClient(url);
      this.#clients.set(url.origin, client);
      return client;
    } catch (cause) {
      throw new ConfigurationError(describeError(cause), { reason: "unreadable proxy", cause });
    }
  }

  /** Reads the body of an answer to its end, and passes its messages on. Rejects when its signal is aborted. */
  async read({ response, message, signal, onMessage, onEvent }: Answer): Promise<BodyEnd> {
    const { limits, inflow, listener } = this.#context;
    const isEventStream = message === undefined || isEventStreamOf(response);
    const onOversized = (event: Oversized) => this.#onTooLarge(event, message);
    const events = new BodyEvents(limits, { isEventStream, onOversized });
    const endOf = (how: BodyEnd["how"]) => ({ how, isStream: isEventStream && !events.isJson });
    try {
      await readBody(response.body ?? new Blob().stream(), {
        events,
        inflow,
        signal,
        silenceMs: this.#silenceMs,
        mayBeSilent: () => listener.isAsked(),
        turns: this.#turns,
        onEvent: (event) => {
          if (onEvent?.(event) === true) return;
          for (const each of messagesIn(event)) onMessage(this.#related(each, message));
        },
      });
      return endOf("complete");
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RangeError)) return endOf("broken");
      onOversized({ flaw: error });
      return endOf("too large");
    }
  }

  /** What comes in the answer to a request of ours belongs to that. */
  #related(message: RpcMessage, sent: RpcMessage | undefined): RpcMessage {
    const id = requestIdOf(sent);
    if (id === undefined) return message;
    if (!("method" in message)) return message.id === undefined ? { ...message, id } : message;
    const isQuestion = "id" in message && message.method === "elicitation/create";
    // A tool may ask in the stream of its answer.
    if (isQuestion && isLong(sent)) this.#context.listener.onQuestion(message.id, id);
    return message;
  }

  /** Drops an event, or a body, above a limit. An event that does not end costs the stream that others need. */
  #onTooLarge({ flaw, ends }: Oversized, message: RpcMessage | undefined): void {
    const { listener, inflow, log } = this.#context;
    log.warn("dropped a message of the MCP server", { error: flaw.message });
    const [{ id } = { id: requestIdOf(message) }] = readUnparsable(new TextDecoder().decode(ends));
    const failure = new ServerAnswerError(RpcErrorCode.PARSE_ERROR, flaw.message);
    if (id !== undefined) listener.onFailed(id, failure);
    if (inflow.takeOversized() || message === undefined && ends === undefined) listener.onGone(flaw.message);
  }
}

function isLong(message: RpcMessage | undefined): boolean {
  return message !== undefined && "method" in message && LONG_REQUESTS.includes(message.method);
}

export function requestIdOf(message: RpcMessage | undefined): RequestId | undefined {
  return message !== undefined && "method" in message && "id" in message ? message.id : undefined;
}

/** The target of a redirect that may be followed: of the same origin, or of the same host by HTTPS. */
function redirectWithin(from: URL, { method }: HttpRequest, { status, headers }: Response): URL | undefined {
  const location = headers.get("location");
  const isFollowed = method === "GET" ? status >= 300 && status < 400 : status === 307 || status === 308;
  const target = isFollowed && location !== null ? URL.parse(location, from) : null;
  const origins = [from.origin, from.origin.replace(/^http:/, "https:")];
  return target !== null && origins.includes(target.origin) ? target : undefined;
}

/** Turns a refusal into an error of ours, with what the JSON-RPC error in its body says. */
async function refuse(response: Response, id: RequestId | undefined): Promise<never> {
  const { status } = response;
  if (status === 401 || status === 403) {
    await response.body?.cancel();
    throw new ServerAuthorizationError(status);
  }
  const { error, text } = await readRefusal(response, id);
  if (error !== undefined) {
    throw new ServerAnswerError(error.code, error.message, { data: error.data, httpStatus: status });
  }
  const target = URL.parse(response.headers.get("location") ?? "", response.url);
  const detail = text ?? (target === null ? undefined : `a redirect to ${addressOf(target)}`);
  throw new ServerNotRunningError({ reason: `HTTP ${status}`, detail, httpStatus: status });
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

/** Without user name and query, which may hold secrets. */
function addressOf({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

export function isEventStreamOf({ headers }: Response): boolean {
  return /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/** The URL may hold secrets, so the message does not show it. */
function parseUrl(raw: string): URL {
  const url = URL.parse(raw);
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new ConfigurationError("Cannot use the URL of the MCP server: not an http or https URL");
}

function toMilliseconds(time: number | string): number {
  const ms = typeof time === "number" ? time * 1000 : Temporal.Duration.from(time).total("milliseconds");
  return Math.min(ms, MAX_TIMER_MS);
}
