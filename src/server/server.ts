/** The Server: Socket.IO under the offices. */
import { createServer, type Server as HttpServer } from "node:http";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { AdmissionError, admit } from "./admission.ts";
import { Connection, type Identity } from "./connection.ts";
import { Deadlines } from "./deadlines.ts";
import { dispatch, dispatchDisconnect } from "./dispatch.ts";
import { answerPlainRequest, installGate, refusePlainUpgrade } from "./http.ts";
import type { HandshakeRefusal } from "./handshake.ts";
import type { Hub } from "./hub.ts";
import { startListening, stopListening } from "./listening.ts";
import { type ListenOptions, type Settings, type SmcpServerOptions, toSettings } from "./options.ts";
import { boundedParser } from "./parser.ts";
import { roomOf, toWire } from "./wire.ts";

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
  #closing: Promise<void> | undefined;

  private constructor(parts: {
    readonly http: HttpServer;
    readonly stop: () => Promise<void>;
    readonly address?: Address;
  }) {
    this.#http = parts.http;
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
    const http = createServer(answerPlainRequest);
    http.on("upgrade", refusePlainUpgrade);
    const closeSocketIo = openSocketIo(http, settings);
    const stop = async () => {
      await closeSocketIo();
      await stopListening(http);
    };
    try {
      const address = { host, port: await startListening(http, { host, port, signal }) };
      return new SmcpServer({ http, address, stop });
    } catch (error) {
      await closeSocketIo();
      throw error;
    }
  }

  /**
   * Serves the protocol on an HTTP server of the host program, which keeps all other paths and its own life.
   *
   * @param http A `node:http` server, listening or not. Add its other listeners first.
   * @param options Whom to admit, and the bounds.
   * @throws {TypeError} with neither `auth` nor `allowAnonymous`, and for other misuse.
   */
  static attach(http: HttpServer, options: SmcpServerOptions): SmcpServer {
    return new SmcpServer({ http, stop: openSocketIo(http, toSettings(options, undefined)) });
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

/**
 * Sets Socket.IO up behind the gate of `http`, which this does not make listen.
 *
 * @return Ends all connections and takes Socket.IO away from `http`.
 */
function openSocketIo(http: HttpServer, settings: Settings): () => Promise<void> {
  const { path, handshake, logger } = settings;
  const inner = createServer();
  const io: IoServer = new SocketIoServer(inner, {
    path,
    parser: boundedParser,
    maxHttpBufferSize: settings.maxPayloadBytes,
    pingInterval: settings.pingIntervalMs,
    pingTimeout: settings.pingTimeoutMs,
    serveClient: false,
    cors: {
      origin: (origin, decide) => decide(null, !origin || handshake.isOriginAllowed(origin, undefined)),
    },
  });
  const deadlines = new Deadlines();
  serveNamespace(io, { settings, deadlines });
  const onRefused = ({ body }: HandshakeRefusal) => logger.warn("Refused a handshake", body);
  const removeGate = installGate(http, { path, handshake, inner, onRefused });
  return async () => {
    await io.close();
    deadlines.clear();
    removeGate();
  };
}

function serveNamespace(
  io: IoServer,
  context: { readonly settings: Settings; readonly deadlines: Deadlines },
): void {
  const { settings, deadlines } = context;
  // Without this, anyone could hold a connection to the default namespace and show no credentials.
  io.use((_socket, next) => next(new AdmissionError(`Unauthorized: only ${SMCP_NAMESPACE} is served`)));
  const namespace = io.of(SMCP_NAMESPACE);
  const connections = new Map<string, Connection>();
  const hub: Hub = {
    ...settings,
    connection: (sid) => connections.get(sid),
    broadcast(officeId, { event, body, except }) {
      const room = namespace.to(roomOf(officeId));
      (except === undefined ? room : room.except(except)).emit(event, body);
    },
  };
  namespace.use((socket, next) => {
    admit(socket.handshake, settings).then((identity) => {
      socket.data.identity = identity;
      next();
    }, next);
  });
  namespace.on("connection", (socket) => {
    const { identity } = socket.data;
    if (identity === undefined) return void socket.disconnect(true);
    const connection = new Connection(toWire(socket), { identity, deadlines });
    connections.set(socket.id, connection);
    serveConnection(socket, { hub, connection, onClosed: () => connections.delete(socket.id) });
  });
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
  hub.logger.debug("Connected", { sid: socket.id, principal, version });
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
        "Dropped a connection: a message was malformed or too large, or the network failed",
        fields,
      );
    } else hub.logger.debug("Disconnected", fields);
    onClosed();
    dispatchDisconnect(hub, connection);
  });
}
