/** The Server: Socket.IO under the offices. */
import {
  createServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { Duplex } from "node:stream";
import { Drain, type SurroundingWork } from "./drain.ts";
import { createMetricsPage, Health, openMetricsPort } from "./observe/pages.ts";
import { settledWithin } from "../async/abortable.ts";
import { createRefusalLog } from "./observe/logs.ts";
import { answerPlainRequest, type OtherPaths } from "./engine/port.ts";
import { refusePlainUpgrade } from "./engine/opening_handshake.ts";
import {
  httpOptionsOf,
  isCounted,
  type ListenOptions,
  metricsPlaceOf,
  requireKnownOptions,
  type Settings,
  type SmcpServerOptions,
  toSettings,
} from "./options/settings.ts";
import { optionLabel, requireNumber } from "./options/checks.ts";
import { CONSTANTS } from "./options/constants.ts";
import type { Offices } from "./offices/offices.ts";
import { OPTIONS } from "./options/table.ts";
import { Insight } from "./observe/insight.ts";
import type { Refusal } from "./observe/meter.ts";
import { openSocketIo, type SocketIoContext, type SocketIoSide } from "./socket_io.ts";
import { loadTracing } from "../tracing.ts";
import { type ListenError, startListening, stopListening } from "../http/listening.ts";
import { defaultMaxSockets, TcpSockets, warnOfOpenFiles } from "./engine/tcp_sockets.ts";
import { ServerCertificate } from "../http/tls.ts";
import { Watchdog } from "./engine/watchdog.ts";

/** Starts a Server as `SmcpServer.listen()` does, with further paths on its port. For programs of this package. */
export let listenBeside: (options: ListenOptions, others: OtherPaths) => Promise<SmcpServer>;
/** What a program around such a Server uses of it, without the network. */
export let innerSideOf: (server: SmcpServer) => InnerSide;
/** Drains such a Server, and what a program runs around it, as one. */
export let drainWith: (
  server: SmcpServer,
  options: { readonly timeoutMs: number; readonly around: SurroundingWork | undefined },
) => Promise<void>;
/** What operators see of such a Server. */
export let insightOf: (server: SmcpServer) => Insight;

export interface InnerSide {
  /** Opens the WebSocket of a member. */
  readonly openSocket: SocketIoSide["connectInner"];
  /** The members of an office, of all processes, without observers. */
  readonly membersOf: Offices["members"];
  /** Counts a refusal of the program. */
  readonly refused: (refusal: Refusal) => void;
}

/** How long a start waits for Redis. After that the Server listens, not ready, and goes on trying. */
const OFFICES_START_MS = 5_000;

/**
 * The relay of the protocol: it keeps offices, relays `client:*` requests from an Agent to a Computer of the same office,
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
  readonly #parts: Parts;
  #draining: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  static {
    listenBeside = (options, others) => SmcpServer.#listen(options, others);
    innerSideOf = (server) => {
      const { side: { connectInner: openSocket, relayState: { offices } }, insight } = server.#parts;
      return {
        openSocket,
        membersOf: (office) => offices.members(office),
        refused: (refusal) => insight.refused(refusal),
      };
    };
    drainWith = (server, options) => server.#draining ??= server.#drainAndClose(options);
    insightOf = (server) => server.#parts.insight;
  }

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Starts a Server with its own HTTP server, on `http://127.0.0.1:3000` by default.
   *
   * @param options The address, the rules of admission, and the bounds.
   * @throws {TypeError} for a host beyond loopback with neither `auth` nor `allowAnonymous`, and for other misuse.
   * @throws {ListenError} when the Server cannot listen on the address; the message gives the reason.
   */
  static listen(options: ListenOptions = {}): Promise<SmcpServer> {
    return SmcpServer.#listen(options);
  }

  static async #listen(options: ListenOptions, others?: OtherPaths): Promise<SmcpServer> {
    requireKnownOptions(options, { isListening: true });
    const { host = OPTIONS.host.default, port = OPTIONS.port.default, signal } = options;
    await loadTracing();
    const maxSockets = requireNumber("maxSockets", options.maxSockets ?? defaultMaxSockets());
    const settings = toSettings({ ...options, maxSockets, metrics: isCounted(options) }, host);
    const { logger } = settings;
    if (options.maxSockets !== undefined) warnOfOpenFiles(maxSockets, logger);
    const own = await openOwn({ ...options, maxSockets, others }, settings);
    const { http, side, health, isTls, insight } = own;
    const failure = Promise.withResolvers<ListenError>();
    try {
      await settledWithin(side.relayState.offices.started, OFFICES_START_MS);
      const address = { host, port: await startListening(http, { host, port, signal }), isTls };
      const metricsAddress = await own.metricsPort?.listen(signal);
      health.watchdog = new Watchdog(http, { ...address, logger, onFailed: failure.resolve });
      return new SmcpServer({
        http,
        address,
        insight,
        metricsAddress,
        stop: own.stop,
        side,
        failure: failure.promise,
      });
    } catch (error) {
      await own.stop();
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
    requireKnownOptions(options, { isListening: false });
    const settings = toSettings(options, undefined);
    void loadTracing();
    const refusals = createRefusalLog(settings.logger);
    const drain = new Drain();
    const side = openSocketIo(http, { settings, refusals, drain, onAdopted: () => {} });
    const stop = async () => {
      await side.close();
      refusals.close();
    };
    const health = new Health({ ...settings, drain });
    health.offices = side.relayState.offices;
    return new SmcpServer({
      http,
      insight: new Insight({ settings, side, health }),
      stop,
      side,
      failure: new Promise(() => {}),
    });
  }

  /**
   * `http://host:port` with the port that the Server listens on; `https:` with `tls`. After {@linkcode SmcpServer.attach}
   * it is always `http:`.
   *
   * @throws {TypeError} while the HTTP server of the host program does not listen.
   */
  get url(): string {
    return urlOf(this.#addressNow());
  }

  /** The URL of the metrics on their own port; `undefined` without `metricsPort`. */
  get metricsUrl(): string | undefined {
    return this.#parts.metricsAddress && `${urlOf(this.#parts.metricsAddress)}/metrics`;
  }

  /**
   * Returns the metrics in the text format of Prometheus. Names of offices, members and principals are not among them.
   *
   * @throws {TypeError} for a Server that does not count: see the option `metrics`.
   *
   * @example
   * ```ts
   * import { assertStringIncludes } from "@std/assert";
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * await using server = await SmcpServer.listen({ port: 0, metrics: true });
   * assertStringIncludes(await server.metrics(), "a2c_ready 1");
   * ```
   */
  async metrics(): Promise<string> {
    const text = await this.#parts.insight.writeMetrics();
    if (text !== undefined) return text;
    throw new TypeError("Cannot write the metrics: the Server was opened without them");
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
    return this.#parts.failure;
  }

  /**
   * Closes the Server without losing requests. From now on `/readyz` and new sessions are answered 503. All members are
   * told to reconnect, requests in flight finish, and each connection is closed when it has none. What is left at the end
   * of the time fails with 503: in its last second, or its last quarter if that is shorter, everything is closed.
   * Idempotent; `close()` ends it at once.
   *
   * @param options `timeoutMs`: the time for all of this, in milliseconds; 4,000 by default, since many platforms kill a
   * process 5 seconds after the signal.
   *
   * @example
   * ```ts
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * const server = await SmcpServer.listen({ port: 0 });
   * await server.drain({ timeoutMs: 1_000 });
   * ```
   */
  drain({ timeoutMs = OPTIONS.drainTimeoutMs.default }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.#draining ??= this.#drainAndClose({ timeoutMs });
  }

  async #drainAndClose(
    { timeoutMs, around }: { readonly timeoutMs: number; readonly around?: SurroundingWork | undefined },
  ): Promise<void> {
    const { side: { relayState, engine } } = this.#parts;
    try {
      if (this.#closing !== undefined) return;
      await relayState.drain.run({
        connections: relayState.connections,
        engine,
        timeoutMs,
        around,
        logger: relayState.logger,
      });
    } finally {
      await this.close();
    }
  }

  /** Closes all connections and stops listening. Idempotent. */
  close(): Promise<void> {
    this.#parts.insight[Symbol.dispose]();
    return this.#closing ??= this.#parts.stop();
  }

  /** The same as {@linkcode SmcpServer.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #addressNow(): Address {
    const { address, http } = this.#parts;
    if (address !== undefined) return address;
    const bound = http.address();
    if (typeof bound === "object" && bound !== null) return { host: bound.address, port: bound.port };
    throw new TypeError("Cannot get the address of the Server: its HTTP server is not listening");
  }
}

interface Parts {
  readonly http: HttpServer;
  readonly stop: () => Promise<void>;
  readonly side: SocketIoSide;
  readonly insight: Insight;
  /** Settles when the Server fails, if ever. */
  readonly failure: Promise<ListenError>;
  readonly address?: Address;
  readonly metricsAddress?: Address | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
  /** `false` by default. */
  readonly isTls?: boolean;
}

interface OwnOptions extends ListenOptions {
  readonly maxSockets: number;
  readonly others: OtherPaths | undefined;
}

/** Sets up all parts of a Server with its own HTTP server, which does not listen yet. */
async function openOwn(options: OwnOptions, settings: Settings) {
  const { handshake, logger } = settings;
  const { maxSockets, others } = options;
  const httpOptions = httpOptionsOf(options);
  const { token, port, ...place } = metricsPlaceOf(options);
  const drain = new Drain();
  const health = new Health({ ...settings, drain });
  const { checks } = health;
  const certificate = options.tls && await ServerCertificate.open(options.tls, {
    logger,
    maxBytes: CONSTANTS.maxCertificateBytes.value,
  });
  const onRequest = (request: IncomingMessage, response: ServerResponse) =>
    answerPlainRequest(request, response, {
      handshake,
      checks,
      metrics: mainPage,
      others,
      onAdopted: side.adopt,
    });
  const http = certificate?.createServer(httpOptions, onRequest) ?? createServer(httpOptions, onRequest);
  http.on("upgrade", refusePlainUpgrade);
  const refusals = createRefusalLog(logger);
  const isTls = certificate !== undefined;
  const side = openGuarded(http, { settings, refusals, drain, maxSockets, isTls });
  health.offices = side.relayState.offices;
  const insight = new Insight({ settings, side, health, certificate });
  const page = settings.meter && createMetricsPage(() => insight.writeMetrics() ?? "", { token, logger });
  const mainPage = token === undefined ? undefined : page;
  const metricsPort = port === undefined
    ? undefined
    : openMetricsPort({ ...place, port, checks, metrics: page, httpOptions });
  const stop = async () => {
    await health.watchdog?.close();
    await side.close();
    await stopListening(http);
    await metricsPort?.close();
    await certificate?.close();
    refusals.close();
  };
  return { http, side, health, insight, metricsPort, isTls, stop };
}

function urlOf({ host, port, isTls = false }: Address): string {
  return `${isTls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Sets up Socket.IO on the Server's own HTTP server, with bounds on its TCP connections. */
function openGuarded(
  http: HttpServer,
  context: Omit<SocketIoContext, "onAdopted"> & { readonly maxSockets: number; readonly isTls: boolean },
): SocketIoSide & { readonly adopt: (socket: Duplex) => void } {
  const { settings, refusals, drain, maxSockets, isTls } = context;
  const adopt = (socket: Duplex) => sockets.adopt(socket);
  const side = openSocketIo(http, { settings, refusals, drain, onAdopted: adopt });
  // Last, since its listeners must come before all others.
  const sockets = new TcpSockets(http, {
    ...settings,
    maxSockets,
    isTls,
    isProxy: (address) => settings.handshake.proxies?.has(address) ?? false,
    onRefused(address, limits) {
      settings.meter?.refused("tcp_limit");
      refusals.write("warn", "refused a TCP connection: too many are open", {
        address,
        option: limits.map(optionLabel).join(", "),
      });
    },
    onPipelined(address) {
      settings.meter?.refused("pipelining");
      refusals.write("warn", "dropped a connection: it sent pipelined requests", { address });
    },
  });
  const close = async () => {
    await side.close();
    sockets.close();
  };
  return { ...side, close, adopt };
}
