/** A port on loopback without TLS, for members in the Server's own process: no certificate names their way to it. */
import { createServer, type RequestListener, type Server as HttpServer, type ServerOptions } from "node:http";
import { startListening, stopListening } from "../../http/listening.ts";
import { refusePlainUpgrade } from "./opening_handshake.ts";

const HOST = "127.0.0.1";

export class InnerPort {
  readonly #http: HttpServer;

  /** @param options `install`: serves the path of Socket.IO on an HTTP server. */
  constructor(
    httpOptions: ServerOptions,
    { onRequest, install }: {
      readonly onRequest: RequestListener;
      readonly install: (http: HttpServer) => void;
    },
  ) {
    this.#http = createServer(httpOptions, onRequest);
    this.#http.on("upgrade", refusePlainUpgrade);
    install(this.#http);
  }

  /** Listens on a free port, and resolves to the URL. */
  async listen(signal: AbortSignal | undefined): Promise<string> {
    return `http://${HOST}:${await startListening(this.#http, { host: HOST, port: 0, signal })}`;
  }

  close(): Promise<void> {
    return stopListening(this.#http);
  }
}
