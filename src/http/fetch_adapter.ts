/** Answers requests of `node:http` by a handler of web-standard ones, with back-pressure in both directions. */
import { type AskedHeaders, type AskedRequest, LENGTH_HEADER, pairsOf } from "./headers.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { refuseRequest } from "./refusals.ts";

export interface FetchOptions {
  /** The scheme and the host of the URL, such as `https://hub.example.com`. */
  readonly origin: string;
  /** Must not reject. */
  readonly fetch: (request: AskedRequest) => Promise<Response>;
}

/** The connections with an answer under way. */
const busy = new WeakSet<Duplex>();

/**
 * Answers a request, whose URL must be a path. Nothing of its body is read before the handler asks for it. Never rejects.
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
  let asked: AskedRequest;
  try {
    asked = new IncomingRequest(request, { origin, signal: gone.signal });
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

/** A request of `node:http` as one of the web. */
class IncomingRequest implements AskedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: AskedHeaders;
  readonly signal: AbortSignal;
  readonly #incoming: IncomingMessage;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;

  /** @throws {TypeError} for a host that is none: it would lead to another path. */
  constructor(
    incoming: IncomingMessage,
    { origin, signal }: { readonly origin: string; readonly signal: AbortSignal },
  ) {
    if (!ORIGIN.test(origin)) throw new TypeError("Cannot use the host of the request");
    this.method = incoming.method ?? "GET";
    this.url = new URL(`${origin}${incoming.url}`).href;
    this.headers = new IncomingHeaders(incoming.rawHeaders);
    this.signal = signal;
    this.#incoming = incoming;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    const { "transfer-encoding": coding, "content-length": size } = this.#incoming.headers;
    const hasBody = coding !== undefined || Number(size ?? 0) > 0;
    if (!hasBody || this.method === "GET" || this.method === "HEAD") return null;
    return this.#body ??= bodyOf(this.#incoming);
  }
}

const ORIGIN = /^https?:\/\/[^/?#@\\\s]+$/;

class IncomingHeaders implements AskedHeaders {
  readonly #values = new Map<string, string>();

  /** @param raw Names and values in turns. */
  constructor(raw: readonly string[]) {
    for (let index = 0; index + 1 < raw.length; index += 2) {
      const name = raw[index]?.toLowerCase() ?? "";
      const value = raw[index + 1] ?? "";
      const before = this.#values.get(name);
      this.#values.set(name, before === undefined ? value : `${before}, ${value}`);
    }
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  forEach(visit: (value: string, name: string) => void): void {
    this.#values.forEach((value, name) => visit(value, name));
  }
}

/** The body, of which a piece is read when the reader asks for one. */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  return new ReadableStream({
    start(controller) {
      const end = (settle: () => void) => () => {
        if (!isOver) settle();
        isOver = true;
      };
      request.on("data", (piece: Uint8Array<ArrayBuffer>) => {
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

/**
 * Sends an answer as fast as its client reads it, and one of a known length at once. Ends the connection when the rest of an
 * answer is lost.
 */
async function send(answer: Response, response: ServerResponse): Promise<void> {
  const { status, headers } = answer;
  try {
    response.writeHead(status, headersOf(headers));
    if (headers.has(LENGTH_HEADER)) return void response.end(await answer.bytes());
    const reader = answer.body?.getReader();
    if (reader === undefined) return void response.end();
    // What still waits for the next piece ends with the client.
    response.once("close", () => void reader.cancel().catch(() => undefined));
    response.flushHeaders();
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if (!response.write(piece.value)) await untilDrained(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    response.destroy();
  }
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
