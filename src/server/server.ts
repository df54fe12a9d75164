/** The Server: Socket.IO under the offices. */
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { AdmissionError, admit } from "./admission/admission.ts";
import { type BoundedLog, createEventLogs, createRefusalLog } from "./bounded_log.ts";
import { Connection, type Identity } from "./connection.ts";
import { Deadlines } from "./timing_wheel.ts";
import { dispatch, dispatchDisconnect } from "./dispatch.ts";
import { answerPlainRequest, installGate, refusePlainUpgrade } from "./http.ts";
import type { HandshakeRefusal } from "./admission/handshake.ts";
import type { Hub } from "./hub.ts";
import { REFUSAL_LINGER_MS } from "./limits.ts";
import { type ListenError, startListening, stopListening } from "./sockets/listening.ts";
import { OfficeLoads } from "./load.ts";
import {
  httpOptionsOf,
  type ListenOptions,
  requirePositive,
  type Settings,
  type SmcpServerOptions,
  toSettings,
} from "./options.ts";
import { Offices } from "./offices.ts";
import { Outbox } from "./outbox.ts";
import { createBoundedParser } from "./sockets/parser.ts";
import { PipeliningGuard } from "./sockets/pipelining.ts";
import { boundPollingAnswers, boundPollingBodies, type PollingConnection } from "./sockets/polling.ts";
import { type EngineConnection, Strangers } from "./admission/strangers.ts";
import { defaultMaxSockets, TcpSockets } from "./sockets/tcp_sockets.ts";
import { Watchdog } from "./sockets/watchdog.ts";
import { roomOf, toWire, type Wire } from "./wire.ts";

/**
 * The signalling hub of the protocol: keeps offices, relays `client:*` requests from an Agent to a Computer of its
 * office, and turns `server:*` events into `notify:*` broadcasts. It never looks inside what it relays.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 *  *
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

type Events = Record<string, (...args: unknown[]) => void>;
type IoServer = SocketIoServer<Events, Events, Events, { identity?: Identity }>;
type IoSocket = Socket<Events, Events, Events, { identity?: Identity }>;

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

interface SocketIoContext {
  readonly settings: Settings;
  readonly refusals: BoundedLog;
  /** The TCP connection belongs to an admitted member. */
  readonly onAdopted: (socket: Duplex) => void;
}

/**
 * Sets Socket.IO up behind the gate of `http`, which this does not make listen.
 *
 * @return Ends all connections and takes Socket.IO away from `http`.
 */
function openSocketIo(http: HttpServer, context: SocketIoContext): () => Promise<void> {
  const { settings, refusals, onAdopted } = context;
  const { path, handshake } = settings;
  const inner = createServer();
  const io: IoServer = new SocketIoServer(inner, {
    path,
    parser: createBoundedParser(settings.maxPayloadBytes),
    maxHttpBufferSize: settings.maxPayloadBytes,
    pingInterval: settings.pingIntervalMs,
    pingTimeout: settings.pingTimeoutMs,
    // Its own time-out would cut a longer one of the provider short.
    connectTimeout: settings.connectTimeoutMs + settings.authTimeoutMs + REFUSAL_LINGER_MS,
    serveClient: false,
    cors: {
      origin: (origin, decide) => decide(null, !origin || handshake.isOriginAllowed(origin, undefined)),
    },
  });
  const strangers = new Strangers({
    ...settings,
    onAdopted,
    onDropped: (reason, address) => refusals.write("warn", `dropped a connection: ${reason}`, { address }),
  });
  watchEngine(io, { ...settings, strangers });
  const deadlines = new Deadlines();
  serveNamespace(io, { settings, deadlines, refusals, strangers });
  const onRefused = ({ body }: HandshakeRefusal) => refusals.write("warn", "refused a handshake", body);
  const removeGate = installGate(http, { path, handshake, inner, strangers, onRefused, onAdopted });
  return async () => {
    await io.close();
    strangers.close();
    deadlines.clear();
    removeGate();
  };
}

/** Keeps the bounds that Engine.IO has not, for connections that are not admitted and for polling answers. */
function watchEngine(io: IoServer, { strangers, maxPayloadBytes }: {
  readonly strangers: Strangers;
  readonly maxPayloadBytes: number;
}): void {
  io.engine.on("connection", (connection: EngineConnection & PollingConnection) => {
    strangers.welcome(connection);
    boundPollingAnswers(connection);
    boundPollingBodies(connection, maxPayloadBytes);
  });
  io.engine.on("headers", (_headers: unknown, request: IncomingMessage) => strangers.startCounting(request));
}

interface NamespaceContext {
  readonly settings: Settings;
  readonly deadlines: Deadlines;
  readonly refusals: BoundedLog;
  readonly strangers: Strangers;
}

function serveNamespace(io: IoServer, context: NamespaceContext): void {
  const { settings, refusals, strangers } = context;
  // Without this, anyone could hold a connection to the default namespace and show no credentials.
  io.use((_socket, next) => next(new AdmissionError(`Unauthorized: only ${SMCP_NAMESPACE} is served`)));
  const namespace = io.of(SMCP_NAMESPACE);
  const connections = new Map<string, Connection>();
  const hub = createHub(namespace, { ...context, connections });
  namespace.use((socket, next) => {
    const { handshake, conn } = socket;
    const gone = new AbortController();
    const onClose = () => gone.abort(new AdmissionError("Closed before it was admitted"));
    conn.once("close", onClose);
    admit(handshake, { ...settings, refusals, signal: gone.signal }).then((identity) => {
      socket.data.identity = identity;
      next();
    }, (error) => {
      next(error);
      strangers.refuse(conn);
    }).finally(() => conn.off("close", onClose));
  });
  namespace.on("connection", (socket) => {
    const { identity } = socket.data;
    if (identity === undefined) return void socket.disconnect(true);
    forgetHandshake(socket);
    const connection = new Connection(openWire(socket, context), { identity, shared: hub });
    connections.set(socket.id, connection);
    serveConnection(socket, { hub, connection, onClosed: () => connections.delete(socket.id) });
    // Last, since what it has sent until now is delivered at once, and may end it.
    strangers.admit(socket.conn);
  });
}

function createHub(
  namespace: ReturnType<IoServer["of"]>,
  context: NamespaceContext & { readonly connections: ReadonlyMap<string, Connection> },
): Hub {
  const { settings, deadlines, connections } = context;
  return {
    ...settings,
    offices: new Offices(),
    deadlines,
    createEventLog: createEventLogs(settings.logger),
    officeLoads: new OfficeLoads(),
    observerLoads: new OfficeLoads(),
    connection: (sid) => connections.get(sid),
    broadcast(officeId, { event, body, except }) {
      const room = namespace.to(roomOf(officeId));
      (except === undefined ? room : room.except(except)).emit(event, body);
    },
  };
}

/** The wire of a socket, with a bound on what waits until its peer reads it. */
function openWire(socket: IoSocket, { settings, deadlines }: NamespaceContext): Wire {
  const outbox = new Outbox(socket.conn, {
    ...settings,
    deadlines,
    onEnd: (reason, waiting_bytes) =>
      settings.logger.warn(`dropped a connection: ${reason}`, { sid: socket.id, waiting_bytes }),
  });
  return toWire(socket, outbox);
}

/** Credentials are not needed any longer, and may be large. */
function forgetHandshake({ handshake }: IoSocket): void {
  handshake.auth = {};
  handshake.headers = {};
  handshake.query = {};
}

function serveConnection(
  socket: IoSocket,
  { hub, connection, onClosed }: {
    readonly hub: Hub;
    readonly connection: Connection;
    readonly onClosed: () => void;
  },
): void {
  const { principal, version } = connection.identity;
  hub.logger.debug("connected", { sid: socket.id, principal, version });
  // A peer may send a number for a name.
  socket.onAny((event: unknown, ...args: unknown[]) =>
    dispatch(hub, connection, { event: String(event), args })
  );
  socket.on("disconnect", (reason) => {
    const { member } = connection;
    const fields = { sid: socket.id, reason, name: member?.name, office: member?.officeId };
    // Socket.IO drops a whole connection for a frame that it cannot read, or that is over the size limit.
    if (reason === "transport error" || reason === "parse error") {
      hub.logger.warn(
        "dropped a connection: a message was malformed or too large, or the network failed",
        fields,
      );
    } else hub.logger.debug("disconnected", fields);
    onClosed();
    dispatchDisconnect(hub, connection);
    // A transport serves one socket, and ends with it.
    if (reason === "client namespace disconnect") socket.conn.close(true);
  });
}
