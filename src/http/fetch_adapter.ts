/** Answers requests of `node:http` by a handler of web-standard ones, with back-pressure in both directions. */
import { pairsOf } from "./header_pairs.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import { refuseRequest } from "./refusals.ts";

export interface FetchOptions {
  /** The scheme and the host of the URL, such as `https://hub.example.com`. */
  readonly origin: string;
  /** Must not reject. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** The connections with an answer under way. */
const busy = new WeakSet<Duplex>();

/**
 * Answers a request, whose URL must be a path. Nothing of its body is read before the handler asks for it. The signal of
 * the web-standard request is aborted when the client is gone before it has the whole answer. Never rejects.
 */
export async function answerByFetch(
  request: IncomingMessage,
  response: ServerResponse,
  { origin, fetch }: FetchOptions,
): Promise<void> {
  const { socket } = request;
  // Clients of MCP do not pipeline requests, and the answers to thousands of them would have to wait in memory.
  if (busy.has(socket)) return void socket.destroy();
  busy.add(socket);
  const gone = new AbortController();
  response.once("close", () => {
    busy.delete(socket);
    if (!response.writableFinished) gone.abort(new DOMException("The client is gone", "AbortError"));
  });
  response.once("finish", () => busy.delete(socket));
  // The peer may have disconnected.
  response.on("error", () => undefined);
  let asked: Request;
  try {
    asked = toWebRequest(request, { origin, signal: gone.signal });
  } catch {
    const body = { error: "Cannot read the request: its method, host or path cannot be used" };
    return refuseRequest(response, { status: 400, headers: { "content-type": "application/json" }, body });
  }
  const answer = await fetch(asked);
  await send(request.method === "HEAD" ? withoutBody(answer) : answer, response);
}

function withoutBody({ status, headers, body }: Response): Response {
  void body?.cancel().catch(() => undefined);
  return new Response(null, { status, headers: pairsOf(headers) });
}

/** @throws {TypeError} for a method that no handler gets, and for a host that is none: it would lead to another path. */
function toWebRequest(
  request: IncomingMessage,
  { origin, signal }: { readonly origin: string; readonly signal: AbortSignal },
): Request {
  const {
    method = "GET",
    url = "/",
    rawHeaders,
    headers: { "transfer-encoding": coding, "content-length": size },
  } = request;
  const base = new URL(origin);
  if (base.href !== `${base.origin}/`) throw new TypeError("Cannot use the host of the request");
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    headers.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  const hasBody = coding !== undefined || Number(size ?? 0) > 0;
  const body = hasBody && method !== "GET" && method !== "HEAD" ? bodyOf(request) : null;
  return new Request(`${origin}${url}`, { method, headers, body, signal });
}

/** The body, of which a piece is read when the reader asks for one. */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  let isOver = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (settle: () => void) => () => {
        if (!isOver) settle();
        isOver = true;
      };
      request.on("data", (piece: Uint8Array) => {
        if (isOver) return;
        controller.enqueue(piece);
        request.pause();
      });
      request.once("end", end(() => controller.close()));
      const lose = end(() => controller.error(new DOMException("The body was cut off", "AbortError")));
      request.once("error", lose).once("close", lose);
      request.pause();
    },
    pull: () => void request.resume(),
    cancel() {
      isOver = true;
      request.pause();
    },
  }, { highWaterMark: 0 });
}

/** Sends an answer as fast as its client reads it. Ends the connection when the rest of an answer is lost. */
async function send({ status, headers, body }: Response, response: ServerResponse): Promise<void> {
  const reader = body?.getReader();
  // What still waits for the next piece ends with the client.
  response.once("close", () => void reader?.cancel().catch(() => undefined));
  try {
    response.writeHead(status, headersOf(headers));
    let next = reader?.read();
    // The head of an answer that begins later is sent alone, and one that is there already goes as a whole.
    if (next !== undefined && !(await isReady(next))) response.flushHeaders();
    for (let piece = await next; piece?.value !== undefined; piece = await next) {
      next = reader?.read();
      const isLast = next !== undefined && await isReady(next) && (await next).done;
      if (isLast) return void response.end(piece.value);
      if (!response.write(piece.value)) await untilDrained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Whether a promise settles before other work has its turn. */
function isReady(promise: Promise<unknown>): Promise<boolean> {
  const later = new Promise<boolean>((resolve) => setImmediate(resolve, false));
  return Promise.race([promise.then(() => true), later]);
}

function headersOf(headers: Headers): Record<string, string | string[]> {
  const cookies = headers.getSetCookie();
  const others = pairsOf(headers).filter(([name]) => name !== "set-cookie");
  return { ...Object.fromEntries(others), ...(cookies.length === 0 ? {} : { "set-cookie": cookies }) };
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve();
    };
    response.on("drain", settle).on("close", settle);
    if (response.destroyed) settle();
  });
}
