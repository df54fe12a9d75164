/** WebSocket to the Server: through the proxy, if there is one, and with a reason when it does not open. */
import { NodeWebSocket } from "socket.io-client";
import type { FailureContext } from "./connect_failure.ts";
import { openTunnel } from "./http_request.ts";

/** How long it may take until the first message, in milliseconds. Socket.IO would wait for a proxy that passes none on. */
const OPENING_TIMEOUT_MS = 10_000;

export interface TransportOptions {
  /** Is told why no WebSocket opens. */
  readonly onFailure: (reason: string) => void;
  /** Ends it at once, with what is still being sent. */
  readonly abandon: AbortSignal;
}

/**
 * Makes the transport of one connection.
 *
 * @param origin Of the Server: http or https, host and port.
 */
export function webSocketOf(origin: string, { onFailure, abandon }: TransportOptions): typeof NodeWebSocket {
  return class extends NodeWebSocket {
    readonly #ending = new AbortController();
    #timer: ReturnType<typeof setTimeout> | undefined;
    #tunnel: Awaited<ReturnType<typeof openTunnel>> | undefined;
    #isOpening = true;

    override doOpen(): this {
      const reason = `no answer in ${OPENING_TIMEOUT_MS / 1_000} s`;
      this.#timer = setTimeout(() => this.onError(reason, undefined), OPENING_TIMEOUT_MS);
      abandon.addEventListener("abort", () => this.#abandon(), { once: true });
      openTunnel(origin, { ca: this.opts.ca, signal: this.#ending.signal }).then((tunnel) => {
        if (!this.#isOpening) return void tunnel?.destroy();
        this.#tunnel = tunnel;
        super.doOpen();
      }, (error: Error) => {
        if (this.#isOpening) this.onError(error.message, error, { status: 0, statusText: error });
      });
      return this;
    }

    override createSocket(...[uri, protocols, options]: Parameters<NodeWebSocket["createSocket"]>): unknown {
      const tunnel = this.#tunnel;
      // An agent would make a connection of its own.
      const way = tunnel === undefined ? {} : { agent: undefined, createConnection: () => tunnel };
      return super.createSocket(uri, protocols, { ...options, ...way });
    }

    protected override onData(data: Parameters<NodeWebSocket["onData"]>[0]): void {
      this.#settle();
      super.onData(data);
    }

    protected override onError(reason: string, event: unknown, context?: FailureContext): this {
      const why = reasonIn(event) ?? reason;
      if (this.#settle()) onFailure(why);
      return super.onError(why, event, context);
    }

    protected override onClose(details?: Parameters<NodeWebSocket["onClose"]>[0]): void {
      if (this.#settle()) onFailure("connection closed");
      super.onClose(details);
    }

    override doClose(): void {
      this.#settle();
      this.#ending.abort();
      super.doClose();
    }

    #abandon(): void {
      // Those of browsers cannot; they close by themselves when nobody answers.
      this.ws?.terminate?.();
      this.onError("not closed in time", undefined);
    }

    /** Returns whether it was still opening. */
    #settle(): boolean {
      const wasOpening = this.#isOpening;
      this.#isOpening = false;
      clearTimeout(this.#timer);
      return wasOpening;
    }
  };
}

/** What `ws` says; browsers say nothing. */
function reasonIn(event: unknown): string | undefined {
  const isTold = typeof event === "object" && event !== null && "message" in event;
  if (!isTold || typeof event.message !== "string" || event.message === "") return undefined;
  return event.message.replace(/^Unexpected server response: /, "HTTP ");
}
