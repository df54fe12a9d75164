/** The Server: Socket.IO under the offices. */
import { createServer, type Server as HttpServer } from "node:http";
import { Drain } from "./drain.ts";
import { createRefusalLog } from "./bounded_log.ts";
import { answerPlainRequest, refusePlainUpgrade } from "./http.ts";
import {
  httpOptionsOf,
  type ListenOptions,
  requirePositive,
  type SmcpServerOptions,
  toSettings,
} from "./options.ts";
import { DEFAULT_DRAIN_TIMEOUT_MS } from "./limits.ts";
import { openSocketIo, type SocketIoContext, type SocketIoSide } from "./socket_io.ts";
import { type ListenError, startListening, stopListening } from "./sockets/listening.ts";
import { PipeliningGuard } from "./sockets/pipelining.ts";
import { defaultMaxSockets, TcpSockets } from "./sockets/tcp_sockets.ts";
import { Watchdog } from "./sockets/watchdog.ts";

/**
 * The hub of the protocol: it keeps offices, relays `client:*` requests from an Agent to a Computer of the same office,
 * and turns `server:*` events into `notify:*` broadcasts. It does not read what it relays.
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
  readonly #drain: (timeoutMs: number) => Promise<void>;
  readonly #address: Address | undefined;
  readonly #failure: Promise<ListenError>;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(parts: {
    readonly http: HttpServer;
    readonly stop: () => Promise<void>;
    readonly drain: (timeoutMs: number) => Promise<void>;
    readonly address?: Address;
    readonly failure?: Promise<ListenError>;
  }) {
    this.#http = parts.http;
    this.#failure = parts.failure ?? new Promise(() => {});
    this.#stop = parts.stop;
    this.#drain = parts.drain;
    this.#address = parts.address;
  }

  /**
   * Starts a Server with its own HTTP server, on `http://127.0.0.1:3000` by default.
   *
   * @param options The address, the rules of admission, and the bounds.
   * @throws {TypeError} for a host beyond loopback with neither `auth` nor `allowAnonymous`, and for other misuse.
   * @throws {ListenError} when the Server cannot listen on the address; the message gives the reason.
   */
  static async listen(options: ListenOptions = {}): Promise<SmcpServer> {
    const { host = "127.0.0.1", port = 3000, signal } = options;
    const settings = toSettings(options, host);
    const maxSockets = requirePositive("maxSockets", options.maxSockets ?? defaultMaxSockets());
    const failure = Promise.withResolvers<ListenError>();
    let watchdog: Watchdog | undefined;
    const { handshake, logger } = settings;
    const drain = new Drain();
    const checkHealth = () => watchdog?.isHealthy === false ? "cannot accept connections" : undefined;
    const checkReadiness = () => drain.isStarted ? "shutting down" : checkHealth();
    const checks = new Map([["/", checkHealth], ["/healthz", checkHealth], ["/readyz", checkReadiness]]);
    const http = createServer(httpOptionsOf(options), (request, response) => {
      answerPlainRequest(request, response, { handshake, checks });
    });
    http.on("upgrade", refusePlainUpgrade);
    const refusals = createRefusalLog(logger);
    const side = openGuarded(http, { settings, refusals, drain, maxSockets });
    const stop = async () => {
      await watchdog?.close();
      await side.close();
      await stopListening(http);
      refusals.close();
    };
    try {
      const address = { host, port: await startListening(http, { host, port, signal }) };
      watchdog = new Watchdog(http, { ...address, logger, onFailed: failure.resolve });
      return new SmcpServer({
        http,
        address,
        stop,
        drain: (timeoutMs) => drain.run({ ...side, timeoutMs, logger }),
        failure: failure.promise,
      });
    } catch (error) {
      await side.close();
      refusals.close();
      throw error;
    }
  }

  /**
   * Serves the protocol on an HTTP server of the host program. That server keeps serving all other paths, and `close()`
   * leaves it open. Its own settings apply to the number of TCP connections, the time for a request's headers, and
   * pipelined requests. This Server does not check whether it still accepts connections.
   *
   * @param http A `node:http` server, listening or not. Add its other listeners first.
   * @param options The rules of admission, and the bounds.
   * @throws {TypeError} with neither `auth` nor `allowAnonymous`, and for other misuse.
   */
  static attach(http: HttpServer, options: SmcpServerOptions): SmcpServer {
    const settings = toSettings(options, undefined);
    const refusals = createRefusalLog(settings.logger);
    const drain = new Drain();
    const side = openSocketIo(http, { settings, refusals, drain, onAdopted: () => {} });
    const stop = async () => {
      await side.close();
      refusals.close();
    };
    const { logger } = settings;
    return new SmcpServer({
      http,
      stop,
      drain: (timeoutMs) => drain.run({ ...side, timeoutMs, logger }),
    });
  }

  /**
   * `http://host:port` with the port that the Server listens on.
   *
   * @throws {TypeError} while the HTTP server of the host program does not listen.
   */
  get url(): string {
    const { host, port } = this.#addressNow();
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /**
   * The port that the Server listens on.
   *
   * @throws {TypeError} while the HTTP server of the host program does not listen.
   */
  get port(): number {
    return this.#addressNow().port;
  }

  /**
   * Resolves when the Server can no longer accept connections, and listening again did not help. End the process then, so
   * that its supervisor restarts it. It never resolves after {@linkcode SmcpServer.attach}.
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

  /**
   * Closes the Server without losing requests. From now on `/readyz` and new sessions are answered 503. All members are
   * told to reconnect, requests in flight finish, and each connection is closed when it has none. What is left after
   * `timeoutMs` fails with 503. Idempotent; `close()` ends it at once.
   *
   * @param options `timeoutMs`: the time for all of this, in milliseconds; 4,000 by default, since many platforms kill a
   * process 5 seconds after the signal.
   *
   * @example
   * \`\`\`ts
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * const server = await SmcpServer.listen({ port: 0 });
   * await server.drain({ timeoutMs: 1_000 });
   * \`\`\`
   */
  drain({ timeoutMs = DEFAULT_DRAIN_TIMEOUT_MS }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.#draining ??= this.#drainAndClose(timeoutMs);
  }

  async #drainAndClose(timeoutMs: number): Promise<void> {
    if (this.#closing === undefined) await this.#drain(timeoutMs);
    await this.close();
  }

  /** Closes all connections and stops listening. Idempotent. */
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
    throw new TypeError("Cannot get the address of the Server: its HTTP server is not listening");
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Sets up Socket.IO on the Server's own HTTP server, with bounds on its TCP connections. */
function openGuarded(
  http: HttpServer,
  context: Omit<SocketIoContext, "onAdopted"> & { readonly maxSockets: number },
): SocketIoSide {
  const { settings, refusals, drain, maxSockets } = context;
  const sockets = new TcpSockets(http, {
    ...settings,
    maxSockets,
    onRefused: (address) =>
      refusals.write("warn", "refused a TCP connection: too many are open", { address }),
  });
  const side = openSocketIo(http, {
    settings,
    refusals,
    drain,
    onAdopted(socket) {
      sockets.adopt(socket);
      pipelining.release(socket);
    },
  });
  // Created last, since its listeners must come before all others.
  const pipelining = new PipeliningGuard(
    http,
    (address) => refusals.write("warn", "dropped a connection: it sent pipelined requests", { address }),
  );
  const close = async () => {
    await side.close();
    sockets.close();
    pipelining.close();
  };
  return { ...side, close };
}
