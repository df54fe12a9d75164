/**
 * Polling that sends requests only to the given Server. The transports of engine.io-client follow a redirect to any host
 * with all headers, including credentials, and read an answer of any size into memory.
 */
import { Fetch } from "socket.io-client";
import type { FailureContext } from "./connect_failure.ts";
import { sendRequest } from "./http_request.ts";
import type { TransportOptions } from "./websocket.ts";

/** The longest answer, in bytes; outside of browsers, the websocket takes no longer message either. */
const MAX_ANSWER_BYTES = 100 * 1024 * 1024;
/** The longest answer that is a handshake or a refusal, in bytes. */
const MAX_FIRST_ANSWER_BYTES = 64 * 1024;

interface Exchange {
  readonly body?: string;
  readonly onAnswer: (text: string) => void;
  readonly onFailure: (context: FailureContext) => void;
}

/** Makes Engine.IO's HTTP long-polling of one connection, without redirects, and with a bound to what is read. */
export function pollingOf({ abandon }: Pick<TransportOptions, "abandon">): typeof Fetch {
  return class extends Fetch {
    readonly #ending = new AbortController();
    #failing: ReturnType<typeof setTimeout> | undefined;

    override doOpen(): void {
      abandon.addEventListener("abort", () => this.#ending.abort(), { once: true });
      super.doOpen();
    }

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
      this.#ending.abort();
      clearTimeout(this.#failing);
    }

    #send({ body, onAnswer, onFailure }: Exchange): void {
      const answering = sendRequest(this.uri(), {
        body,
        headers: { ...this.opts.extraHeaders },
        ca: this.opts.ca,
        maxBytes: this.readyState === "open" ? MAX_ANSWER_BYTES : MAX_FIRST_ANSWER_BYTES,
        maxRefusalBytes: MAX_FIRST_ANSWER_BYTES,
        signal: this.#ending.signal,
      });
      answering.then(({ status, text, ...rest }) => {
        if (status === 200) onAnswer(text);
        else onFailure({ status, responseText: text, ...rest });
      }, (error: unknown) => {
        if (this.readyState === "closed") return;
        // As from the network: never before the caller has its transport.
        this.#failing = setTimeout(() => onFailure({ status: 0, statusText: error }), 0);
      });
    }
  };
}
