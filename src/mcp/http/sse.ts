/** HTTP with Server-Sent Events, as before Streamable HTTP: one stream for all that the server says, and a URL to post to. */
import type { HttpConfig } from "../auth/protected_server.ts";
import { ServerNotRunningError } from "../errors.ts";
import type { RpcMessage, Transport } from "../json_rpc.ts";
import { type HttpContext, type HttpListener, HttpRequests } from "./requests.ts";

export class SseTransport implements Transport {
  onmessage?: Transport["onmessage"];
  readonly #http: HttpRequests;
  readonly #listener: HttpListener;
  readonly #begun = Promise.withResolvers<void>();
  #endpoint: URL | undefined;
  #version: string | undefined;

  /** @throws {ConfigurationError} when the URL cannot be used. */
  constructor(config: HttpConfig, context: HttpContext) {
    this.#http = new HttpRequests(config, context);
    this.#listener = context.listener;
    // Nobody may wait for it when the stream ends.
    this.#begun.promise.catch(() => {});
  }

  /** Resolves when the server has said where to post to. */
  async start(): Promise<void> {
    const { url, over: signal } = this.#http;
    const response = await this.#http.exchange(url, { headers: { accept: "text/event-stream" }, signal });
    this.#listen(response).catch(() => {});
    await this.#begun.promise;
  }

  setProtocolVersion(version: string): void {
    this.#version = version;
  }

  async send(message: RpcMessage): Promise<void> {
    const headers = {
      "content-type": "application/json",
      ...(this.#version !== undefined && { "mcp-protocol-version": this.#version }),
    };
    if (this.#endpoint === undefined) throw new ServerNotRunningError({ reason: "not started" });
    const { body } = await this.#http.exchange(this.#endpoint, { message, headers, signal: this.#http.over });
    await body?.cancel();
  }

  close(): Promise<void> {
    this.#http.close();
    return Promise.resolve();
  }

  async #listen(response: Response): Promise<void> {
    const signal = this.#http.over;
    await this.#http.read({
      response,
      signal,
      onEvent: ({ name, data }) => {
        if (name === "endpoint") this.#hearEndpoint(data);
        return name === "endpoint";
      },
      onMessage: (message) => this.onmessage?.(message),
    });
    // Another stream would begin a session that is not initialized.
    this.#end("event stream lost");
  }

  /** The server may name another URL at any time, but only one of its own origin, which gets its tokens. */
  #hearEndpoint(text: string): void {
    const { origin } = this.#http.url;
    const url = URL.parse(text, this.#http.url);
    if (url?.origin !== origin) return this.#end("it names an endpoint of another origin");
    this.#endpoint = url;
    this.#begun.resolve();
  }

  #end(reason: string): void {
    const error = new ServerNotRunningError({ reason });
    this.#begun.reject(error);
    this.#listener.onGone(reason, error);
  }
}
