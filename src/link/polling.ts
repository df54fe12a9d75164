/**
 * Polling that sends requests only to the given Server. The transports of engine.io-client follow a redirect to any host
 * with all headers, including credentials, and read an answer of any size into memory.
 */
import { Buffer } from "node:buffer";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Fetch } from "socket.io-client";
import type { FailureContext } from "./connect_failure.ts";

/** The longest answer, in bytes; the websocket of engine.io-client takes no longer message either. */
const MAX_ANSWER_BYTES = 100 * 1024 * 1024;
/** The longest answer that is a handshake or a refusal, in bytes. */
const MAX_FIRST_ANSWER_BYTES = 64 * 1024;

/** What one HTTP request comes to. */
interface Exchange {
  readonly body?: string;
  readonly onAnswer: (text: string) => void;
  readonly onFailure: (context: FailureContext) => void;
}

/** Engine.IO's HTTP long-polling, without redirects, and with a bound to what is read. */
export class StrictPolling extends Fetch {
  readonly #requests = new Set<ClientRequest>();

  override doPoll(): void {
    this.#send({
      onAnswer: (text) => this.onData(text),
      onFailure: (context) => this.onError("poll error", context.status, context),
    });
  }

  override doWrite(body: string, onWritten: () => void): void {
    this.#send({
      body,
      onAnswer: onWritten,
      onFailure: (context) => this.onError("post error", context.status, context),
    });
  }

  /** Before the handshake is answered there is nothing to say farewell to, and the answer may never come. */
  override doClose(): void {
    if (this.readyState === "open") return super.doClose();
    for (const request of this.#requests) request.destroy();
  }

  #send(exchange: Exchange): void {
    const { body } = exchange;
    const maxBytes = this.readyState === "open" ? MAX_ANSWER_BYTES : MAX_FIRST_ANSWER_BYTES;
    // As from the network: never before the caller has its transport.
    const fail = (error: unknown) => {
      if (this.readyState === "closed") return;
      this.setTimeoutFn(() => exchange.onFailure({ status: 0, statusText: error }), 0);
    };
    try {
      const url = new URL(this.uri());
      const headers = { accept: "*/*", ...this.opts.extraHeaders, ...bodyHeaders(body) };
      const options = { method: body === undefined ? "GET" : "POST", headers, agent: false } as const;
      const request = url.protocol === "https:"
        ? requestHttps(url, { ...options, ca: this.opts.ca })
        : requestHttp(url, options);
      this.#requests.add(request);
      request.once("close", () => this.#requests.delete(request));
      request.once(
        "response",
        (response: IncomingMessage) => readAnswer(response, { ...exchange, fail, maxBytes }),
      );
      request.on("error", fail);
      request.end(body);
    } catch (error) {
      fail(error);
    }
  }
}

function bodyHeaders(body: string | undefined): Record<string, string> {
  if (body === undefined) return {};
  return {
    "content-type": "text/plain;charset=UTF-8",
    "content-length": String(Buffer.byteLength(body)),
  };
}

function readAnswer(
  response: IncomingMessage,
  exchange: Exchange & { readonly fail: (error: unknown) => void; readonly maxBytes: number },
): void {
  const { onAnswer, onFailure, fail } = exchange;
  const { statusCode: status = 0, headers: { location } } = response;
  const isAnswer = status === 200;
  const maxBytes = isAnswer ? exchange.maxBytes : MAX_FIRST_ANSWER_BYTES;
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  const settle = () => {
    const text = Buffer.concat(pieces).toString("utf8");
    if (isAnswer) onAnswer(text);
    else onFailure({ status, responseText: text, location });
  };
  response.on("data", (piece: Uint8Array) => {
    sizeBytes += piece.length;
    if (sizeBytes <= maxBytes) return void pieces.push(piece);
    response.removeAllListeners("end");
    response.destroy();
    if (isAnswer) fail(new RangeError(`Cannot read an answer of more than ${maxBytes} bytes`));
    else settle();
  });
  response.once("end", settle);
  response.on("error", fail);
}
