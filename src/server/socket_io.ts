/** Socket.IO under the offices: its set-up on an HTTP server, and what a connection needs of it. */
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { AdmissionError, admit, type Identity } from "./admission/admission.ts";
import type { HandshakeRefusal } from "./admission/handshake.ts";
import { type EngineConnection, Strangers } from "./admission/strangers.ts";
import { type BoundedLog, createEventLogs } from "./bounded_log.ts";
import { Connection, type Wire } from "./connection.ts";
import { dispatch, dispatchDisconnect } from "./dispatch.ts";
import { installGate } from "./http.ts";
import type { Hub } from "./hub.ts";
import { REFUSAL_LINGER_MS } from "./limits.ts";
import { OfficeLoads } from "./load.ts";
import { Offices } from "./offices.ts";
import type { Settings } from "./options.ts";
import { Outbox } from "./outbox.ts";
import { createBoundedParser } from "./sockets/parser.ts";
import { boundPollingAnswers, boundPollingBodies, type PollingConnection } from "./sockets/polling.ts";
import { TimingWheel } from "./timing_wheel.ts";

type Events = Record<string, (...args: unknown[]) => void>;
type IoServer = SocketIoServer<Events, Events, Events, { identity?: Identity }>;
type IoSocket = Socket<Events, Events, Events, { identity?: Identity }>;

/** The context of {@linkcode openSocketIo}. */
export interface SocketIoContext {
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
export function openSocketIo(http: HttpServer, context: SocketIoContext): () => Promise<void> {
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
  const timeouts = new TimingWheel();
  serveNamespace(io, { settings, timeouts, refusals, strangers });
  const onRefused = ({ body }: HandshakeRefusal) => refusals.write("warn", "refused a handshake", body);
  const removeGate = installGate(http, { path, handshake, inner, strangers, onRefused, onAdopted });
  return async () => {
    await io.close();
    strangers.close();
    timeouts.clear();
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
  readonly timeouts: TimingWheel;
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
  const { settings, timeouts, connections } = context;
  return {
    ...settings,
    offices: new Offices(),
    timeouts,
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
function openWire(socket: IoSocket, { settings, timeouts }: NamespaceContext): Wire {
  const outbox = new Outbox(socket.conn, {
    ...settings,
    timeouts,
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

/** As much of a Socket.IO socket as this needs. */
export interface SocketLike {
  readonly id: string;
  emit(event: string, ...args: unknown[]): unknown;
  join(room: string): unknown;
  leave(room: string): unknown;
  disconnect(close: boolean): unknown;
}

/** The wire of a socket. */
export function toWire(socket: SocketLike, outbox: Pick<Outbox, "push">): Wire {
  const forgetAck = (ackId: number) => void acksOf(socket)?.delete(ackId);
  return {
    sid: socket.id,
    emit: (event, body) => void outbox.push(() => socket.emit(event, body)),
    ask(event, body, ack) {
      const ackId = nextAckId(socket);
      try {
        return { ackId, bytes: outbox.push(() => socket.emit(event, body, ack)) };
      } catch (error) {
        forgetAck(ackId);
        throw error;
      }
    },
    answer: (ack, answer) => void outbox.push(() => ack(...answer)),
    forgetAck,
    // At once: Socket.IO's memory of rooms is this process's own.
    enterRoom: (officeId) => void socket.join(roomOf(officeId)),
    leaveRoom: (officeId) => void socket.leave(roomOf(officeId)),
    close: () => void socket.disconnect(true),
  };
}

/** The prefix keeps an office id from ever being a socket id, which Socket.IO has as a room of its own. */
export function roomOf(officeId: string): string {
  return `office:${officeId}`;
}

/**
 * Socket.IO keeps an ack until it is called. Its own `timeout()` would forget it, but with a timer for each request that
 * outlives the connection.
 */
function acksOf(socket: SocketLike): Map<unknown, unknown> | undefined {
  const acks: unknown = Reflect.get(socket, "acks");
  return acks instanceof Map ? acks : undefined;
}

/** The id of the next ack of a namespace. Socket.IO has no API for it, and searching for an ack takes long. */
function nextAckId(socket: SocketLike): number {
  // Not by `Reflect.get`, which takes far longer.
  const namespace = "nsp" in socket ? socket.nsp : undefined;
  const hasIds = typeof namespace === "object" && namespace !== null && "_ids" in namespace;
  if (hasIds && typeof namespace._ids === "number") return namespace._ids;
  throw new TypeError("Cannot tell the id of an ack: this version of Socket.IO keeps it elsewhere");
}
