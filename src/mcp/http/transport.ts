/** MCP servers over HTTP: Streamable HTTP and Server-Sent Events. */
// @ts-types="@modelcontextprotocol/sdk/client/sse"
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike, Transport } from "@modelcontextprotocol/sdk/shared/transport";
import { settledWithin } from "../../async/abortable.ts";
import { delay, MAX_TIMER_MS } from "../../async/backoff.ts";
import type { MCPServerStreamableHttpConfig, MCPSSEConfig, Resolved } from "../../protocol/config.ts";
import { isRecord } from "../../json.ts";
import { describeError } from "../../text.ts";
import { EventFrames, JsonFrame } from "./body_frames.ts";
import { ConfigurationError, ServerAuthorizationError, ServerNotRunningError } from "../errors.ts";
import { answerOf, type HttpTimes } from "./answer.ts";
import type { Inflow } from "../inflow.ts";
import {
  MAX_LARGE_MESSAGES,
  MAX_SMALL_MESSAGES_BYTES,
  type MessageLimits,
  MIN_STREAM_INTERVAL_MS,
} from "../limits.ts";
import { BufferBudget } from "../message_bytes.ts";
import { LargeMessages, watchBody } from "./watched_body.ts";

/** How long the end of a session may take on the server, in milliseconds. */
const TERMINATE_TIMEOUT_MS = 2_000;
/** How many of the SDK's timers are remembered; most of them are long over. */
const MAX_RECONNECTION_TIMERS = 100;

/** A transport over HTTP. */
export interface HttpTransport {
  readonly transport: Transport;
  /** Ends the session where the configuration says so and the server is still there, and closes all sockets. */
  close(state: { readonly isGone: boolean }): Promise<void>;
}

/** What the SDK's transports do not tell. */
export interface HttpListener {
  /** The server cannot be reached any more, refuses us, or has forgotten the session. */
  onGone(reason: string, error?: ServerAuthorizationError | ServerNotRunningError): void;
  /** An event stream broke: what was to come on it may never come, and the server may be gone. */
  onStreamBroken(): void;
  /** The standing stream is open, and nothing says what was told before: nobody may have heard it. */
  onStreamOpened(): void;
  /** The stream that was to bring the answer to a request has ended, and cannot be resumed. */
  onAnswerLost(requestId: unknown): void;
  /** The answer to a call or a read cannot be read: it is over a bound. The session goes on. */
  onAnswerTooLarge(requestId: unknown, reason: string): void;
}

/** What a transport over HTTP needs beyond its configuration. */
export interface HttpContext {
  readonly listener: HttpListener;
  readonly limits: MessageLimits;
  /** The pace at which the server is read. */
  readonly inflow: Inflow;
}

/** One HTTP exchange, as far as it is told apart. */
interface Exchange {
  readonly kind: "sse" | "streamable";
  readonly method: string;
  readonly response: Response;
}

/**
 * Opens the transport of a server over HTTP.
 *
 * @param config With inputs already filled in.
 */
export function openHttpTransport(
  config: Resolved<MCPServerStreamableHttpConfig | MCPSSEConfig>,
  context: HttpContext,
): HttpTransport {
  const url = parseUrl(config.server_parameters.url);
  const headers = toHeaders(config.server_parameters.headers);
  const client = Deno.createHttpClient({});
  const options = { fetch: watchedFetch(config, client, context), requestInit: { headers } };
  if (config.type === "sse") {
    const transport = new SSEClientTransport(url, options);
    return { transport, close: () => closeAll(transport, client) };
  }
  const { terminate_on_close } = config.server_parameters;
  const transport = new StreamableHTTPClientTransport(url, options);
  const clearReconnections = watchReconnections(transport);
  return {
    transport,
    async close({ isGone }) {
      if (terminate_on_close && !isGone) {
        await settledWithin(transport.terminateSession().catch(() => {}), TERMINATE_TIMEOUT_MS);
      }
      await closeAll(transport, client);
      clearReconnections();
    },
  };
}

/**
 * The SDK waits before it opens each broken stream again. On close it clears the last of these timers alone, and sets
 * another one for a stream that was being opened.
 */
function watchReconnections(transport: StreamableHTTPClientTransport): () => void {
  const timers: number[] = [];
  let isClosed = false;
  Object.defineProperty(transport, "_reconnectionTimeout", {
    get: () => timers.at(-1),
    set(timer: number | undefined) {
      if (isClosed) clearTimeout(timer);
      else if (timer === undefined) timers.pop();
      else timers.push(timer);
      if (timers.length > MAX_RECONNECTION_TIMERS) timers.shift();
    },
  });
  return () => {
    isClosed = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

async function closeAll(transport: Transport, client: Deno.HttpClient): Promise<void> {
  await transport.close();
  client.close();
}

/** Looks at every answer before the SDK does: what it means for the session, and how its event stream ends. */
function watchedFetch(
  config: Resolved<MCPServerStreamableHttpConfig | MCPSSEConfig>,
  client: Deno.HttpClient,
  context: HttpContext,
): FetchLike {
  const kind = config.type;
  const { listener } = context;
  const times = timeLimits(config);
  const budget = new BufferBudget(
    MAX_LARGE_MESSAGES * context.limits.maxMessageBytes + MAX_SMALL_MESSAGES_BYTES,
  );
  const largeMessages = new LargeMessages();
  const pace = new StreamPace();
  let hasStream = false;
  return async (url, init) => {
    const method = init?.method ?? "GET";
    const isStanding = method === "GET";
    const send = (signal: AbortSignal | undefined) => reach(url, { ...init, signal, client }, listener);
    const signal = init?.signal ?? undefined;
    if (isStanding) await pace.turn(signal);
    const response = await answerOf({
      kind,
      method,
      isCall: isRequestOf("tools/call", init?.body),
      signal,
      send,
    }, times);
    const exchange: Exchange = { kind, method, response };
    if (response.status >= 400) return await refuse(exchange, { hasStream, listener });
    // Redirects are the SDK's, which follows those within the origin and would read the body of any other whole.
    if (!response.ok || response.body === null) return await withoutBody(response);
    const isStream = isStanding || isEventStream(response);
    hasStream ||= isEventStream(response) && isStanding;
    if (isStanding && kind === "streamable" && !isResumed(init)) listener.onStreamOpened();
    const { limits, inflow } = context;
    const costsItself = kind === "streamable" && !isStanding &&
      (isRequestOf("tools/call", init?.body) || isRequestOf("resources/read", init?.body));
    const events = isStream ? new EventFrames(limits, budget) : undefined;
    const body = watchBody(response.body, {
      silenceMs: times.silenceMs,
      frames: events ?? new JsonFrame(limits, budget),
      inflow,
      largeMessages,
      signal,
      onEnd(end, error) {
        if (error instanceof RangeError) {
          const reason = describeError(error);
          if (costsItself) return listener.onAnswerTooLarge(requestIdOf(init?.body), reason);
          // A list or an event that is too long: the next one would be, too.
          return listener.onGone(reason);
        }
        if (events === undefined) return;
        // The event source would open another stream, in a session that nobody has initialised.
        if (kind === "sse") return listener.onGone("event stream lost");
        if (!isStanding && !events.hasIds) listener.onAnswerLost(requestIdOf(init?.body));
        if (end === "broken") listener.onStreamBroken();
      },
    });
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

/** Gives back the response without its body, which is not read. */
async function withoutBody(response: Response): Promise<Response> {
  const { body, status, statusText, headers } = response;
  await body?.cancel();
  return new Response(null, { status, statusText, headers });
}

/** The SDK writes the method first. */
function isRequestOf(method: string, body: unknown): boolean {
  return typeof body === "string" && body.startsWith(`{"method":"${method}"`);
}

function requestIdOf(body: unknown): unknown {
  const message: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
  return isRecord(message) ? message["id"] : undefined;
}

/** Standing streams that a server ends again and again are opened at a bounded pace, whatever it asks for. */
class StreamPace {
  #nextMs = 0;

  async turn(signal: AbortSignal | undefined): Promise<void> {
    const nowMs = performance.now();
    const waitMs = this.#nextMs - nowMs;
    this.#nextMs = Math.max(nowMs, this.#nextMs) + MIN_STREAM_INTERVAL_MS;
    if (waitMs > 0) await delay(waitMs, signal);
  }
}

/**
 * Turns a refusal into an error of ours at once, whatever the SDK would do about it: its own shows the answer's
 * body. A Streamable HTTP server may have no standing stream and say so with any status.
 */
async function refuse(
  { kind, method, response }: Exchange,
  { hasStream, listener }: { readonly hasStream: boolean; readonly listener: HttpListener },
): Promise<Response> {
  const { status } = response;
  if (kind === "streamable" && method !== "POST") {
    if (hasStream && method === "GET" && (status === 400 || status === 404)) {
      listener.onGone(`HTTP ${status}`);
    }
    return response;
  }
  await response.body?.cancel();
  const reason = `HTTP ${status}`;
  const refusal = status === 401 || status === 403 ? new ServerAuthorizationError(status) : undefined;
  if (method === "GET" || status === 404) listener.onGone(reason, refusal);
  throw refusal ?? new ServerNotRunningError({ reason });
}

/** A server that names events sends again what came after the last that was heard: nothing is lost. */
function isResumed(init: RequestInit | undefined): boolean {
  return new Headers(init?.headers).has("last-event-id");
}

async function reach(
  url: string | URL,
  init: RequestInit & { readonly client: Deno.HttpClient },
  listener: HttpListener,
): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted !== true) {
      const reason = "not reachable";
      const detail = `${addressOf(url)}: ${networkReason(error)}`;
      listener.onGone(reason, new ServerNotRunningError({ reason, detail, cause: error }));
    }
    throw error;
  }
}

/** Without user name and query, which may be secrets. */
function addressOf(url: string | URL): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

/** What the network, name service or TLS said: the end of what `fetch` tells. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return describeError(cause).replace(/^.*client error \(\w+\): /s, "");
}

function isEventStream(response: Response): boolean {
  return /^text\/event-stream\b/i.test(response.headers.get("content-type") ?? "");
}

function timeLimits(config: Resolved<MCPServerStreamableHttpConfig | MCPSSEConfig>): HttpTimes {
  const { timeout, sse_read_timeout } = config.server_parameters;
  return { timeoutMs: toMilliseconds(timeout), silenceMs: toMilliseconds(sse_read_timeout) };
}

/** Seconds, or an ISO 8601 duration. */
function toMilliseconds(time: number | string): number {
  const ms = typeof time === "number" ? time * 1000 : Temporal.Duration.from(time).total("milliseconds");
  return Math.min(ms, MAX_TIMER_MS);
}

function toHeaders(headers: Readonly<Record<string, unknown>> | null): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]));
}

/** The URL may carry secrets: the message does not show it. */
function parseUrl(raw: string): URL {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new ConfigurationError("Cannot use the MCP server's URL: not an http or https URL");
}
