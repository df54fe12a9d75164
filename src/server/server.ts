/** The Server: Socket.IO under the offices. */
import { createServer, type Server as HttpServer } from "node:http";
import { createRefusalLog } from "./bounded_log.ts";
import { answerPlainRequest, refusePlainUpgrade } from "./http.ts";
import {
  httpOptionsOf,
  type ListenOptions,
  requirePositive,
  type SmcpServerOptions,
  toSettings,
} from "./options.ts";
import { openSocketIo, type SocketIoContext } from "./socket_io.ts";
import { type ListenError, startListening, stopListening } from "./sockets/listening.ts";
import { PipeliningGuard } from "./sockets/pipelining.ts";
import { defaultMaxSockets, TcpSockets } from "./sockets/tcp_sockets.ts";
import { Watchdog } from "./sockets/watchdog.ts";

/**
 * The signalling hub of the protocol: keeps offices, relays `client:*` requests from an Agent to a Computer of its
 * office, and turns `server:*` events into `notify:*` broadcasts. It never looks inside what it relays.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SmcpServer } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0 });
 * const answer = await fetch(`${server.url}/healthz`);
 * assertEquals(await answer.text(), "A2C-SMCP Server: ok\n");
 * ```
 */
export class SmcpServer implements AsyncDisposable {
  readonly #http: HttpServer;
  readonly #stop: () => Promise<void>;
  readonly #address: Address | undefined;
  readonly #failure: Promise<ListenError>;
  #closing: Promise<void> | undefined;

  private constructor(parts: {
    readonly http: HttpServer;
    readonly stop: () => Promise<void>;
    readonly address?: Address;
    readonly failure?: Promise<ListenError>;
  }) {
    this.#http = parts.http;
    this.#failure = parts.failure ?? new Promise(() => {});
    this.#stop = parts.stop;
    this.#address = parts.address;
  }

  /**
   * Starts a Server on an address of its own, `http://127.0.0.1:3000` by default.
   *
   * @param options Where to listen, whom to admit, and the bounds.
   * @throws {TypeError} for a host beyond loopback with neither `auth` nor `allowAnonymous`, and for other misuse.
   * @throws {ListenError} when the address cannot be had; the message says why.
   */
  static async listen(options: ListenOptions = {}): Promise<SmcpServer> {
    const { host = "127.0.0.1", port = 3000, signal } = options;
    const settings = toSettings(options, host);
    const maxSockets = requirePositive("maxSockets", options.maxSockets ?? defaultMaxSockets());
    const failure = Promise.withResolvers<ListenError>();
    let watchdog: Watchdog | undefined;
    const { handshake, logger } = settings;
    const http = createServer(httpOptionsOf(options), (request, response) => {
      answerPlainRequest(request, response, { handshake, isHealthy: () => watchdog?.isHealthy ?? true });
    });
    http.on("upgrade", refusePlainUpgrade);
    const refusals = createRefusalLog(logger);
    const closeSocketIo = openGuarded(http, { settings, refusals, maxSockets });
    const stop = async () => {
      await watchdog?.close();
      await closeSocketIo();
      await stopListening(http);
      refusals.close();
    };
    try {
      const address = { host, port: await startListening(http, { host, port, signal }) };
      watchdog = new Watchdog(http, { ...address, logger, onFailed: failure.resolve });
      return new SmcpServer({ http, address, stop, failure: failure.promise });
    } catch (error) {
      await closeSocketIo();
      refusals.close();
      throw error;
    }
  }

  /**
   * Serves the protocol on an HTTP server of the host program, which keeps all other paths and its own life. What comes
   * before a request reaches this Server has the bounds of that HTTP server: the number of TCP connections, the time of a
   * request's head, requests that are sent in one piece, and whether connections are still accepted.
   *
   * @param http A `node:http` server, listening or not. Add its other listeners first.
   * @param options Whom to admit, and the bounds.
   * @throws {TypeError} with neither `auth` nor `allowAnonymous`, and for other misuse.
   */
  static attach(http: HttpServer, options: SmcpServerOptions): SmcpServer {
    const settings = toSettings(options, undefined);
    const refusals = createRefusalLog(settings.logger);
    const closeSocketIo = openSocketIo(http, { settings, refusals, onAdopted: () => {} });
    const stop = async () => {
      await closeSocketIo();
      refusals.close();
    };
    return new SmcpServer({ http, stop });
  }

  /**
   * `http://host:port` with the real port.
   *
   * @throws {TypeError} while the HTTP server that this one is attached to does not listen.
   */
  get url(): string {
    const { host, port } = this.#addressNow();
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /**
   * The real port.
   *
   * @throws {TypeError} while the HTTP server that this one is attached to does not listen.
   */
  get port(): number {
    return this.#addressNow().port;
  }

  /**
   * Resolves when the Server can no longer accept connections and listening anew did not help; end the process then, so
   * that its supervisor starts another one. A Server that was attached to another HTTP server never tells.
   *
   * @example
   * ```ts
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * await using server = await SmcpServer.listen({ port: 0 });
   * void server.untilFailed().then((error) => {
   *   console.error(error.message);
   *   Deno.exit(1);
   * });
   * ```
   */
  untilFailed(): Promise<ListenError> {
    return this.#failure;
  }

  /** Ends all connections and stops listening. Calling it again changes nothing. */
  close(): Promise<void> {
    return this.#closing ??= this.#stop();
  }

  /** The same as {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #addressNow(): Address {
    if (this.#address !== undefined) return this.#address;
    const bound = this.#http.address();
    if (typeof bound === "object" && bound !== null) return { host: bound.address, port: bound.port };
    throw new TypeError("Cannot tell the Server's address: its HTTP server is not listening");
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Sets Socket.IO up on an HTTP server of its own, whose TCP connections are bounded; the returned function closes it. */
function openGuarded(
  http: HttpServer,
  context: Omit<SocketIoContext, "onAdopted"> & { readonly maxSockets: number },
): () => Promise<void> {
  const { settings, refusals, maxSockets } = context;
  const sockets = new TcpSockets(http, {
    ...settings,
    maxSockets,
    onRefused: (address) =>
      refusals.write("warn", "refused a TCP connection: too many are open", { address }),
  });
  const closeSocketIo = openSocketIo(http, {
    settings,
    refusals,
    onAdopted(socket) {
      sockets.adopt(socket);
      pipelining.release(socket);
    },
  });
  // Last, since it must come before all other listeners.
  const pipelining = new PipeliningGuard(
    http,
    (address) => refusals.write("warn", "dropped a connection: it sent many requests at once", { address }),
  );
  return async () => {
    await closeSocketIo();
    sockets.close();
    pipelining.close();
  };
}
