/** Sets up Socket.IO on an HTTP server. */
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { Duplex } from "node:stream";
import { Server as SocketIoServer, type Socket } from "socket.io";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { AdmissionError, admit, type Admitted, countConnection } from "./admission/admission.ts";
import { LiveCredentials, PermitWatch } from "./admission/live_credentials.ts";
import type { HandshakeRefusal } from "./admission/handshake.ts";
import { type EngineConnection, PendingConnections } from "./admission/pending_connections.ts";
import { type Audit, auditFields, createEventLogs, openAudit } from "./observe/logs.ts";
import type { BoundedLog } from "../bounded_log.ts";
import { MemoryOffices } from "./offices/memory.ts";
import { Connection } from "./relay/connection.ts";
import { UpgradeRequest } from "./engine/upgrade_request.ts";
import { BuiltinEngine } from "./engine/builtin.ts";
import { BuiltinWebSocket } from "./engine/web_socket.ts";
import { dispatch, dispatchDisconnect } from "./relay/dispatch.ts";
import type { Drain } from "./drain.ts";
import { installGate } from "./http.ts";
import { arrive, depart } from "./relay/office_events.ts";
import type { Notification, OfficeListener, Offices } from "./offices/offices.ts";
import { RedisOffices } from "./offices/redis/offices.ts";
import type { Hub } from "./relay/call.ts";
import { MESSAGE_SHARE, REFUSAL_LINGER_MS } from "./limits.ts";
import { OfficeLoads } from "./relay/pending_requests.ts";
import { MemoryBudget } from "./memory_budget.ts";
import { IncompleteMessage, type MessageShares } from "./message_shares.ts";
import type { Settings } from "./options/settings.ts";
import { optionLabel } from "./options/checks.ts";
import { QuotaLedger } from "./admission/quotas.ts";
import { Outbox, type OutboxOptions, prepareTermination } from "./outbox.ts";
import { forgetHandshake, roomOf, SocketWire } from "./socket_wire.ts";
import { hideSessionCount, hideSocketCount } from "./sockets/ids.ts";
import { createBoundedParser, nameDecoded } from "./sockets/parser.ts";
import { PingTimer } from "./sockets/ping_timer.ts";
import { boundPollingAnswers, boundPollingBodies, type PollingConnection } from "./sockets/polling.ts";
import { TimingWheel } from "./timing_wheel.ts";

type Events = Record<string, (...args: unknown[]) => void>;
type IoServer = SocketIoServer<Events, Events, Events, { admitted?: Admitted }>;
type IoSocket = Socket<Events, Events, Events, { admitted?: Admitted }>;

export interface SocketIoContext {
  readonly settings: Settings;
  readonly refusals: BoundedLog;
  readonly drain: Drain;
  readonly onAdopted: (socket: Duplex) => void;
}

export interface SocketIoSide {
  readonly connections: ReadonlyMap<string, Connection>;
  readonly offices: Offices;
  readonly countTransports: () => number;
  readonly terminate: () => void;
  /** The bytes of messages that have not arrived completely, or wait for members that read slowly. */
  readonly countMessageBytes: () => number;
  readonly close: () => Promise<void>;
}

/** Sets up Socket.IO behind a gate on `http`. It does not make `http` listen. */
export function openSocketIo(http: HttpServer, context: SocketIoContext): SocketIoSide {
  const { settings, refusals, drain, onAdopted } = context;
  const { path, handshake } = settings;
  const audit = openAudit(settings.logger);
  const memory = new MemoryBudget(settings.maxMessageMemoryBytes);
  // Apart from those bytes: a message that finds no room here ends its session.
  const incomplete = new MemoryBudget(settings.maxMessageMemoryBytes);
  const sharesOf = (memory: MemoryBudget) => ({
    memory,
    maxShareBytes: settings.maxMessageMemoryBytes * MESSAGE_SHARE,
    ownerOf: (session: string) => pendingConnections.ownerOf(session),
  });
  const shares = sharesOf(incomplete);
  const inner = createServer();
  const io: IoServer = new SocketIoServer(inner, {
    path,
    parser: createBoundedParser(settings.maxPayloadBytes, shares),
    maxHttpBufferSize: settings.maxPayloadBytes,
    wsEngine: BuiltinEngine.within(sharesOf(memory)),
    allowUpgrades: handshake.transports.includes("websocket"),
    pingInterval: settings.pingIntervalMs,
    pingTimeout: settings.pingTimeoutMs,
    // Socket.IO must wait longer than the auth provider may take.
    connectTimeout: settings.connectTimeoutMs + settings.authTimeoutMs + REFUSAL_LINGER_MS,
    serveClient: false,
    cors: {
      origin: (origin, decide) => decide(null, !origin || handshake.isOriginAllowed(origin, {})),
    },
  });
  const pendingConnections = new PendingConnections({
    ...settings,
    proxies: handshake.proxies,
    onAdopted,
    onDropped(reason, address) {
      settings.meter?.refused("before_admission");
      refusals.write("warn", `dropped a connection: ${reason}`, { address });
    },
  });
  hideSessionCount(io.engine);
  const terminate = prepareTermination(io.engine);
  const pollers = new Map<string, Connection>();
  const describePoller = (session: string) => {
    const poller = pollers.get(session);
    return { sid: poller?.sid, principal: poller?.identity.principal };
  };
  watchEngine(io, {
    ...settings,
    pendingConnections,
    onBodyRefused(session, { address, length }) {
      settings.meter?.refused("body_content");
      refusals.write("warn", "dropped a connection: a body over polling has too many packets or values", {
        ...describePoller(session),
        address,
        length,
      });
    },
  });
  const timeouts = new TimingWheel();
  const quotas = new QuotaLedger(settings.quotas);
  const { connections, offices } = serveNamespace(io, {
    pollers,
    settings,
    timeouts,
    refusals,
    drain,
    audit,
    pendingConnections,
    quotas,
    memory,
    shares,
  });
  const onRefused = ({ body, kind }: HandshakeRefusal, address: string | undefined) => {
    settings.meter?.refused(kind);
    // A field `message` would replace the message of a JSON line.
    const { message: reason, ...rest } = body;
    const fields = { ...rest, reason, address };
    refusals.write(
      // Our own clients ask for polling first.
      kind === "transport" ? "debug" : "warn",
      "refused a handshake",
      kind === "origin" ? auditFields("connect", fields) : fields,
    );
  };
  let isClosed = false;
  const isClosing = () => isClosed || drain.isStarted;
  const removeGate = installGate(http, {
    path,
    handshake,
    inner,
    pendingConnections,
    quotas,
    shares,
    isClosing,
    maxPayloadBytes: settings.maxPayloadBytes,
    onRefused,
    onRefusedBody({ sid = "", address, size, option }) {
      settings.meter?.refused("body_size");
      const reason = option === "maxPayloadBytes" ? "it is too large" : "other messages take the memory";
      refusals.write("warn", `refused a body over polling: ${reason}`, {
        ...describePoller(sid),
        address,
        size,
        limit: settings[option],
        option: optionLabel(option),
      });
    },
    onAdopted,
  });
  return {
    connections,
    offices,
    countTransports: () => io.engine.clientsCount,
    terminate,
    countMessageBytes: () => memory.usedBytes + incomplete.usedBytes,
    async close() {
      // Clients come back at once, and the offices may take seconds to close.
      isClosed = true;
      await io.close();
      await offices.close();
      pendingConnections.close();
      timeouts.clear();
      audit.close();
      removeGate();
    },
  };
}

/** Adds bounds that Engine.IO lacks: on connections that are not admitted, and on polling. */
function watchEngine(io: IoServer, context: {
  readonly pendingConnections: PendingConnections;
  readonly maxPayloadBytes: number;
  readonly onBodyRefused: (
    session: string,
    body: { readonly address: string | undefined; readonly length: number },
  ) => void;
}): void {
  const { pendingConnections, maxPayloadBytes, onBodyRefused } = context;
  io.engine.on("connection", (connection: EngineConnection & PollingConnection) => {
    pendingConnections.welcome(connection);
    boundPollingAnswers(connection);
    const session = sessionOf(connection);
    // It is forgotten when the connection is admitted.
    const address = pendingConnections.addressOf(connection);
    const onRefused = (length: number) => onBodyRefused(session, { address, length });
    boundPollingBodies(connection, { maxPayloadBytes, onRefused });
    const webSocket: unknown = Reflect.get(connection.transport, "socket");
    if (webSocket instanceof BuiltinWebSocket) webSocket.belongTo(connection.id);
  });
  io.engine.on("headers", (_headers: unknown, request: IncomingMessage | UpgradeRequest) => {
    pendingConnections.startCounting(request);
    // Of an open session, only the first request has credentials that are read later.
    if (request instanceof UpgradeRequest && request.session !== undefined) request.forgetHeaders();
  });
}

/** The id of an Engine.IO session, which the types of Socket.IO hide. */
function sessionOf(connection: object): string {
  return String(Reflect.get(connection, "id"));
}

interface NamespaceContext {
  readonly settings: Settings;
  readonly timeouts: TimingWheel;
  readonly refusals: BoundedLog;
  readonly drain: Drain;
  readonly audit: Audit;
  readonly pendingConnections: PendingConnections;
  readonly quotas: QuotaLedger;
  readonly memory: MemoryBudget;
  readonly shares: MessageShares;
  readonly pollers: Map<string, Connection>;
}

function serveNamespace(
  io: IoServer,
  context: NamespaceContext,
): Pick<SocketIoSide, "connections" | "offices"> {
  const { settings, refusals, pendingConnections, quotas } = context;
  // Otherwise a client without credentials could stay connected to the default namespace.
  io.use((_socket, next) => next(new AdmissionError(`Unauthorized: only ${SMCP_NAMESPACE} is served`)));
  const namespace = io.of(SMCP_NAMESPACE);
  const connections = new Map<string, Connection>();
  const hub = createHub(namespace, { ...context, connections });
  const outboxOptions = outboxOptionsOf(context);
  const { audit, timeouts } = context;
  const credentialsContext = { ...settings, refusals, audit, permits: new PermitWatch(timeouts) };
  namespace.use((socket, next) => {
    const { handshake, conn } = socket;
    hideSocketCount(socket);
    handshake.address = pendingConnections.addressOf(conn) ?? "";
    const gone = new AbortController();
    const onClose = () => gone.abort(new AdmissionError("Closed before admission"));
    conn.once("close", onClose);
    admit(handshake, { ...settings, refusals, signal: gone.signal }).then((admitted) => {
      // A closed connection would be counted for ever.
      gone.signal.throwIfAborted();
      socket.data.admitted = countConnection(admitted, {
        ...settings,
        address: handshake.address,
        quotas,
        refusals,
        onClose: (close) => void conn.on("close", close),
      });
    }).then(() => next(), (error) => {
      next(error);
      pendingConnections.refuse(conn);
    }).finally(() => conn.off("close", onClose));
  });
  namespace.on("connection", (socket) => {
    const { admitted } = socket.data;
    if (admitted === undefined) return void socket.disconnect(true);
    const { address } = socket.handshake;
    forgetHandshake(socket);
    const outbox = new Outbox(socket.conn, { options: outboxOptions, sid: socket.id });
    const connection = new Connection(new SocketWire(socket, outbox), { ...admitted, shared: hub });
    connections.set(socket.id, connection);
    const { conn } = socket;
    const session = sessionOf(conn);
    nameDecoded(socket.client, session);
    if (conn.transport.name === "polling") context.pollers.set(session, connection);
    const credentials = new LiveCredentials(connection, { address, context: credentialsContext });
    connection.credentials = credentials;
    const ping = new PingTimer(socket.conn, { ...settings, timeouts: context.timeouts });
    const onClosed = () => {
      ping.stop();
      connections.delete(socket.id);
      context.pollers.delete(session);
      credentials.close();
    };
    serveConnection(socket, { hub, connection, address, onClosed });
    credentials.watch(admitted.permit);
    // Last: it delivers the messages that were held back, and these may close the connection.
    const { quotas: own } = admitted;
    pendingConnections.admit(
      socket.conn,
      own === undefined ? { incompleteBytes: 0 } : quotas.messageOwner(own),
    );
  });
  return { connections, offices: hub.offices };
}

function createHub(
  namespace: ReturnType<IoServer["of"]>,
  context: NamespaceContext & { readonly connections: ReadonlyMap<string, Connection> },
): Hub {
  const { settings, timeouts, drain, audit, quotas, shares, connections } = context;
  const premises = {
    logger: settings.logger,
    audit,
    quotas,
    connection: (sid: string) => connections.get(sid),
    departureReasons: new Map<string, string>(),
    openCount(sid: string) {
      const conn = namespace.sockets.get(sid)?.conn;
      return new IncompleteMessage(shares, conn && sessionOf(conn));
    },
    deliver(officeId: string, { event, body, except }: Notification) {
      const room = namespace.to(roomOf(officeId));
      (except === undefined ? room : room.except(except)).emit(event, body);
    },
  };
  const listener: OfficeListener = {
    ...premises,
    onJoined: (member, where) => arrive(premises, member, where),
    onLeft: (member, how) => depart(premises, member, how),
  };
  const shared = {
    ...settings,
    ...premises,
    drain,
    timeouts,
    createEventLog: createEventLogs(settings.logger),
    createErrorLog: createEventLogs(settings.logger, { kind: "relayedErrors" }),
    officeLoads: new OfficeLoads(),
    observerLoads: new OfficeLoads(),
  };
  const { redis } = settings;
  return {
    ...shared,
    offices: redis === undefined
      ? new MemoryOffices(listener, settings)
      : new RedisOffices(redis, { ...shared, listener }),
  };
}

function outboxOptionsOf({ settings, timeouts, memory }: NamespaceContext): OutboxOptions {
  return {
    ...settings,
    timeouts,
    memory,
    onEnd({ sid, reason, waitingBytes }) {
      settings.meter?.refused("slow_reader");
      settings.logger.warn(`dropped a connection: ${reason}`, { sid, waiting_bytes: waitingBytes });
    },
  };
}

function serveConnection(
  socket: IoSocket,
  { hub, connection, address, onClosed }: {
    readonly hub: Hub;
    readonly connection: Connection;
    readonly address: string;
    readonly onClosed: () => void;
  },
): void {
  const { principal, version } = connection.identity;
  const fields = { sid: socket.id, principal, version, address };
  hub.audit.write("debug", "connected", { action: "connect", fields });
  // A client may send a number as the name of an event.
  socket.onAny((event: unknown, ...args: unknown[]) =>
    dispatch(hub, connection, { event: String(event), args })
  );
  socket.on("disconnect", (reason) => {
    const { member } = connection;
    const fields = { sid: socket.id, reason, name: member?.name, office: member?.officeId };
    // Socket.IO closes a connection for a frame that it cannot parse or that is too large.
    if (reason === "transport error" || reason === "parse error") {
      hub.logger.warn(
        "dropped a connection: a message was malformed or too large, or the network failed",
        fields,
      );
    } else hub.logger.debug("disconnected", fields);
    onClosed();
    dispatchDisconnect(hub, { connection, cause: reason });
    // The connection serves one namespace, so it closes with it.
    if (reason === "client namespace disconnect") socket.conn.close(true);
  });
}
