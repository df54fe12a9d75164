/** A Socket.IO server without any protocol of ours, to play good, old, silent and hostile Servers. */
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import { Server, type Socket } from "socket.io";

/** Answers an event; one that does not call `ack` leaves it unanswered. */
export type Handler = (body: unknown, ack: (...answer: unknown[]) => void, socket: Socket) => void;

export interface BareServerOptions {
  readonly maxHttpBufferSize?: number;
  /** By event; events without a handler are left unanswered. */
  readonly handlers?: Record<string, Handler>;
  /** Decides on a connection of the namespace: an error refuses it, a promise that never settles keeps it waiting. */
  readonly admit?: (socket: Socket) => Promise<Error | undefined> | Error | undefined;
  /** Answers an HTTP request before Socket.IO sees it; `true` when it did. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export class BareServer implements AsyncDisposable {
  readonly handlers: Record<string, Handler>;
  /** All connections there were, in their order. */
  readonly connections: Socket[] = [];
  readonly #io: Server;
  readonly #http: HttpServer;
  #arrival = Promise.withResolvers<void>();

  private constructor(options: BareServerOptions) {
    this.handlers = options.handlers ?? {};
    this.#http = createServer();
    this.#io = new Server(this.#http, {
      maxHttpBufferSize: options.maxHttpBufferSize ?? 1e6,
      serveClient: false,
    });
    if (options.intercept !== undefined) this.#interceptWith(options.intercept);
    const namespace = this.#io.of("/smcp");
    namespace.use(async (socket, next) => next(await options.admit?.(socket)));
    namespace.on("connection", (socket) => {
      socket.onAny((event: string, body: unknown, ack: unknown) => {
        this.handlers[event]?.(
          body,
          typeof ack === "function" ? (...answer) => ack(...answer) : () => {},
          socket,
        );
      });
      this.connections.push(socket);
      this.#arrival.resolve();
      this.#arrival = Promise.withResolvers();
    });
  }

  static async listen(options: BareServerOptions = {}): Promise<BareServer> {
    const server = new BareServer(options);
    await new Promise<void>((resolve, reject) => {
      server.#http.once("error", reject);
      server.#http.listen(0, "127.0.0.1", resolve);
    });
    return server;
  }

  get port(): number {
    const address = this.#http.address();
    if (typeof address === "string" || address === null) throw new TypeError("Not listening");
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The n-th connection, from 1, once it is there. */
  async connection(count: number): Promise<Socket> {
    while (true) {
      const socket = this.connections[count - 1];
      if (socket !== undefined) return socket;
      await this.#arrival.promise;
    }
  }

  /** Cuts the n-th connection, from 1, as a broken network would. */
  async cut(count: number): Promise<void> {
    const { conn } = await this.connection(count);
    // Cut while it polls, a connection lingers until its next poll.
    if (conn.transport.name !== "websocket") await new Promise((resolve) => conn.once("upgrade", resolve));
    conn.close();
  }

  async close(): Promise<void> {
    await this.#io.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #interceptWith(intercept: NonNullable<BareServerOptions["intercept"]>): void {
    const listeners = this.#http.listeners("request");
    this.#http.removeAllListeners("request");
    this.#http.on("request", (request, response) => {
      if (intercept(request, response)) return;
      for (const listener of listeners) listener.call(this.#http, request, response);
    });
  }
}

/** Accepts every join. */
export const acceptJoin: Handler = (_body, ack) => ack(true, null);
