/** How long one HTTP request to an MCP server is waited for. */
import { Backoff, type BackoffOptions, delay } from "../../async/backoff.ts";
import { Deadline } from "../../async/deadline.ts";
import { ServerTimeoutError } from "../errors.ts";

/** Waits before a standing stream that was refused for now is asked for again. */
const STREAM_BACKOFF: BackoffOptions = { firstMs: 500, maxMs: 60_000 };
/** What a busy server answers, or a proxy before it; everything else says that there is no standing stream. */
const PASSING_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** What the configuration says of time, in milliseconds. */
export interface HttpTimes {
  /** How long an answer may take to begin (`timeout`). */
  readonly timeoutMs: number;
  /** How long a body may say nothing (`sse_read_timeout`). */
  readonly silenceMs: number;
}

/** A request that can be sent, and sent again. */
export interface HttpRequest {
  readonly kind: "sse" | "streamable";
  /** The HTTP method. */
  readonly method: string;
  /** Whether it is a tool call, which a server that answers in JSON answers when the tool is done. */
  readonly isCall: boolean;
  readonly signal: AbortSignal | undefined;
  readonly send: (signal: AbortSignal | undefined) => Promise<Response>;
}

/**
 * Sends a request and waits for the head of its answer.
 *
 * @throws {ServerTimeoutError} when that takes too long.
 */
export async function answerOf(request: HttpRequest, times: HttpTimes): Promise<Response> {
  const { kind, method, isCall, signal, send } = request;
  if (method === "GET" && kind === "streamable") return await openedStream(request);
  const timeoutMs = isCall && kind === "streamable"
    ? Math.max(times.timeoutMs, times.silenceMs)
    : times.timeoutMs;
  using deadline = new Deadline(timeoutMs, {
    reason: () => new ServerTimeoutError(`Cannot use the MCP server: no HTTP answer in ${timeoutMs} ms`),
    signal,
  });
  return await send(deadline.signal);
}

/**
 * A stream opens when its server has something to say, or at once. The SDK would ask for one that failed to open
 * twice more at the most, and then be deaf to the server for good.
 */
async function openedStream({ signal, send }: HttpRequest): Promise<Response> {
  const backoff = new Backoff(STREAM_BACKOFF);
  while (true) {
    const response = await send(signal);
    if (!PASSING_STATUS.has(response.status)) return response;
    await response.body?.cancel();
    await delay(backoff.next(), signal);
  }
}
